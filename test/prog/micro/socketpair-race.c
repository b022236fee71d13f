// SPDX-License-Identifier: Apache-2.0
// expect: race data
// recorded: the giver is done before the taker reads.
/* The message is sent before the data are written. */
#include "case.h"

#include <sys/socket.h>

static int ends[2], data;
THREAD(give)
{
	if (send(ends[1], "x", 1, 0) != 1)
		return argument;
	data = 7;
	return NULL;
}
THREAD(take)
{
	char got;

	return recv(ends[0], &got, 1, 0) == 1 && data < 8 ? NULL : argument;
}
int main(void)
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		return 1;
	run_two(give, take);
	return 0;
}
