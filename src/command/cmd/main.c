// SPDX-License-Identifier: Apache-2.0
/* The entry of `raddle`.  Output that could not be written turns any success into a failure. */
#include "cmd/cmd.h"

#include "base/error.h"
#include "base/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

/* A closed standard stream would give its number to the next file opened, which
 * then received our messages.  Opened the wrong way round, writing still fails. */
static void occupy_standard_streams(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
			abort();
}

int main(int argc, char **argv)
{
	int status;

	occupy_standard_streams();
	rd_terminal_stderr();
	if (argc < 1)
		return CMD_FAILED;
	status = cmd_run(argc, argv);
	errno = 0;
	if (fflush(stdout) || ferror(stdout)) {
		if (errno)
			rd_fail_errno("standard output: cannot write it");
		else
			rd_fail(RD_ESYSTEM, "standard output: cannot write it");
		return CMD_FAILED;
	}
	return status;
}
