// SPDX-License-Identifier: Apache-2.0
// expect: deadlock lock
// status: 142
// recorded: hangs for certain; an alarm ends it.
/* A reader asks for the write lock without leaving. */
#include "case.h"

RWLOCK(lock);
int main(void)
{
	READ(lock);
	alarm(1);
	WRITE(lock);
	return 0;
}
