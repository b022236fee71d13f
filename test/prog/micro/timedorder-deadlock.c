// SPDX-License-Identifier: Apache-2.0
// expect: deadlock a,b
// recorded: the first thread is done before the second begins.
/* One thread takes its outer lock with a time limit, but waits forever for the inner one. */
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
