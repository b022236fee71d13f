// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the writer is done before the block grows.
/* As in realloc-race.c, but the block is used under the lock. */
#include "case.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *block;
THREAD(fill)
{
	UNUSED;
	LOCK(lock);
	block[1] = 5;
	UNLOCK(lock);
	return NULL;
}
THREAD(grow)
{
	UNUSED;
	LOCK(lock);
	block = realloc(block, 4096);
	UNLOCK(lock);
	return NULL;
}
int main(void)
{
	block = calloc(4, sizeof *block);
	run_two(fill, grow);
	free(block);
	return 0;
}
