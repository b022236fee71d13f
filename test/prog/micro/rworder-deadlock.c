// SPDX-License-Identifier: Apache-2.0
// expect: deadlock a,b
// recorded: the first thread is done before the second begins.
/* Two read-write locks: each thread holds one for reading and wants the other for writing. */
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
