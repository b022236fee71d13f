// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread is done before the second begins.
/* google/sanitizers #1862: both threads take b only for reading, so they do not wait for it. */
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
