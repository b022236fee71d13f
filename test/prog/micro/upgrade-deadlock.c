// SPDX-License-Identifier: Apache-2.0
// expect: deadlock lock
// status: 142
// recorded: the program hangs for certain; an alarm ends it.
/* A reader requests the write lock without releasing the read lock. */
#include "case.h"

RWLOCK(lock);
int main(void)
{
	READ(lock);
	alarm(1);
	WRITE(lock);
	return 0;
}
