/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds foreign code, which is code in a program that Raddle did not compile and that could order
 * threads.  The accesses of foreign code are not in the trace.  Therefore a race detector may not
 * notice that foreign code orders two accesses.
 */
#ifndef BITCODE_FOREIGN_INT_H
#define BITCODE_FOREIGN_INT_H

#include "base/process.h"
#include "bitcode/modules-int.h"

#include <stdbool.h>

/* Returns true if a shared library with this file name does not order threads, or orders them only
 * through interposed functions. */
bool bitcode_foreign_is_known(const char *name);

/* Lists the foreign code of a program and of its libraries that contain bitcode.  Foreign code
 * includes native libraries, objects and archive members, assembler at file scope, and
 * assembler that accesses memory without declaring it as an operand.  Assembler of the last kind
 * is listed in a section of the files in `flavoured`. */
void bitcode_foreign_list(const struct bitcode_modules *all, const struct rd_argv *flavoured,
			  struct rd_argv *out);

#endif
