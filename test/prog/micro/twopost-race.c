// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the giver's post, which follows its write, comes before the taker's wait.
/* Two threads post, but only one of them wrote x before its post. */
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
	x = 2;
	return NULL;
}
int main(void)
{
	sem_init(&ready, 0, 0);
	run_three(give, take, nudge);
	return x == 0;
}
