// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the first thread is done before the second begins; the outer lock orders their writes.
/* Both threads take the outer lock, but not around their accesses to x. */
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
	x = 2;
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return x + y == 0;
}
