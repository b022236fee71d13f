// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread is done before the second begins.
/* A hand-made spin lock protects x. */
#include "case.h"

static atomic_flag lock = ATOMIC_FLAG_INIT;
static int x;
THREAD(add)
{
	UNUSED;
	while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
		sched_yield();
	x++;
	atomic_flag_clear_explicit(&lock, memory_order_release);
	return NULL;
}
int main(void)
{
	run_two(add, add);
	return x != 2;
}
