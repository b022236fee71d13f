// SPDX-License-Identifier: Apache-2.0
// expect: deadlock a,b
// recorded: first is done before second begins.
/* The try succeeds; where it fails, the thread waits after all. */
#include "case.h"

MUTEX(a);
MUTEX(b);
THREAD(first)
{
	UNUSED;
	LOCK(a);
	LOCK(b);
	UNLOCK(b);
	UNLOCK(a);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	if (pthread_mutex_trylock(&b) != 0)
		LOCK(b);
	LOCK(a);
	UNLOCK(a);
	UNLOCK(b);
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return 0;
}
