// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread has left before the second tries, so the attempt succeeds.
/* As in trycommute-race.c, but x is accessed only inside the sections. */
#include "case.h"

MUTEX(m);
static int x;
THREAD(first)
{
	UNUSED;
	LOCK(m);
	x = 1;
	UNLOCK(m);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	if (pthread_mutex_trylock(&m) == 0) {
		x = 2;
		UNLOCK(m);
	}
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return x == 0;
}
