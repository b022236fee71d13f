// SPDX-License-Identifier: Apache-2.0
/*
 * raddle-llvm-ar and raddle-llvm-ranlib.  CMake takes "raddle-" for the prefix of a cross compiler,
 * and for link-time optimisation it looks for archivers with that prefix.  These two programs run
 * the compiler's own archivers, or else those of the system, which suffice because `raddle cc`
 * makes ELF objects.  In: arguments.  Out: this process becomes the archiver.
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
