// SPDX-License-Identifier: Apache-2.0
// expect: none
// drop: race data 1
// recorded: the giver is done before the taker looks.
/* The taker polls a flag under a lock. */
#include "case.h"

MUTEX(m);
static int flag, data;
THREAD(give)
{
	UNUSED;
	data = 7;
	LOCK(m);
	flag = 1;
	UNLOCK(m);
	return NULL;
}
static bool given(void)
{
	LOCK(m);
	bool is = flag;
	UNLOCK(m);
	return is;
}
THREAD(take)
{
	UNUSED;
	while (!given())
		sched_yield();
	return data == 7 ? NULL : argument;
}
int main(void)
{
	run_two(give, take);
	return 0;
}
