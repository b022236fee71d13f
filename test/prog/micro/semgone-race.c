// SPDX-License-Identifier: Apache-2.0
// expect: race s 1
// recorded: the worker has posted twice before any thread waits.
/* The second post may come after the semaphore was destroyed. */
#include "case.h"

static sem_t s;
THREAD(work)
{
	UNUSED;
	sem_post(&s);
	sem_post(&s);
	return NULL;
}
int main(void)
{
	pthread_t worker;

	sem_init(&s, 0, 0);
	worker = start_settled(work, NULL);
	sem_wait(&s);
	sem_destroy(&s);
	join(worker);
	return 0;
}
