// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the users finish one after the other.
/* The last user of a reference-counted object frees it. */
#include "case.h"

struct counted {
	atomic_int users;
	int data;
};
static void put(struct counted *c)
{
	c->data++;
	if (atomic_fetch_sub_explicit(&c->users, 1, memory_order_acq_rel) == 1) {
		c->data = 0;
		free(c);
	}
}
MUTEX(m);
THREAD(use)
{
	LOCK(m);
	((struct counted *)argument)->data++;
	UNLOCK(m);
	if (atomic_fetch_sub_explicit(&((struct counted *)argument)->users, 1, memory_order_acq_rel) == 1)
		put(argument);
	return NULL;
}
int main(void)
{
	struct counted *c = calloc(1, sizeof *c);

	atomic_init(&c->users, 3);
	pthread_t a = start_settled(use, c), b = start(use, c);
	join(a);
	join(b);
	put(c);
	return 0;
}
