// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread is done before the second begins.
/* google/sanitizers #1862: both threads take the second lock for reading. */
#include "case.h"

RWLOCK(a);
RWLOCK(b);
THREAD(first)
{
	UNUSED;
	READ(a);
	READ(b);
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
