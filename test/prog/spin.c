/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads busy-wait for each other on plain variables, which an optimiser may read only once.
 * In the recorded order the program ends.
 */
#include <pthread.h>

enum { ROUNDS = 20 };

static int turn, offset;

/* Waits for a sum in a loop; the count of its iterations is not used. */
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
