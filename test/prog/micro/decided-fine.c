// SPDX-License-Identifier: Apache-2.0
// expect: none
// drop: deadlock a,b 1
// recorded: the first thread is done before the second looks.
/* The second thread locks in the opposite order, but only if a flag shows the first is done. */
#include "case.h"

MUTEX(flags);
MUTEX(a);
MUTEX(b);
static bool over;
THREAD(first)
{
	UNUSED;
	LOCK(a);
	LOCK(b);
	UNLOCK(b);
	UNLOCK(a);
	LOCK(flags);
	over = true;
	UNLOCK(flags);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	LOCK(flags);
	bool may = over;
	UNLOCK(flags);
	if (!may)
		return NULL;
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
