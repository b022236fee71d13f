// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the first thread is done before the second begins.
/* As in sections-race.c, but with a priority-inheriting mutex. */
#include "case.h"

static pthread_mutex_t m;
static int x, y;
THREAD(first)
{
	UNUSED;
	x = 1;
	LOCK(m);
	y = 1;
	UNLOCK(m);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	LOCK(m);
	y = 2;
	UNLOCK(m);
	x = 2;
	return NULL;
}
int main(void)
{
	pthread_mutexattr_t inherit;

	pthread_mutexattr_init(&inherit);
	pthread_mutexattr_setprotocol(&inherit, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&m, &inherit);
	run_two(first, second);
	return x + y == 0;
}
