// SPDX-License-Identifier: Apache-2.0
// expect: race heap 1
// recorded: the writer is done before the block grows.
/* A thread writes to a block that another may move: the lock guards the pointer but not its use. */
#include "case.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *block;
THREAD(fill)
{
	UNUSED;
	LOCK(lock);
	int *mine = block;
	UNLOCK(lock);
	mine[1] = 5;
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
