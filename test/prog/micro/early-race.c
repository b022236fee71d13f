// SPDX-License-Identifier: Apache-2.0
// expect: race data
// recorded: the producer is done before the consumer looks, so no wait happens.
/* The data are written after the announcement.  In the recorded run the wait never happens. */
#include "case.h"

MUTEX(m);
COND(c);
static int ready, data, log_lines;
THREAD(produce)
{
	UNUSED;
	LOCK(m);
	ready = 1;
	pthread_cond_signal(&c);
	UNLOCK(m);
	data = 7;
	LOCK(m);
	log_lines = 1;
	UNLOCK(m);
	return NULL;
}
THREAD(consume)
{
	UNUSED;
	LOCK(m);
	while (!ready)
		pthread_cond_wait(&c, &m);
	UNLOCK(m);
	return data == 7 ? NULL : argument;
}
int main(void)
{
	run_two(produce, consume);
	return log_lines != 1;
}
