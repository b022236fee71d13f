// SPDX-License-Identifier: Apache-2.0
/*
 * Commands with their own executables.  Each of these is `raddle` with one more component linked
 * in.  The hive needs an HTTP server, TLS and two databases, and a site needs an HTTP client.
 * Separate executables keep these libraries out of `raddle cc` and the other commands.
 */
#include "cmd/handover-int.h"

#include "base/error.h"
#include "base/file.h"
#include "cmd/cmd-int.h"

#include <stdlib.h>
#include <unistd.h>

int cmd_hand_over(const char *name, char **argv)
{
	char *path;

	RD_ASSERT(argv[0]); /* argv[0] is replaced by the path of the executable below */
	if (rd_support_file(name, &path))
		return CMD_FAILED;
	argv[0] = path; /* the name of the executable selects the command */
	execv(path, argv);
	rd_fail_errno("cannot run %s", path);
	free(path);
	return CMD_FAILED;
}
