// SPDX-License-Identifier: Apache-2.0
// expect: race data 1 speculative
// expect: race flag
// recorded: the taker asks for the flag until the giver, who waits a while, has set it.
/* A plain variable as a flag, as in flag-race.c, but the taker looks too early.  Of all it
 * read only the first is in the trace, and that one did not let it through: nothing after
 * the flag is certain. */
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
