// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle hive`: hands over to raddle-hive, which is the same program with the hive in it.  The hive needs an
 * HTTP server, TLS and two databases; apart from it, `raddle cc` and the other commands need not load them.
 */
#include "cmd/cmd.h"

#include "base/error.h"
#include "base/file.h"

#include <stdlib.h>
#include <unistd.h>

int cmd_hive(int argc, char **argv)
{
	char *path;

	(void)argc;
	if (rd_support_file("raddle-hive", &path))
		return CMD_FAILED;
	argv[0] = path; /* by its name it knows the command */
	execv(path, argv);
	rd_fail_errno("hive: %s", path);
	free(path);
	return CMD_FAILED;
}
