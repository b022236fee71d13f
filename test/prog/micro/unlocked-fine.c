// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the waiter waits before the signal.
/* The signal itself may be sent without the lock. */
#include "case.h"

MUTEX(m);
COND(c);
static int ready;
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
	LOCK(m);
	ready = 1;
	UNLOCK(m);
	pthread_cond_signal(&c);
	return NULL;
}
int main(void)
{
	run_two(await, tell);
	return 0;
}
