// SPDX-License-Identifier: Apache-2.0
// expect: race data
// recorded: the consumer waits, is woken, and reads long after the write.
/* The data are written after the signal. */
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
	settle();
	return data == 7 ? NULL : argument;
}
THREAD(produce)
{
	UNUSED;
	LOCK(m);
	ready = 1;
	pthread_cond_signal(&c);
	UNLOCK(m);
	data = 7;
	return NULL;
}
int main(void)
{
	run_two(consume, produce);
	return 0;
}
