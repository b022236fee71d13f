// SPDX-License-Identifier: Apache-2.0
// expect: race cell[]
// recorded: in the order that the barrier enforces.
/* The loop lacks its second barrier, so a thread may write its cell while the other reads it. */
#include "case.h"

static pthread_barrier_t bar;
static int cell[2], sum[2];
THREAD(phases)
{
	long i = (long)argument;

	for (int round = 0; round < 3; round++) {
		cell[i] = round;
		pthread_barrier_wait(&bar);
		sum[i] += cell[1 - i];
	}
	return NULL;
}
int main(void)
{
	pthread_barrier_init(&bar, NULL, 2);
	pthread_t a = start(phases, (void *)0), b = start(phases, (void *)1);
	join(a);
	join(b);
	return sum[0] + sum[1] < 0;
}
