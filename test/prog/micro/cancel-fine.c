// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the thread is cancelled in its wait and cleans up before main reads.
/* The cancelled thread changes x while it still holds the lock. */
#include "case.h"

MUTEX(m);
COND(c);
static int x;
static void clean(void *unused)
{
	(void)unused;
	x++;
	UNLOCK(m);
}
THREAD(await)
{
	UNUSED;
	LOCK(m);
	pthread_cleanup_push(clean, NULL);
	for (;;)
		pthread_cond_wait(&c, &m);
	pthread_cleanup_pop(0);
	return NULL;
}
int main(void)
{
	pthread_t t = start_settled(await, NULL);

	pthread_cancel(t);
	settle();
	LOCK(m);
	int seen = x;
	UNLOCK(m);
	join(t);
	return seen > 1;
}
