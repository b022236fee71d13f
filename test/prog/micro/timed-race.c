// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the first thread has left before the second asks, so the second does not wait.
/* The recorded order of an ordinary section and one entered by a timed lock hides the race. */
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
	struct timespec until = in_ms(5000);

	if (pthread_mutex_timedlock(&m, &until) == 0) {
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
