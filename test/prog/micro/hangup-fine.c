// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the giver is done before the taker finds the end of the pipe.
/* The giver closes the pipe, and the end of file that the taker reads orders the threads. */
#include "case.h"

static int ends[2], data;
THREAD(give)
{
	UNUSED;
	data = 7;
	close(ends[1]);
	return NULL;
}
THREAD(take)
{
	char got;

	return read(ends[0], &got, 1) == 0 && data < 8 ? NULL : argument;
}
int main(void)
{
	if (pipe(ends) != 0)
		return 1;
	run_two(give, take);
	return 0;
}
