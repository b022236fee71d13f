// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: one, two and three run in turn; the sections of m and n order the accesses to x.
/* The recorded order of the critical sections of two unrelated locks hides the race. */
#include "case.h"

MUTEX(m);
MUTEX(n);
static int x, y, z;
THREAD(one)
{
	UNUSED;
	x = 1;
	LOCK(m);
	y = 1;
	UNLOCK(m);
	return NULL;
}
THREAD(two)
{
	UNUSED;
	LOCK(m);
	y = 2;
	UNLOCK(m);
	LOCK(n);
	z = 2;
	UNLOCK(n);
	return NULL;
}
THREAD(three)
{
	UNUSED;
	LOCK(n);
	z = 3;
	UNLOCK(n);
	x = 3;
	return NULL;
}
int main(void)
{
	run_three(one, two, three);
	return x + y + z == 0;
}
