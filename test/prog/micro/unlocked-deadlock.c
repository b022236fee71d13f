// SPDX-License-Identifier: Apache-2.0
// expect: deadlock c
// expect: race ready
// recorded: the waiter waits before the signal.
/* The predicate is set without the lock, so a signal between the check and the wait is lost. */
#include "case.h"

MUTEX(m);
COND(c);
static volatile int ready;
THREAD(await)
{
	UNUSED;
	LOCK(m);
	while (!ready)
		pthread_cond_wait(&c, &m);
	UNLOCK(m);
	return NULL;
}
THREAD(tell)
{
	UNUSED;
	ready = 1;
	pthread_cond_signal(&c);
	return NULL;
}
int main(void)
{
	run_two(await, tell);
	return 0;
}
