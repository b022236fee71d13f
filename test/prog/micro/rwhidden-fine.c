// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the reader has left before the writer enters.
/* The reader accesses x only inside its section. */
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
