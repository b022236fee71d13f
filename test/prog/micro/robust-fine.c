// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread ends with the lock held, then the second takes it.
/* The owner of a robust mutex ends without unlocking it; all accesses are made under the mutex. */
#include "case.h"

static pthread_mutex_t m;
static int x;
THREAD(die)
{
	UNUSED;
	LOCK(m);
	x++;
	return NULL;
}
THREAD(inherit)
{
	UNUSED;
	if (LOCK(m) == EOWNERDEAD)
		pthread_mutex_consistent(&m);
	x++;
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	pthread_mutexattr_t robust;

	pthread_mutexattr_init(&robust);
	pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&m, &robust);
	run_two(die, inherit);
	return x != 2;
}
