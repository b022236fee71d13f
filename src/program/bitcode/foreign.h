/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code in a program that Raddle did not compile and that could order its threads: what it does with memory is
 * in no trace, so a detector that sees no order between two accesses may just not have seen it.
 */
#ifndef BITCODE_FOREIGN_H
#define BITCODE_FOREIGN_H

#include "base/process.h"
#include "bitcode/modules.h"

#include <stdbool.h>

/* Whether a shared library of this file name orders threads only by what the runtime interposes, or not at
 * all. */
bool bitcode_foreign_is_known(const char *name);

/* The native libraries, objects and archive members of a program and of its libraries that carry bitcode, and
 * assembler at the top of files or with memory that it does not name.  `flavoured` has the flavoured files,
 * which say the latter. */
void bitcode_foreign_list(const struct bitcode_modules *all, const struct rd_argv *flavoured,
			  struct rd_argv *out);

#endif
