// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the first thread is done before the second begins; the lock orders the accesses to x.
/* After listing 1 of Carril and Tichy (2015): the recorded order of two sections hides the race. */
#include "case.h"

MUTEX(m);
static int x, y;
THREAD(first)
{
	UNUSED;
	x = 1;
	LOCK(m);
	y = 1;
	UNLOCK(m);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	LOCK(m);
	y = 2;
	UNLOCK(m);
	x = 2;
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return x + y == 0;
}
