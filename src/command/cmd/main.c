// SPDX-License-Identifier: Apache-2.0
/* The entry point of `raddle`.  If standard output could not be written, the exit status is
 * CMD_FAILED. */
#include "cmd/cmd-int.h"

#include "base/error.h"
#include "base/terminal.h"

#include <errno.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int status;

	rd_terminal_occupy();
	rd_terminal_stderr();
	if (argc < 1)
		return CMD_FAILED;
	status = cmd_run(argc, argv);
	errno = 0;
	if (fflush(stdout) || ferror(stdout)) {
		if (errno)
			rd_fail_errno("cannot write to standard output");
		else
			rd_fail(RD_ESYSTEM, "cannot write to standard output");
		return CMD_FAILED;
	}
	return status;
}
