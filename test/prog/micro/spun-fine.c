// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the taker polls the flag until the giver, after a while, sets it.
/* As in atomic-fine.c, but the taker begins to poll before the flag is set. */
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
	run_two(take, give);
	return 0;
}
