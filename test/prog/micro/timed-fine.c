// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the holder keeps the lock until the other has given up.
/* A timed lock that times out, and whose thread then does nothing. */
#include "case.h"

MUTEX(m);
static int x;
THREAD(keep)
{
	UNUSED;
	LOCK(m);
	x = 1;
	usleep(60000);
	x = 2;
	UNLOCK(m);
	return NULL;
}
THREAD(ask)
{
	UNUSED;
	struct timespec until = in_ms(5);

	if (pthread_mutex_timedlock(&m, &until) == 0) {
		x = 3;
		UNLOCK(m);
	}
	return NULL;
}
int main(void)
{
	run_two(keep, ask);
	return x == 0;
}
