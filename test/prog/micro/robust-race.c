// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the first thread ends with the lock held, then the second takes it.
/* As in robust-fine.c, but x is written outside the sections. */
#include "case.h"

static pthread_mutex_t m;
static int x, y;
THREAD(die)
{
	UNUSED;
	x = 1;
	LOCK(m);
	y = 1;
	return NULL;
}
THREAD(inherit)
{
	UNUSED;
	if (LOCK(m) == EOWNERDEAD)
		pthread_mutex_consistent(&m);
	y = 2;
	UNLOCK(m);
	x = 2;
	return NULL;
}
int main(void)
{
	pthread_mutexattr_t robust;

	pthread_mutexattr_init(&robust);
	pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&m, &robust);
	run_two(die, inherit);
	return x + y == 0;
}
