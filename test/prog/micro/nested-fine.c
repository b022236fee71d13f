// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread is done before the second begins.
/* The inner lock protects both accesses to x. */
#include "case.h"

MUTEX(outer);
MUTEX(inner);
static int x, y;
THREAD(first)
{
	UNUSED;
	LOCK(inner);
	x = 1;
	LOCK(outer);
	y = 1;
	UNLOCK(outer);
	UNLOCK(inner);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	LOCK(outer);
	y = 2;
	UNLOCK(outer);
	LOCK(inner);
	x = 2;
	UNLOCK(inner);
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return x + y == 0;
}
