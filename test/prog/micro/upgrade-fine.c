// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one thread is done before the other begins.
/* A reader releases the read lock before it requests the write lock. */
#include "case.h"

RWLOCK(lock);
static int x;
THREAD(raise)
{
	UNUSED;
	READ(lock);
	int seen = x;
	LEAVE(lock);
	WRITE(lock);
	x += seen + 1;
	LEAVE(lock);
	return NULL;
}
int main(void)
{
	run_two(raise, raise);
	return x < 1;
}
