// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: all rounds of the first thread precede those of the second.
/* As in loop-race.c, but last is written inside the last section. */
#include "case.h"

MUTEX(m);
static int count, last;
THREAD(work)
{
	for (int i = 0; i < 8; i++) {
		LOCK(m);
		count = i;
		if (i == 7)
			last = argument ? 1 : 2;
		UNLOCK(m);
	}
	return NULL;
}
int main(void)
{
	run_two(work, work);
	return last + count == 0;
}
