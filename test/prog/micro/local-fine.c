// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one thread is done before the other begins.
/* Each thread uses its own thread-local variable. */
#include "case.h"

static _Thread_local int mine;
THREAD(add)
{
	mine++;
	return mine == 1 ? NULL : argument;
}
int main(void)
{
	run_two(add, add);
	return mine;
}
