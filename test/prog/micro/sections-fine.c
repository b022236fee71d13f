// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one is done before the other begins.
/* The twin: both accesses are inside. */
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
