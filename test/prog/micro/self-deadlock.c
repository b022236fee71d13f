// SPDX-License-Identifier: Apache-2.0
// expect: deadlock m
// status: 142
// recorded: the program hangs for certain; an alarm ends it.
/* A thread locks a mutex that it already holds, and hangs; an alarm ends it. */
#include "case.h"

MUTEX(m);
int main(void)
{
	LOCK(m);
	alarm(1);
	LOCK(m);
	return 0;
}
