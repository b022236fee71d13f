// SPDX-License-Identifier: Apache-2.0
// expect: deadlock a,c
// recorded: the first thread is done before the second begins.
/* As in heldset-fine.c, but a is still held when c is locked. */
#include "case.h"

MUTEX(a);
MUTEX(b);
MUTEX(c);
THREAD(first)
{
	UNUSED;
	LOCK(a);
	LOCK(b);
	LOCK(c);
	UNLOCK(c);
	UNLOCK(b);
	UNLOCK(a);
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
