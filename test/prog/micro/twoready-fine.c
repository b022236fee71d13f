// SPDX-License-Identifier: Apache-2.0
// expect: none
// drop: deadlock c 1
// recorded: the writer of x increments ready, the other thread does too, then the waiter continues.
/* As in twoready-race.c, but the waiter waits until both threads have changed ready. */
#include "case.h"

MUTEX(m);
COND(c);
static int ready, x;
THREAD(await)
{
	UNUSED;
	LOCK(m);
	while (ready < 2)
		pthread_cond_wait(&c, &m);
	UNLOCK(m);
	x = 2;
	return NULL;
}
THREAD(give)
{
	UNUSED;
	x = 1;
	LOCK(m);
	ready++;
	pthread_cond_signal(&c);
	UNLOCK(m);
	return NULL;
}
THREAD(nudge)
{
	UNUSED;
	LOCK(m);
	ready++;
	pthread_cond_signal(&c);
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	run_three(await, give, nudge);
	return x == 0;
}
