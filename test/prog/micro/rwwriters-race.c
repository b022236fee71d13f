// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: one writer is done before the other enters.
/* The recorded order of two write sections hides the race. */
#include "case.h"

RWLOCK(lock);
static int x, y;
THREAD(first)
{
	UNUSED;
	x = 1;
	WRITE(lock);
	y = 1;
	LEAVE(lock);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	if (pthread_rwlock_trywrlock(&lock) == 0) {
		y = 2;
		LEAVE(lock);
	}
	x = 2;
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return x + y == 0;
}
