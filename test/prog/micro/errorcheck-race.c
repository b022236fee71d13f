// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the first thread is done before the second begins.
/* As in sections-race.c, but an error-checking mutex is unlocked twice; the error is ignored. */
#include "case.h"

static pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static int x, y;
THREAD(first)
{
	UNUSED;
	LOCK(m);
	UNLOCK(m);
	UNLOCK(m);
	x = 1;
	LOCK(m);
	y = 1;
	UNLOCK(m);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	LOCK(m);
	y = 2;
	UNLOCK(m);
	x = 2;
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return x + y == 0;
}
