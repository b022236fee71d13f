// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: first has left before second tries, which so succeeds.
/* Hidden by a successful try. */
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
