// SPDX-License-Identifier: Apache-2.0
// expect: deadlock m,ready
// recorded: the giver has posted before the taker locks.
/* A thread waits for a semaphore while it holds a lock that the poster needs. */
#include "case.h"

MUTEX(m);
static sem_t ready;
THREAD(give)
{
	UNUSED;
	LOCK(m);
	sem_post(&ready);
	UNLOCK(m);
	return NULL;
}
THREAD(take)
{
	UNUSED;
	LOCK(m);
	sem_wait(&ready);
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	sem_init(&ready, 0, 0);
	run_two(give, take);
	return 0;
}
