// SPDX-License-Identifier: Apache-2.0
// expect: race data
// recorded: the giver is done before the taker finds the end of the pipe.
/* The giver closes the pipe before it writes the data. */
#include "case.h"

static int ends[2], data;
THREAD(give)
{
	UNUSED;
	close(ends[1]);
	data = 7;
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
