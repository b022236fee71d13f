// SPDX-License-Identifier: Apache-2.0
// expect: race x 1 speculative
// recorded: the first thread is done before the second, which reads what the first wrote.
/* The second thread reads y but does the same whatever it reads; only a replay can show that. */
#include "case.h"

MUTEX(m);
static int x, y, seen;
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
	seen = y;
	UNLOCK(m);
	x = 2;
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return x + y < seen;
}
