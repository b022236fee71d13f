// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the reader has left before the writer enters.
/* The recorded order of a read section and a write section hides the race. */
#include "case.h"

RWLOCK(lock);
static int x, y;
THREAD(look)
{
	UNUSED;
	x = 1;
	READ(lock);
	int seen = y;
	LEAVE(lock);
	return seen < 0 ? argument : NULL;
}
THREAD(set)
{
	UNUSED;
	WRITE(lock);
	y = 2;
	LEAVE(lock);
	x = 2;
	return NULL;
}
int main(void)
{
	run_two(look, set);
	return x + y == 0;
}
