// SPDX-License-Identifier: Apache-2.0
// expect: deadlock lock
// status: 142
// recorded: hangs for certain; an alarm ends it.
/* A reader asks for the write lock without leaving. */
#include "case.h"

RWLOCK(lock);
int main(void)
{
	alarm(1);
	READ(lock);
	WRITE(lock);
	return 0;
}
