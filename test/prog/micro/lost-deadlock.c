// SPDX-License-Identifier: Apache-2.0
// expect: deadlock c
// recorded: the waiter waits before the signal comes.
/* A wait without a loop: the signal may come first and is lost. */
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
