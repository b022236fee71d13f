// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the mutex is initialised before the other thread wants it.
/* A semaphore makes the other thread wait until the mutex is initialised. */
#include "case.h"

static pthread_mutex_t m;
static sem_t ready;
THREAD(prepare)
{
	UNUSED;
	pthread_mutex_init(&m, NULL);
	sem_post(&ready);
	return NULL;
}
THREAD(work)
{
	UNUSED;
	sem_wait(&ready);
	LOCK(m);
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	sem_init(&ready, 0, 0);
	run_two(prepare, work);
	sem_destroy(&ready);
	return 0;
}
