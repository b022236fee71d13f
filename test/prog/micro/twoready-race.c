// SPDX-License-Identifier: Apache-2.0
// missed: race x
// recorded: the writer of x sets ready, the waiter continues, then the other thread sets ready too.
/* Two threads set the flag for which the waiter waits, but only one of them wrote x before. */
#include "case.h"

MUTEX(m);
COND(c);
static int ready, x;
THREAD(await)
{
	UNUSED;
	LOCK(m);
	while (ready == 0)
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
	ready = 1;
	pthread_cond_signal(&c);
	UNLOCK(m);
	return NULL;
}
THREAD(nudge)
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
	run_three(await, give, nudge);
	return x == 0;
}
