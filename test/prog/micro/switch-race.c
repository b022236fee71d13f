// SPDX-License-Identifier: Apache-2.0
// expect: race mode
// recorded: the setter is done before the other thread starts.  The accesses to x never race.
/* The mode is set without the lock under which it is read. */
#include "case.h"

MUTEX(m);
static int mode, x;
THREAD(set)
{
	UNUSED;
	mode = 1;
	LOCK(m);
	x = 1;
	UNLOCK(m);
	return NULL;
}
THREAD(use)
{
	UNUSED;
	LOCK(m);
	x = 2;
	if (mode == 1)
		x++;
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	run_two(set, use);
	return x == 0;
}
