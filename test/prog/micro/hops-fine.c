// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one, two and three run in turn.
/* As in hops-race.c, but both accesses to x are made under the same lock. */
#include "case.h"

MUTEX(m);
MUTEX(n);
MUTEX(guard);
static int x, y, z;
THREAD(one)
{
	UNUSED;
	LOCK(guard);
	x = 1;
	UNLOCK(guard);
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
	LOCK(guard);
	x = 3;
	UNLOCK(guard);
	return NULL;
}
int main(void)
{
	run_three(one, two, three);
	return x + y + z == 0;
}
