// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the worker is done before main locks the mutex.
/* As in detour-race.c, but the stop flag is atomic. */
#include "case.h"

MUTEX(m);
static atomic_int stop;
static int work;
THREAD(toil)
{
	UNUSED;
	LOCK(m);
	work++;
	UNLOCK(m);
	if (!stop)
		return NULL;
	return argument;
}
int main(void)
{
	pthread_t t = start_settled(toil, NULL);

	LOCK(m);
	work++;
	UNLOCK(m);
	stop = 1;
	join(t);
	return work != 2;
}
