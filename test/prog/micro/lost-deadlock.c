// SPDX-License-Identifier: Apache-2.0
// expect: deadlock c
// recorded: the waiter waits before the signal.
/* A thread waits without checking a predicate, so a signal that comes before the wait is lost. */
#include "case.h"

MUTEX(m);
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
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
	pthread_cond_signal(&c);
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	run_two(await, tell);
	return 0;
}
