// SPDX-License-Identifier: Apache-2.0
// expect: deadlock a,b 2
// recorded: the first thread is done before the second begins.
/* One thread locks a twice while it holds b; the other locks a, then b. */
#include "case.h"

MUTEX(a);
MUTEX(b);
THREAD(first)
{
	UNUSED;
	LOCK(b);
	LOCK(a);
	UNLOCK(a);
	LOCK(a);
	UNLOCK(a);
	UNLOCK(b);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	LOCK(a);
	LOCK(b);
	UNLOCK(b);
	UNLOCK(a);
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return 0;
}
