// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the thread is done before main locks.
/* As in joinheld-deadlock.c, but main locks after the join. */
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

	join(t);
	LOCK(m);
	UNLOCK(m);
	return 0;
}
