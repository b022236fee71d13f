// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the giver is done before the taker reads.
/* A message from one end of a socket pair to the other orders the threads. */
#include "case.h"

#include <sys/socket.h>

static int ends[2], data;
THREAD(give)
{
	data = 7;
	return send(ends[1], "x", 1, 0) == 1 ? NULL : argument;
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
