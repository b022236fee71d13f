// SPDX-License-Identifier: Apache-2.0
/*
 * raddle-llvm-ar and raddle-llvm-ranlib.  In the name raddle-cc CMake sees the prefix of a cross compiler,
 * and when it is to optimise at link time it looks for an archiver with that prefix beside it.  These are the
 * ones that come with the compiler, or else the system's: objects of raddle cc are ELF files.  In: arguments.
 * Out: that program in place of ours.
 */
#include "cmd/cmd-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <unistd.h>

int cmd_archive(const char *tool, char **argv)
{
	char *versioned = rd_xasprintf("llvm-%s-" RADDLE_LLVM, tool);

	argv[0] = versioned;
	execvp(versioned, argv);
	execvp(tool, argv);
	rd_fail_errno("neither %s nor %s can be run", versioned, tool);
	free(versioned);
	return CMD_FAILED;
}
