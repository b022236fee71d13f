// SPDX-License-Identifier: Apache-2.0
// expect: race slots[] 1
// recorded: the threads take their slots one after the other.
/* The counter is not advanced, so both threads get the same slot. */
#include "case.h"

MUTEX(m);
static int slots[4], next;
THREAD(fill)
{
	UNUSED;
	LOCK(m);
	int mine = next;
	UNLOCK(m);
	slots[mine] = mine + 1;
	return NULL;
}
int main(void)
{
	run_two(fill, fill);
	return next != 0;
}
