// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one thread is done before the other begins.
/* A recursive mutex stays held until the outermost unlock. */
#include "case.h"

static pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int x;
THREAD(add)
{
	UNUSED;
	LOCK(m);
	LOCK(m);
	x++;
	UNLOCK(m);
	x++;
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	run_two(add, add);
	return x != 4;
}
