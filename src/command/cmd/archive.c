// SPDX-License-Identifier: Apache-2.0
/*
 * raddle-llvm-ar and raddle-llvm-ranlib.  CMake mistakes "raddle-" for the prefix of a cross
 * compiler, and looks for archivers with that prefix when it uses link-time optimisation.  These
 * two programs replace themselves with the compiler's own archivers, or else with those of the
 * system.  The system's archivers suffice because `raddle cc` makes ELF objects.
 */
#include "cmd/cmd-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cmd_archive(const char *tool, char **argv)
{
	char *versioned = rd_xasprintf("llvm-%s-" RADDLE_LLVM, tool);

	RD_ASSERT(!strcmp(tool, "ar") || !strcmp(tool, "ranlib"));
	argv[0] = versioned;
	execvp(versioned, argv);
	execvp(tool, argv);
	rd_fail_errno("neither %s nor %s can be run", versioned, tool);
	free(versioned);
	return CMD_FAILED;
}
