// SPDX-License-Identifier: Apache-2.0
// expect: race table
// recorded: the initialiser has run before the other thread looks.
/* The table is used without a check that it is initialised. */
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
	return NULL;
}
THREAD(hope)
{
	UNUSED;
	return table == 42 ? NULL : argument;
}
int main(void)
{
	run_two(use, hope);
	return 0;
}
