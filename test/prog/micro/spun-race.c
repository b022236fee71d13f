// SPDX-License-Identifier: Apache-2.0
// expect: race data 1 speculative
// expect: race flag
// recorded: the taker polls the flag until the giver, after a while, sets it.
/* A plain variable as a flag, as in flag-race.c, but the taker polls too early.  The trace has only
 * the first of its reads, and that one found the flag not set.  So nothing after the flag is
 * certain. */
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
