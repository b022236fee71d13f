// SPDX-License-Identifier: Apache-2.0
// expect: race heap 1 speculative
// recorded: the thread gives up its reference before main does.
/* The reference count has relaxed order: the last user need not see the other's write.  The
 * accesses are never adjacent, as in atomic-race.c. */
#include "case.h"

struct counted {
	atomic_int users;
	int data;
};
THREAD(use)
{
	struct counted *c = argument;

	c->data = 1;
	atomic_fetch_sub_explicit(&c->users, 1, memory_order_relaxed);
	return NULL;
}
int main(void)
{
	struct counted *c = calloc(1, sizeof *c);

	atomic_init(&c->users, 2);
	pthread_t a = start_settled(use, c);
	if (atomic_fetch_sub_explicit(&c->users, 1, memory_order_relaxed) == 1)
		c->data = 0;
	join(a);
	free(c);
	return 0;
}
