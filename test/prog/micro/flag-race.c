// SPDX-License-Identifier: Apache-2.0
// expect: race data 1 speculative
// expect: race flag
// recorded: the giver is done before the taker looks.
/* The flag is plain, so it races.  The accesses to data are never adjacent (see atomic-race.c). */
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
	run_two(give, take);
	return 0;
}
