// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the setter is done before the other thread starts.
/* As in switch-race.c, but the mode is set under the lock. */
#include "case.h"

MUTEX(m);
static int mode, x;
THREAD(set)
{
	UNUSED;
	LOCK(m);
	mode = 1;
	x = 1;
	UNLOCK(m);
	return NULL;
}
THREAD(use)
{
	UNUSED;
	LOCK(m);
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
