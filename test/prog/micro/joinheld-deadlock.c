// SPDX-License-Identifier: Apache-2.0
// expect: deadlock T_0_0,m
// recorded: the thread is done with the lock before main takes it.
/* A thread joins another while it holds a lock that the other needs. */
#include "case.h"

MUTEX(m);
THREAD(brief)
{
	UNUSED;
	LOCK(m);
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	pthread_t t = start_settled(brief, NULL);

	LOCK(m);
	join(t);
	UNLOCK(m);
	return 0;
}
