// SPDX-License-Identifier: Apache-2.0
// expect: race heap 1
// recorded: the first thread is done with the block before the second writes to it.
/* A block is handed over by a semaphore, but the giver still uses it. */
#include "case.h"

static sem_t given;
static int *block;
THREAD(give)
{
	UNUSED;
	block = calloc(4, sizeof *block);
	sem_post(&given);
	block[1] = 7;
	return NULL;
}
THREAD(take)
{
	UNUSED;
	sem_wait(&given);
	block[1] = 8;
	return NULL;
}
int main(void)
{
	sem_init(&given, 0, 0);
	run_two(give, take);
	free(block);
	return 0;
}
