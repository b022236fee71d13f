// SPDX-License-Identifier: Apache-2.0
// expect: deadlock a,b
// recorded: first is done before second begins.
/* Two read-write locks: each reads one and wants to write the other. */
#include "case.h"

RWLOCK(a);
RWLOCK(b);
THREAD(first)
{
	UNUSED;
	READ(a);
	WRITE(b);
	LEAVE(b);
	LEAVE(a);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	READ(b);
	WRITE(a);
	LEAVE(a);
	LEAVE(b);
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return 0;
}
