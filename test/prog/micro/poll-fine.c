// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the giver is done before the taker asks.
/* The byte sent through a pipe orders the accesses; the taker polls the pipe without blocking. */
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

	while (read(ends[0], &got, 1) != 1)
		sched_yield();
	return data == 7 ? NULL : argument;
}
int main(void)
{
	if (pipe2(ends, O_NONBLOCK) != 0)
		return 1;
	run_two(give, take);
	return 0;
}
