// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one thread is done before the other begins.
/* As in sections-race.c, but both accesses are inside the sections. */
#include "case.h"

MUTEX(m);
static int x;
THREAD(add)
{
	UNUSED;
	LOCK(m);
	x++;
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	run_two(add, add);
	return x != 2;
}
