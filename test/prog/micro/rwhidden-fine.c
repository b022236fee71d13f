// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the reader has left before the writer enters.
/* x is only read by the reader, inside. */
#include "case.h"

RWLOCK(lock);
static int x, y;
THREAD(look)
{
	UNUSED;
	READ(lock);
	int seen = y + x;
	LEAVE(lock);
	return seen < 0 ? argument : NULL;
}
THREAD(set)
{
	UNUSED;
	WRITE(lock);
	y = 2;
	x = 2;
	LEAVE(lock);
	return NULL;
}
int main(void)
{
	run_two(look, set);
	return x + y == 0;
}
