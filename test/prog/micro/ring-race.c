// SPDX-License-Identifier: Apache-2.0
// expect: race head
// recorded: the producer is done before the consumer looks.
/* The consumer of a ring buffer reads the head without the lock. */
#include "case.h"

MUTEX(m);
static int ring[4], head, tail;
THREAD(produce)
{
	UNUSED;
	for (int i = 0; i < 4; i++) {
		LOCK(m);
		ring[head++ % 4] = i;
		UNLOCK(m);
	}
	return NULL;
}
THREAD(consume)
{
	UNUSED;
	if (head == 0)
		return NULL;
	LOCK(m);
	int got = ring[tail++ % 4];
	UNLOCK(m);
	return got < 0 ? argument : NULL;
}
int main(void)
{
	run_two(produce, consume);
	return head != 4;
}
