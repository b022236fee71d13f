// SPDX-License-Identifier: Apache-2.0
// expect: race x 1
// recorded: the thread is cancelled in its wait and cleans up before main reads.
/* A thread that is cancelled in a wait changes x while it cleans up, without the lock.  The
 * unwinder runs between the wait and the wake, even if the wait is steered. */
#include "case.h"

MUTEX(m);
COND(c);
static int x;
static void clean(void *unused)
{
	(void)unused;
	UNLOCK(m);
	x++;
	LOCK(m);
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
	UNLOCK(m);
	int seen = x;
	join(t);
	return seen > 1;
}
