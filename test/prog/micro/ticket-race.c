// SPDX-License-Identifier: Apache-2.0
// expect: race x 1 speculative
// recorded: the first thread has counted before the second does.
/* An atomic counter that both threads increment hides the race. */
#include "case.h"

static atomic_int count;
static int x;
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
	atomic_fetch_add(&count, 1);
	x = 2;
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return x == 0;
}
