// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the producer is done before the consumer looks, so no wait happens.
/* As in cond-fine.c, but in the recorded run the wait never happens. */
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
	run_two(produce, consume);
	return 0;
}
