// SPDX-License-Identifier: Apache-2.0
// expect: race x 1 speculative
// recorded: the first thread is done before the second begins.
/* A hand-made spin lock uses relaxed order.  The accesses to x are never adjacent, as in
 * atomic-race.c. */
#include "case.h"

static atomic_flag lock = ATOMIC_FLAG_INIT;
static int x;
THREAD(add)
{
	UNUSED;
	while (atomic_flag_test_and_set_explicit(&lock, memory_order_relaxed))
		sched_yield();
	x++;
	atomic_flag_clear_explicit(&lock, memory_order_relaxed);
	return NULL;
}
int main(void)
{
	run_two(add, add);
	return x < 1;
}
