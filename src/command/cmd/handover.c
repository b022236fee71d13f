// SPDX-License-Identifier: Apache-2.0
/*
 * Commands with an executable of their own, which is `raddle` with one more room in it.  The hive
 * needs an HTTP server, TLS and two databases, a site an HTTP client; apart from them, `raddle cc`
 * and the other commands need not load these libraries.
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

	RD_ASSERT(argv[0]); /* replaced by the path of the executable */
	if (rd_support_file(name, &path))
		return CMD_FAILED;
	argv[0] = path; /* by its name it knows the command */
	execv(path, argv);
	rd_fail_errno("%s", path);
	free(path);
	return CMD_FAILED;
}
