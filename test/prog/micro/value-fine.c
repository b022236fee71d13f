// SPDX-License-Identifier: Apache-2.0
// expect: none
// drop: race x 1
// recorded: the first thread is done before the second, which reads what the first wrote.
/* The second thread accesses x only after it has seen that the first is done with it. */
#include "case.h"

MUTEX(m);
static int x, y;
THREAD(first)
{
	UNUSED;
	x = 1;
	LOCK(m);
	y = 1;
	UNLOCK(m);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	LOCK(m);
	int done = y;
	UNLOCK(m);
	if (done)
		x = 2;
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return x + y == 0;
}
