// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread is done before the second begins.
/* Adaptive and priority-inheriting mutexes protect like ordinary ones. */
#include "case.h"

static pthread_mutex_t m, adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static int x, y;
THREAD(add)
{
	UNUSED;
	LOCK(m);
	x++;
	UNLOCK(m);
	LOCK(adaptive);
	y++;
	UNLOCK(adaptive);
	return NULL;
}
int main(void)
{
	pthread_mutexattr_t inherit;

	pthread_mutexattr_init(&inherit);
	pthread_mutexattr_setprotocol(&inherit, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&m, &inherit);
	run_two(add, add);
	return x + y != 4;
}
