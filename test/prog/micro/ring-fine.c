// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the consumer waits before the producer begins.
/* A lock and two condition variables protect a ring buffer. */
#include "case.h"

MUTEX(m);
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static int ring[4], head, tail;
THREAD(produce)
{
	UNUSED;
	for (int i = 0; i < 20; i++) {
		LOCK(m);
		while (head - tail == 4)
			pthread_cond_wait(&emptied, &m);
		ring[head++ % 4] = i;
		pthread_cond_signal(&filled);
		UNLOCK(m);
	}
	return NULL;
}
THREAD(consume)
{
	UNUSED;
	for (int i = 0; i < 20; i++) {
		LOCK(m);
		while (head == tail)
			pthread_cond_wait(&filled, &m);
		if (ring[tail++ % 4] != i)
			abort();
		pthread_cond_signal(&emptied);
		UNLOCK(m);
	}
	return NULL;
}
int main(void)
{
	run_two(consume, produce);
	return 0;
}
