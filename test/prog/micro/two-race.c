// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the first thread is done before the second begins.
/* Each thread accesses x under a lock, but not under the same one. */
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
