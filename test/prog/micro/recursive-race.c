// SPDX-License-Identifier: Apache-2.0
// expect: race x 1
// recorded: the first thread is done before the second begins.
/* As in recursive-fine.c, but the outermost unlock comes before the access. */
#include "case.h"

static pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int x;
THREAD(add)
{
	UNUSED;
	LOCK(m);
	LOCK(m);
	UNLOCK(m);
	UNLOCK(m);
	x++;
	LOCK(m);
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	run_two(add, add);
	return x < 1;
}
