/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code in a program that Raddle did not compile and that could order its threads.  Its accesses are
 * not in the trace, so a detector may miss an order between two accesses.
 */
#ifndef BITCODE_FOREIGN_INT_H
#define BITCODE_FOREIGN_INT_H

#include "base/process.h"
#include "bitcode/modules-int.h"

#include <stdbool.h>

/* Returns true if a shared library of this file name orders no threads, or only through interposed
 * functions. */
bool bitcode_foreign_is_known(const char *name);

/* Lists the code without bitcode in a program and in those of its libraries that contain bitcode:
 * native libraries, objects and archive members.  Also lists assembler at file scope, and assembler
 * that accesses memory without declaring it as an operand; a section of the files in `flavoured`
 * names this assembler. */
void bitcode_foreign_list(const struct bitcode_modules *all, const struct rd_argv *flavoured,
			  struct rd_argv *out);

#endif
