// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the waiter waits; then x is written and the signal is sent.
/* Another thread signals, so the signal orders the accesses to x only if it follows the write. */
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
THREAD(write_x)
{
	UNUSED;
	x = 1;
	LOCK(m);
	UNLOCK(m);
	return NULL;
}
THREAD(tell)
{
	UNUSED;
	LOCK(m);
	ready = 1;
	pthread_cond_signal(&c);
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	run_three(await, write_x, tell);
	return x == 0;
}
