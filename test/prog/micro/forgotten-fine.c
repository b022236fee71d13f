// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the second thread runs last.
/* Each thread releases the mutex. */
#include "case.h"

MUTEX(m);
static int data;
THREAD(use)
{
	LOCK(m);
	data++;
	UNLOCK(m);
	return argument;
}
THREAD(forget)
{
	LOCK(m);
	data++;
	UNLOCK(m);
	return argument;
}
int main(void)
{
	run_two(use, forget);
	return 0;
}
