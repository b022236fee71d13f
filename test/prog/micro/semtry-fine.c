// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the giver has posted before the taker tries.
/* The taker writes x only after it got the giver's post. */
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
THREAD(take)
{
	UNUSED;
	struct timespec until = in_ms(5000);

	if (sem_trywait(&ready) == 0 || sem_timedwait(&ready, &until) == 0)
		x = 2;
	return NULL;
}
int main(void)
{
	sem_init(&ready, 0, 0);
	run_two(give, take);
	return x == 0;
}
