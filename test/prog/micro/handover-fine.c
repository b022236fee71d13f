// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the block is filled, then handed over.
/* A block is handed over by a semaphore and freed by the taker. */
#include "case.h"

static sem_t given;
static int *block;
THREAD(give)
{
	UNUSED;
	block = calloc(4, sizeof *block);
	block[1] = 7;
	sem_post(&given);
	return NULL;
}
THREAD(take)
{
	UNUSED;
	sem_wait(&given);
	int seen = block[1];
	free(block);
	return seen == 7 ? NULL : argument;
}
int main(void)
{
	sem_init(&given, 0, 0);
	run_two(give, take);
	return 0;
}
