// SPDX-License-Identifier: Apache-2.0
// missed: race x
// recorded: the first thread has initialised before the second asks.
/* pthread_once() orders the accesses to x only if the first thread is the one that initialises. */
#include "case.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int x, table;
static void fill(void)
{
	table = 1;
}
THREAD(first)
{
	UNUSED;
	x = 1;
	pthread_once(&once, fill);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	pthread_once(&once, fill);
	x = 2;
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return x + table == 0;
}
