// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: both threads wait before the broadcast.
/* As in broadcast-deadlock.c, but each thread checks a predicate before it waits. */
#include "case.h"

MUTEX(m);
COND(c);
static bool over;
THREAD(await)
{
	UNUSED;
	LOCK(m);
	while (!over)
		pthread_cond_wait(&c, &m);
	UNLOCK(m);
	return NULL;
}
THREAD(tell)
{
	UNUSED;
	LOCK(m);
	over = true;
	pthread_cond_broadcast(&c);
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	run_three(await, await, tell);
	return 0;
}
