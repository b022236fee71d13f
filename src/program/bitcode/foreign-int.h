/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code in a program that could order its threads and that Raddle did not compile.  The accesses of
 * this code are not in the trace.  So if it orders two accesses of other code, a detector may not
 * notice that.
 */
#ifndef BITCODE_FOREIGN_INT_H
#define BITCODE_FOREIGN_INT_H

#include "base/process.h"
#include "bitcode/modules-int.h"

#include <stdbool.h>

/* Returns true if a shared library with this file name does not order threads, or orders them only
 * through interposed functions. */
bool bitcode_foreign_is_known(const char *name);

/* Lists the code without bitcode in a program and in those of its libraries that contain bitcode:
 * native libraries, objects and archive members.  Also lists assembler at file scope, and
 * assembler that accesses memory without declaring the memory as an operand.  The latter is named
 * in a section of the files in `flavoured`. */
void bitcode_foreign_list(const struct bitcode_modules *all, const struct rd_argv *flavoured,
			  struct rd_argv *out);

#endif
