// SPDX-License-Identifier: Apache-2.0
// expect: race stop
// recorded: the worker reads stop, which is not yet set, and is done before main locks the mutex.
/* A plain variable tells a worker to stop. */
#include "case.h"

MUTEX(m);
static int stop, work;
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
