// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the consumer waits before the producer begins.
/* A condition variable hands the data over; the wait is in the usual loop. */
#include "case.h"

MUTEX(m);
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready, data;
THREAD(consume)
{
	UNUSED;
	LOCK(m);
	while (!ready)
		pthread_cond_wait(&c, &m);
	UNLOCK(m);
	return data == 7 ? NULL : argument;
}
THREAD(produce)
{
	UNUSED;
	data = 7;
	LOCK(m);
	ready = 1;
	pthread_cond_signal(&c);
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	run_two(consume, produce);
	return 0;
}
