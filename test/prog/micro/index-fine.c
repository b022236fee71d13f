// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the threads take their slots one after the other.
/* Each thread takes its own slot number from a counter, under the lock. */
#include "case.h"

MUTEX(m);
static int slots[4], next;
THREAD(fill)
{
	UNUSED;
	LOCK(m);
	int mine = next++;
	UNLOCK(m);
	slots[mine] = mine + 1;
	return NULL;
}
int main(void)
{
	run_two(fill, fill);
	return next != 2;
}
