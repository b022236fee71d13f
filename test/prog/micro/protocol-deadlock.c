// SPDX-License-Identifier: Apache-2.0
// expect: deadlock a,b
// recorded: the first thread happens to release its locks before the second one begins.
/* As in protocol-fine.c, but the step is announced before the first thread takes its locks. */
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
	next_step();
	LOCK(a);
	WRITE(b);
	LEAVE(b);
	UNLOCK(a);
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
