// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread is done before the second begins.
/* A thread locks its mutex twice; the second attempt fails instead of blocking. */
#include "case.h"

static pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static int x;
THREAD(add)
{
	UNUSED;
	LOCK(m);
	if (LOCK(m) != EDEADLK)
		abort();
	x++;
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	run_two(add, add);
	return x != 2;
}
