// SPDX-License-Identifier: Apache-2.0
// expect: race data 1 speculative
// expect: race flag
// recorded: the taker polls the flag until the giver, after a while, sets it.
/* As in flag-race.c, but the taker begins to poll before the flag is set.  The trace has only the
 * first read of the flag, which found it not set.  So the trace does not show that the accesses to
 * data are ordered. */
#include "case.h"

static volatile int flag;
static int data;
THREAD(give)
{
	UNUSED;
	data = 7;
	flag = 1;
	return NULL;
}
THREAD(take)
{
	UNUSED;
	while (!flag)
		sched_yield();
	return data == 7 ? NULL : argument;
}
int main(void)
{
	run_two(take, give);
	return 0;
}
