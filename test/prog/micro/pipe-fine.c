// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the giver is done before the taker reads the pipe.
/* The byte that is sent through a pipe orders the accesses to data. */
#include "case.h"

static int ends[2], data;
THREAD(give)
{
	UNUSED;
	data = 7;
	return write(ends[1], "x", 1) == 1 ? NULL : argument;
}
THREAD(take)
{
	char got;

	return read(ends[0], &got, 1) == 1 && data == 7 ? NULL : argument;
}
int main(void)
{
	if (pipe(ends) != 0)
		return 1;
	run_two(give, take);
	return 0;
}
