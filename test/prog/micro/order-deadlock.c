// SPDX-License-Identifier: Apache-2.0
// expect: deadlock a,b
// recorded: the first thread is done before the second begins.
/* Two threads take two locks in opposite orders. */
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
