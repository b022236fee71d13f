// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the giver is done before the taker asks.
/* The pipe is polled but never read: its readiness orders the threads. */
#include "case.h"

#include <poll.h>

static int ends[2], data;
THREAD(give)
{
	UNUSED;
	data = 7;
	return write(ends[1], "x", 1) == 1 ? NULL : argument;
}
THREAD(take)
{
	struct pollfd end = {.fd = ends[0], .events = POLLIN};

	return poll(&end, 1, -1) == 1 && data < 8 ? NULL : argument;
}
int main(void)
{
	if (pipe(ends) != 0)
		return 1;
	run_two(give, take);
	return 0;
}
