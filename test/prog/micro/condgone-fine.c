// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the worker has signalled before main looks.
/* The signal is sent with the lock held, so a thread that saw the flag runs after the signal. */
#include "case.h"

MUTEX(m);
static pthread_cond_t done;
static int ready;
THREAD(work)
{
	UNUSED;
	LOCK(m);
	ready = 1;
	pthread_cond_signal(&done);
	UNLOCK(m);
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
