// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread is done before the second begins.
/* The threads lock a and b in opposite orders, but each holds the same gate lock meanwhile. */
#include "case.h"

MUTEX(gate);
MUTEX(a);
MUTEX(b);
static void both(pthread_mutex_t *one, pthread_mutex_t *other)
{
	LOCK(gate);
	pthread_mutex_lock(one);
	pthread_mutex_lock(other);
	pthread_mutex_unlock(other);
	pthread_mutex_unlock(one);
	UNLOCK(gate);
}
THREAD(first)
{
	UNUSED;
	both(&a, &b);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	both(&b, &a);
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return 0;
}
