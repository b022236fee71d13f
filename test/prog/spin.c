/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads wait for each other by plain variables, which an optimiser may read once.  As recorded the
 * program comes to its end.
 */
#include <pthread.h>

enum { ROUNDS = 20 };

static int turn, offset;

/* Waits for a sum, and counts for nobody. */
static void wait_for(int which)
{
	unsigned rounds = 0;

	while (turn + offset != which)
		rounds++;
	turn++;
}

static void *answer(void *argument)
{
	for (int i = 0; i < ROUNDS; i++)
		wait_for(2 * i + 1);
	return argument;
}

int main(void)
{
	pthread_t other;

	pthread_create(&other, NULL, answer, NULL);
	for (int i = 0; i < ROUNDS; i++)
		wait_for(2 * i);
	while (turn != 2 * ROUNDS)
		;
	return pthread_join(other, NULL);
}
