// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread is done before the second begins.
/* Both accesses are atomic, though relaxed. */
#include "case.h"

static _Atomic int x;
THREAD(add)
{
	UNUSED;
	atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
	return NULL;
}
int main(void)
{
	run_two(add, add);
	return x != 2;
}
