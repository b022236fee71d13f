// SPDX-License-Identifier: Apache-2.0
// expect: race x 1 speculative
// recorded: first is done before second, which reads what first wrote.
/* Second reads y, and does the same whatever it reads: only a replay can show that. */
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
