// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread is done before the second begins.
/* google/sanitizers #814: a is released before c is locked, so no deadlock is possible. */
#include "case.h"

MUTEX(a);
MUTEX(b);
MUTEX(c);
THREAD(first)
{
	UNUSED;
	LOCK(a);
	LOCK(b);
	UNLOCK(a);
	LOCK(c);
	UNLOCK(c);
	UNLOCK(b);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	LOCK(c);
	LOCK(a);
	UNLOCK(a);
	UNLOCK(c);
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return 0;
}
