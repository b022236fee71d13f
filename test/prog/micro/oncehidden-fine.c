// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread has initialised before the second asks.
/* As in oncehidden-race.c, but only the initialiser sets x. */
#include "case.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int x;
static void fill(void)
{
	x = 1;
}
THREAD(use)
{
	pthread_once(&once, fill);
	return x == 1 ? NULL : argument;
}
int main(void)
{
	run_two(use, use);
	return 0;
}
