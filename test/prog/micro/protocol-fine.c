// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: in the order that the protocol requires.
/* orlyatomics/orly #195: a condition variable keeps two opposite lock orders from overlapping. */
#include "case.h"

MUTEX(steps);
COND(moved);
MUTEX(a);
RWLOCK(b);
static int step;
static void await_step(int wanted)
{
	LOCK(steps);
	while (step < wanted)
		pthread_cond_wait(&moved, &steps);
	UNLOCK(steps);
}
static void next_step(void)
{
	LOCK(steps);
	step++;
	pthread_cond_broadcast(&moved);
	UNLOCK(steps);
}
THREAD(first)
{
	UNUSED;
	LOCK(a);
	WRITE(b);
	LEAVE(b);
	UNLOCK(a);
	next_step();
	return NULL;
}
THREAD(second)
{
	UNUSED;
	await_step(1);
	WRITE(b);
	LOCK(a);
	UNLOCK(a);
	LEAVE(b);
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return 0;
}
