// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one thread holds the lock until the other has given up.
/* A timed lock times out, and the thread then accesses no data. */
#include "case.h"

MUTEX(m);
static int x;
static atomic_int gave_up;
THREAD(keep)
{
	UNUSED;
	LOCK(m);
	x = 1;
	while (!atomic_load_explicit(&gave_up, memory_order_relaxed))
		usleep(SETTLE_STEP_US);
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
	atomic_store_explicit(&gave_up, 1, memory_order_relaxed);
	return NULL;
}
int main(void)
{
	run_two(keep, ask);
	return x == 0;
}
