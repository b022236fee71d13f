// SPDX-License-Identifier: Apache-2.0
// expect: race data 1 speculative
// recorded: the giver is done before the taker looks.
/* The flag is set and read with relaxed order.  As the taker waits for the flag, the accesses to
 * data are never adjacent.  But nothing orders them, which a happens-before detector can see. */
#include "case.h"

static atomic_int flag;
static int data;
THREAD(give)
{
	UNUSED;
	data = 7;
	atomic_store_explicit(&flag, 1, memory_order_relaxed);
	return NULL;
}
THREAD(take)
{
	UNUSED;
	while (!atomic_load_explicit(&flag, memory_order_relaxed))
		sched_yield();
	return data == 7 ? NULL : argument;
}
int main(void)
{
	run_two(give, take);
	return 0;
}
