// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the first thread is done before the second begins.
/* One access is atomic, the other is not. */
#include "case.h"

static _Atomic int x;
THREAD(first)
{
	UNUSED;
	atomic_store_explicit(&x, 1, memory_order_release);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	*(int *)&x = 2;
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return 0;
}
