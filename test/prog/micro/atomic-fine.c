// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the giver is done before the taker looks.
/* The flag is set with a release store and read with an acquire load, which orders the data. */
#include "case.h"

static atomic_int flag;
static int data;
THREAD(give)
{
	UNUSED;
	data = 7;
	atomic_store_explicit(&flag, 1, memory_order_release);
	return NULL;
}
THREAD(take)
{
	UNUSED;
	while (!atomic_load_explicit(&flag, memory_order_acquire))
		sched_yield();
	return data == 7 ? NULL : argument;
}
int main(void)
{
	run_two(give, take);
	return 0;
}
