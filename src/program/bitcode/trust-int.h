/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which parts of a program's own link line are used.  The line is stored in the program,
 * so it is not trusted.  It must not choose which program is executed, load a plug-in into one, or
 * name a file to be written.
 */
#ifndef BITCODE_TRUST_INT_H
#define BITCODE_TRUST_INT_H

#include "bitcode/line.h"

#include <stddef.h>

/* Returns the compiler to link with.  It is always our own.  The link line only decides between C
 * and C++. */
const char *bitcode_trusted_driver(const char *driver);

/* Returns how many items to leave out, beginning with `item`, which is an option for the driver or
 * the linker and may have a value.  Returns 0 if the option is known and harmless. */
size_t bitcode_distrusted(const struct bitcode_item *item, const struct bitcode_item *end);

/* Returns true if the path of a file may be passed to the linker.  The path must be absolute, so
 * that it cannot be mistaken for an option. */
bool bitcode_trusted_path(const char *path);

/* Returns the linker option of that name if its value is a file that the linker reads.  Otherwise
 * returns NULL.  The name is given without dashes. */
const char *bitcode_file_option(const char *name, size_t length);

/* Returns true if this is a linker option that is followed by the name of a file that the linker
 * reads, such as "--version-script=". */
bool bitcode_trusted_file_option(const char *option);

#endif
