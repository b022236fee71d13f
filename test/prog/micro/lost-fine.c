// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the waiter waits before the signal.
/* A wait with a time limit ends even if the signal is lost. */
#include "case.h"

MUTEX(m);
COND(c);
THREAD(await)
{
	UNUSED;
	struct timespec until = in_ms(300);

	LOCK(m);
	pthread_cond_timedwait(&c, &m, &until);
	UNLOCK(m);
	return NULL;
}
THREAD(tell)
{
	UNUSED;
	LOCK(m);
	pthread_cond_signal(&c);
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	run_two(await, tell);
	return 0;
}
