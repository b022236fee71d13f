// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: first is done before second begins.
/* Two locks in one order. */
#include "case.h"

MUTEX(a);
MUTEX(b);
static int x;
THREAD(both)
{
	UNUSED;
	LOCK(a);
	LOCK(b);
	x++;
	UNLOCK(b);
	UNLOCK(a);
	return NULL;
}
int main(void)
{
	run_two(both, both);
	return x != 2;
}
