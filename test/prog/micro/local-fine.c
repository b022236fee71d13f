// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one is done before the other begins.
/* Each thread has its own. */
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
