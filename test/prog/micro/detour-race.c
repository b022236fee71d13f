// SPDX-License-Identifier: Apache-2.0
// expect: race stop
// recorded: the worker has seen the stop and is done before main's lock.
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
