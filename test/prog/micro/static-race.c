// SPDX-License-Identifier: Apache-2.0
// expect: race next_id.last
// recorded: one thread is done before the other begins.
/* Two threads change a static variable of a function without a lock. */
#include "case.h"

static int next_id(void)
{
	static int last;

	return ++last;
}
THREAD(use)
{
	return next_id() > 0 ? NULL : argument;
}
int main(void)
{
	run_two(use, use);
	return 0;
}
