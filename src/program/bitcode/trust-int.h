/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which parts of a program's own link line are used.  The line is stored in the program, so
 * it is not trusted: it must not choose which program is executed, load a plug-in into one, or name
 * a file to be written.
 */
#ifndef BITCODE_TRUST_INT_H
#define BITCODE_TRUST_INT_H

#include "bitcode/line.h"

#include <stddef.h>

/* Returns the compiler to link with.  It is always our own; the link line only decides between C
 * and C++. */
const char *bitcode_trusted_driver(const char *driver);

/* Returns the number of items to leave out from `item` on: an option for the driver or the linker,
 * and its value.  0 if the option is known and harmless. */
size_t bitcode_distrusted(const struct bitcode_item *item, const struct bitcode_item *end);

/* Returns true if a file may be passed under this path.  It must be absolute, so that it cannot be
 * mistaken for an option. */
bool bitcode_trusted_path(const char *path);

/* Returns the linker option of that name, which is given without dashes, if its value is a file
 * that the linker reads.  Else NULL. */
const char *bitcode_file_option(const char *name, size_t length);

/* Returns true if this is a linker option that ends with the name of a file that the linker reads,
 * such as "--version-script=". */
bool bitcode_trusted_file_option(const char *option);

#endif
