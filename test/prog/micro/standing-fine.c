// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: both threads meet at the barrier.
/* As in standing-deadlock.c, but each lock is released before the other is requested. */
#include "case.h"

MUTEX(a);
MUTEX(b);
static pthread_barrier_t both;
THREAD(second)
{
	UNUSED;
	LOCK(b);
	pthread_barrier_wait(&both);
	UNLOCK(b);
	LOCK(a);
	UNLOCK(a);
	return NULL;
}
int main(void)
{
	alarm(300);
	pthread_barrier_init(&both, NULL, 2);
	pthread_t t = start(second, NULL);
	LOCK(a);
	pthread_barrier_wait(&both);
	UNLOCK(a);
	LOCK(b);
	UNLOCK(b);
	join(t);
	return 0;
}
