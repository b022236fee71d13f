// SPDX-License-Identifier: Apache-2.0
// expect: race data
// recorded: the giver is done before the taker reads the pipe.
/* The data are written after the byte that announces them. */
#include "case.h"

static int ends[2], data;
THREAD(give)
{
	UNUSED;
	if (write(ends[1], "x", 1) != 1)
		return argument;
	data = 7;
	return NULL;
}
THREAD(take)
{
	char got;

	return read(ends[0], &got, 1) == 1 && data < 8 ? NULL : argument;
}
int main(void)
{
	if (pipe(ends) != 0)
		return 1;
	run_two(give, take);
	return 0;
}
