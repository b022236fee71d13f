// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one thread is done before the other begins.
/* The table is initialised by pthread_once(). */
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
