// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: one thread is done before the other begins.
/* Peterson's lock, but the second thread does not wait. */
#include "case.h"

static atomic_int wants[2];
static int x;
THREAD(add)
{
	UNUSED;
	atomic_store(&wants[0], 1);
	while (atomic_load(&wants[1]))
		sched_yield();
	x++;
	atomic_store(&wants[0], 0);
	return NULL;
}
THREAD(rush)
{
	UNUSED;
	atomic_store(&wants[1], 1);
	x++;
	atomic_store(&wants[1], 0);
	return NULL;
}
int main(void)
{
	run_two(add, rush);
	return x < 1;
}
