// SPDX-License-Identifier: Apache-2.0
// expect: deadlock c 1
// recorded: both threads wait before the broadcast.
/* A thread that waits without a predicate misses a broadcast that comes before its wait. */
#include "case.h"

MUTEX(m);
COND(c);
THREAD(await)
{
	UNUSED;
	LOCK(m);
	pthread_cond_wait(&c, &m);
	UNLOCK(m);
	return NULL;
}
THREAD(tell)
{
	UNUSED;
	LOCK(m);
	pthread_cond_broadcast(&c);
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	run_three(await, await, tell);
	return 0;
}
