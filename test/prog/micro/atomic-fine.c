// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the giver is done before the taker looks.
/* Published with a release store, read with an acquire load. */
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
