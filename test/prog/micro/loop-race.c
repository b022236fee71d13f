// SPDX-License-Identifier: Apache-2.0
// expect: race last
// recorded: all rounds of the first thread precede those of the second.
/* Each thread enters many critical sections and then writes last, which no lock protects. */
#include "case.h"

MUTEX(m);
static int count, last;
THREAD(work)
{
	for (int i = 0; i < 8; i++) {
		LOCK(m);
		count = i;
		UNLOCK(m);
	}
	last = argument ? 1 : 2;
	return NULL;
}
int main(void)
{
	run_two(work, work);
	return last + count == 0;
}
