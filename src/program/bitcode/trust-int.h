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

/* The compiler to link with: our own, for C or C++ as in the link line. */
const char *bitcode_trusted_driver(const char *driver);

/* How many items starting at `item` must be left out: an option for the driver or the linker, and
 * its value.  0: the option is known and harmless. */
size_t bitcode_distrusted(const struct bitcode_item *item, const struct bitcode_item *end);

/* Whether a file may be named like this: only by its absolute path, so that it cannot be mistaken
 * for an option. */
bool bitcode_trusted_path(const char *path);

/* The linker option of that name, without dashes, if its value is a file that the linker reads;
 * else NULL. */
const char *bitcode_file_option(const char *name, size_t length);

/* Whether this is a linker option that ends with the name of a file that the linker reads, such as
 * "--version-script=". */
bool bitcode_trusted_file_option(const char *option);

#endif
