// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the writer has left before the reader asks, so the reader does not wait.
/* The recorded order of two sections, which were entered with a time limit, hides the race. */
#include "case.h"

RWLOCK(lock);
static int x, y;
THREAD(set)
{
	UNUSED;
	struct timespec until = in_ms(5000);

	x = 1;
	if (pthread_rwlock_timedwrlock(&lock, &until) == 0) {
		y = 1;
		LEAVE(lock);
	}
	return NULL;
}
THREAD(look)
{
	UNUSED;
	struct timespec until = in_ms(5000);

	if (pthread_rwlock_timedrdlock(&lock, &until) == 0)
		LEAVE(lock);
	x = 2;
	return NULL;
}
int main(void)
{
	run_two(set, look);
	return x + y == 0;
}
