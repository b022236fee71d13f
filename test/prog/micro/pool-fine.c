// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the worker is done with both jobs before main looks.
/* As in pool-race.c, but main reads the results after the join. */
#include "case.h"

MUTEX(m);
COND(c);
static int jobs, results[2];
THREAD(worker)
{
	UNUSED;
	for (int done = 0; done < 2; done++) {
		LOCK(m);
		while (jobs == 0)
			pthread_cond_wait(&c, &m);
		int job = --jobs;
		UNLOCK(m);
		results[job] = job + 1;
	}
	return NULL;
}
int main(void)
{
	pthread_t t = start_settled(worker, NULL);

	LOCK(m);
	jobs = 2;
	pthread_cond_broadcast(&c);
	UNLOCK(m);
	join(t);
	return results[0] != 1;
}
