// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one writer is done before the other enters.
/* As in rwwriters-race.c, but x is written only under the lock. */
#include "case.h"

RWLOCK(lock);
static int x;
THREAD(first)
{
	UNUSED;
	WRITE(lock);
	x = 1;
	LEAVE(lock);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	if (pthread_rwlock_trywrlock(&lock) == 0) {
		x = 2;
		LEAVE(lock);
	}
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return x == 0;
}
