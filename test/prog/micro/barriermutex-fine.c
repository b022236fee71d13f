// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread has released the lock before the second takes it.
/* The lock is released before the barrier. */
#include "case.h"

MUTEX(m);
static pthread_barrier_t bar;
THREAD(meet)
{
	UNUSED;
	LOCK(m);
	UNLOCK(m);
	pthread_barrier_wait(&bar);
	return NULL;
}
int main(void)
{
	pthread_barrier_init(&bar, NULL, 2);
	run_two(meet, meet);
	return 0;
}
