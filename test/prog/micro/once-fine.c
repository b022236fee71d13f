// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one is done before the other begins.
/* Initialised once. */
#include "case.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int table;
static void fill(void)
{
	table = 42;
}
THREAD(use)
{
	UNUSED;
	pthread_once(&once, fill);
	return table == 42 ? NULL : argument;
}
int main(void)
{
	run_two(use, use);
	return 0;
}
