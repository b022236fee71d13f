// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the first thread has left before the second tries, so the attempt succeeds.
/* The recorded order of an ordinary section and one entered by trylock hides the race. */
#include "case.h"

MUTEX(m);
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
	if (pthread_mutex_trylock(&m) == 0) {
		y = 2;
		UNLOCK(m);
	}
	x = 2;
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return x + y == 0;
}
