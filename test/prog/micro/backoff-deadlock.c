// SPDX-License-Identifier: Apache-2.0
// expect: deadlock a,b
// recorded: the first thread is done before the second begins.
/* The trylock succeeds in the recorded run; if it fails, the thread blocks on the lock instead. */
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
