/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomic operations and fences.  test/cli/record-prim.sh expects these events of the one thread:
 *
 * T_0: thread-start atomic-store atomic-load atomic-rmw atomic-rmw atomic-cas atomic-cas fence
 * T_0: atomic-rmw atomic-store exit
 */
#include <stdatomic.h>
#include <stdio.h>

static _Atomic int number;
static atomic_flag flag = ATOMIC_FLAG_INIT;

int main(void)
{
	int expected = 5;

	atomic_store_explicit(&number, 1, memory_order_release);
	atomic_load_explicit(&number, memory_order_acquire);
	atomic_fetch_add(&number, 3);
	atomic_exchange_explicit(&number, 5, memory_order_relaxed);
	atomic_compare_exchange_strong(&number, &expected, 6);
	atomic_compare_exchange_strong(&number, &expected, 7);
	atomic_thread_fence(memory_order_seq_cst);
	atomic_flag_test_and_set(&flag);
	atomic_flag_clear(&flag);
	printf("%d\n", expected);
	return 0;
}
