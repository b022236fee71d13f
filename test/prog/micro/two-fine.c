// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one thread is done before the other begins.
/* Two locks protect one variable each. */
#include "case.h"

MUTEX(a);
MUTEX(b);
static int x, y;
THREAD(add)
{
	UNUSED;
	LOCK(a);
	x++;
	UNLOCK(a);
	LOCK(b);
	y++;
	UNLOCK(b);
	return NULL;
}
int main(void)
{
	run_two(add, add);
	return x + y != 4;
}
