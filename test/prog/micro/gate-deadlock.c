// SPDX-License-Identifier: Apache-2.0
// expect: deadlock a,b
// recorded: the first thread is done before the second begins.
/* Only the first thread holds the gate lock while it takes the other two locks. */
#include "case.h"

MUTEX(gate);
MUTEX(a);
MUTEX(b);
THREAD(first)
{
	UNUSED;
	LOCK(gate);
	LOCK(a);
	LOCK(b);
	UNLOCK(b);
	UNLOCK(a);
	UNLOCK(gate);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	LOCK(gate);
	UNLOCK(gate);
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
