// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: first is done before second begins.
/* Each side protects by a lock, but not by the same. */
#include "case.h"

MUTEX(a);
MUTEX(b);
static int x;
THREAD(first)
{
	UNUSED;
	LOCK(a);
	x++;
	UNLOCK(a);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	LOCK(b);
	x++;
	UNLOCK(b);
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return x != 2;
}
