// SPDX-License-Identifier: Apache-2.0
// expect: deadlock a,b
// recorded: the thread is done before main takes its locks.
/* Two threads lock in opposite orders; the join comes too late to separate them. */
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
int main(void)
{
	pthread_t t = start_settled(first, NULL);

	LOCK(b);
	LOCK(a);
	UNLOCK(a);
	UNLOCK(b);
	join(t);
	return 0;
}
