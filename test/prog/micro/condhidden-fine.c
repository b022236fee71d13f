// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the waiter waits; then x is written and the signal is sent.
/* As in condhidden-race.c, but the thread that writes x also sends the signal. */
#include "case.h"

MUTEX(m);
COND(c);
static int ready, x;
THREAD(await)
{
	UNUSED;
	LOCK(m);
	while (!ready)
		pthread_cond_wait(&c, &m);
	UNLOCK(m);
	x = 2;
	return NULL;
}
THREAD(tell)
{
	UNUSED;
	x = 1;
	LOCK(m);
	ready = 1;
	pthread_cond_signal(&c);
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	run_two(await, tell);
	return x == 0;
}
