// SPDX-License-Identifier: Apache-2.0
// expect: deadlock a,b
// recorded: first is done before second begins.
/* The outer lock of one side is waited for a while only; the inner one forever. */
#include "case.h"

MUTEX(a);
MUTEX(b);
THREAD(first)
{
	UNUSED;
	LOCK(a);
	LOCK(b);
	UNLOCK(b);
	UNLOCK(a);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	struct timespec until = in_ms(5000);

	if (pthread_mutex_timedlock(&b, &until) != 0)
		return argument;
	LOCK(a);
	UNLOCK(a);
	UNLOCK(b);
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return 0;
}
