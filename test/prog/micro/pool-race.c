// SPDX-License-Identifier: Apache-2.0
// expect: race results[] 1
// recorded: the worker is done with both jobs before main looks.
/* A worker takes jobs from a locked queue; main reads a result without waiting for the worker. */
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
	LOCK(m);
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	pthread_t t = start_settled(worker, NULL);

	LOCK(m);
	jobs = 2;
	pthread_cond_broadcast(&c);
	UNLOCK(m);
	settle();
	LOCK(m);
	UNLOCK(m);
	int seen = results[0];
	join(t);
	return seen > 1;
}
