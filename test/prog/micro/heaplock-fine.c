// SPDX-License-Identifier: Apache-2.0
// expect: none
// drop: race heap 5
// recorded: the first thread gives up the object before the second does.
/* The last user of an object frees it after releasing the lock inside it. */
#include "case.h"

struct box {
	pthread_mutex_t m;
	int owners;
};
THREAD(give_up)
{
	struct box *b = argument;
	bool last;

	LOCK(b->m);
	last = --b->owners == 0;
	UNLOCK(b->m);
	if (last) {
		pthread_mutex_destroy(&b->m);
		free(b);
	}
	return NULL;
}
int main(void)
{
	struct box *b = malloc(sizeof *b);
	pthread_t one, other;

	pthread_mutex_init(&b->m, NULL);
	b->owners = 2;
	one = start_settled(give_up, b);
	other = start(give_up, b);
	join(one);
	join(other);
	return 0;
}
