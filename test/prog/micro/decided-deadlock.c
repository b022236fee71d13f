// SPDX-License-Identifier: Apache-2.0
// expect: deadlock a,b 1 speculative
// recorded: the first thread is done before the second looks.
/* As in decided-fine.c, but the second thread takes its locks whatever the flag's value is. */
#include "case.h"

MUTEX(flags);
MUTEX(a);
MUTEX(b);
static int over;
THREAD(first)
{
	UNUSED;
	LOCK(a);
	LOCK(b);
	UNLOCK(b);
	UNLOCK(a);
	LOCK(flags);
	over = 1;
	UNLOCK(flags);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	LOCK(flags);
	int seen = over;
	UNLOCK(flags);
	LOCK(b);
	LOCK(a);
	UNLOCK(a);
	UNLOCK(b);
	return seen > 1 ? argument : NULL;
}
int main(void)
{
	run_two(first, second);
	return 0;
}
