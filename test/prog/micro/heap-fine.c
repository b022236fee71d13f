// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one thread is done before the other begins.
/* Two threads change a heap block under the lock that the block contains. */
#include "case.h"

struct item {
	pthread_mutex_t lock;
	int state;
};
THREAD(set)
{
	struct item *i = argument;

	LOCK(i->lock);
	i->state++;
	UNLOCK(i->lock);
	return NULL;
}
int main(void)
{
	struct item *i = calloc(1, sizeof *i);

	pthread_mutex_init(&i->lock, NULL);
	pthread_t a = start_settled(set, i), b = start(set, i);
	join(a);
	join(b);
	int state = i->state;
	pthread_mutex_destroy(&i->lock);
	free(i);
	return state != 2;
}
