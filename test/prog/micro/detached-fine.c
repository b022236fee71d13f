// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: in the order that the semaphore enforces.
/* A detached thread posts a semaphore when it has finished. */
#include "case.h"

static sem_t finished;
static int result;
THREAD(work)
{
	UNUSED;
	result = 7;
	sem_post(&finished);
	return NULL;
}
int main(void)
{
	sem_init(&finished, 0, 0);
	pthread_detach(start(work, NULL));
	sem_wait(&finished);
	return result != 7;
}
