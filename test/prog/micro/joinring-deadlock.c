// SPDX-License-Identifier: Apache-2.0
// expect: deadlock T_0_1,b
// recorded: the second thread is done with the lock before the first takes it.
/* A thread joins another, which needs the lock that the first holds. */
#include "case.h"

MUTEX(b);
static pthread_t other;
THREAD(wait_for)
{
	UNUSED;
	LOCK(b);
	join(other);
	UNLOCK(b);
	return NULL;
}
THREAD(brief)
{
	UNUSED;
	LOCK(b);
	UNLOCK(b);
	return NULL;
}
THREAD(idle)
{
	return argument;
}
int main(void)
{
	pthread_t spare = start_settled(idle, NULL);

	other = start_settled(brief, NULL);
	pthread_t waiting = start(wait_for, NULL);
	join(waiting);
	join(spare);
	return 0;
}
