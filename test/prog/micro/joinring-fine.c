// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the second thread is done with its lock before the first takes its own.
/* As in joinring-deadlock.c, but the joined thread does not need the lock that the other holds. */
#include "case.h"

MUTEX(a);
MUTEX(b);
static pthread_t other;
THREAD(wait_for)
{
	UNUSED;
	LOCK(a);
	join(other);
	UNLOCK(a);
	return NULL;
}
THREAD(brief)
{
	UNUSED;
	LOCK(b);
	UNLOCK(b);
	return NULL;
}
int main(void)
{
	other = start_settled(brief, NULL);
	join(start(wait_for, NULL));
	return 0;
}
