// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the giver has posted before the taker tries.
/* The taker may get nudge's post instead of the giver's, so nothing orders the writes to x. */
#include "case.h"

static sem_t ready;
static int x;
THREAD(give)
{
	UNUSED;
	x = 1;
	sem_post(&ready);
	return NULL;
}
THREAD(nudge)
{
	UNUSED;
	sem_post(&ready);
	return NULL;
}
THREAD(take)
{
	UNUSED;
	while (sem_trywait(&ready) != 0)
		sched_yield();
	x = 2;
	return NULL;
}
int main(void)
{
	sem_init(&ready, 0, 0);
	run_three(give, take, nudge);
	return x == 0;
}
