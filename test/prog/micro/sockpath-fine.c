// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the giver is done before the taker reads.
/* A connection through a socket in the file system orders the threads, whatever address length is
 * given. */
#include "case.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static int ends[2], data;
THREAD(give)
{
	data = 7;
	return write(ends[1], "x", 1) == 1 ? NULL : argument;
}
THREAD(take)
{
	char got;

	return read(ends[0], &got, 1) == 1 && data < 8 ? NULL : argument;
}
int main(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);

	/* Several replays run at the same time, so each needs its own name. */
	snprintf(name.sun_path, sizeof name.sun_path, "sockpath-%d", (int)getpid());
	ends[1] = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&name, sizeof name) != 0 || listen(listener, 1) != 0 ||
	    connect(ends[1], (struct sockaddr *)&name, sizeof name) != 0)
		return 1;
	unlink(name.sun_path);
	ends[0] = accept(listener, NULL, NULL);
	run_two(give, take);
	return 0;
}
