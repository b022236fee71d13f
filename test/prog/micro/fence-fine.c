// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the giver is done before the taker looks.
/* The flag has relaxed order; a fence in each thread orders the accesses to data. */
#include "case.h"

static atomic_int flag;
static int data;
THREAD(give)
{
	UNUSED;
	data = 7;
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&flag, 1, memory_order_relaxed);
	return NULL;
}
THREAD(take)
{
	UNUSED;
	while (!atomic_load_explicit(&flag, memory_order_relaxed))
		sched_yield();
	atomic_thread_fence(memory_order_acquire);
	return data == 7 ? NULL : argument;
}
int main(void)
{
	run_two(give, take);
	return 0;
}
