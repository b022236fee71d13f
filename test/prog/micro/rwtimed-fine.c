// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the writer has left before the reader tries.
/* As in rwtimed-race.c, but x is accessed only under the lock. */
#include "case.h"

RWLOCK(lock);
static int x;
THREAD(set)
{
	UNUSED;
	struct timespec until = in_ms(5000);

	if (pthread_rwlock_timedwrlock(&lock, &until) == 0) {
		x = 1;
		LEAVE(lock);
	}
	return NULL;
}
THREAD(look)
{
	UNUSED;
	int seen = 0;

	if (pthread_rwlock_tryrdlock(&lock) == 0) {
		seen = x;
		LEAVE(lock);
	}
	return seen < 0 ? argument : NULL;
}
int main(void)
{
	run_two(set, look);
	return x != 1;
}
