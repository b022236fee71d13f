// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the giver has posted before the taker waits.
/* The thread waits for the semaphore before it locks. */
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
	sem_wait(&ready);
	LOCK(m);
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	sem_init(&ready, 0, 0);
	run_two(give, take);
	return 0;
}
