// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: both posts come before the second wait returns.
/* The taker waits for both posts. */
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
	sem_wait(&ready);
	sem_wait(&ready);
	x = 2;
	return NULL;
}
int main(void)
{
	sem_init(&ready, 0, 0);
	run_three(give, take, nudge);
	return x == 0;
}
