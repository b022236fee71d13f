// SPDX-License-Identifier: Apache-2.0
// expect: deadlock bar,m
// recorded: the first thread has released the lock before the second takes it.
/* A thread waits at a barrier while it holds a lock that the other needs to get there. */
#include "case.h"

MUTEX(m);
static pthread_barrier_t bar;
THREAD(first)
{
	UNUSED;
	LOCK(m);
	UNLOCK(m);
	pthread_barrier_wait(&bar);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	LOCK(m);
	pthread_barrier_wait(&bar);
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	pthread_barrier_init(&bar, NULL, 2);
	run_two(first, second);
	return 0;
}
