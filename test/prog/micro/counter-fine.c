// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: both threads have counted before main looks.
/* Each thread increments a counter when it is done.  Main reads it before it uses their results. */
#include "case.h"

static atomic_int count;
static int x, y;
THREAD(first)
{
	UNUSED;
	x = 1;
	atomic_fetch_add(&count, 1);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	y = 1;
	atomic_fetch_add(&count, 1);
	return NULL;
}
int main(void)
{
	pthread_t a = start_settled(first, NULL), b = start_settled(second, NULL);

	while (atomic_load(&count) < 2)
		sched_yield();
	x += y;
	join(a);
	join(b);
	return x != 2;
}
