// SPDX-License-Identifier: Apache-2.0
// expect: race done 1
// recorded: the worker has signalled before main looks.
/* The signal is sent after the unlock, so the condition variable may be gone already. */
#include "case.h"

MUTEX(m);
static pthread_cond_t done;
static int ready;
THREAD(work)
{
	UNUSED;
	LOCK(m);
	ready = 1;
	UNLOCK(m);
	pthread_cond_signal(&done);
	return NULL;
}
int main(void)
{
	pthread_t worker;

	pthread_cond_init(&done, NULL);
	worker = start_settled(work, NULL);
	LOCK(m);
	while (!ready)
		pthread_cond_wait(&done, &m);
	UNLOCK(m);
	pthread_cond_destroy(&done);
	join(worker);
	return 0;
}
