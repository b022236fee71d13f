/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which parts of a program's own link line are used.  The line is stored in the program, so it is
 * not trusted: it must not choose which program is executed, load a plug-in into one, or name a
 * file to be written.
 */
#ifndef BITCODE_TRUST_INT_H
#define BITCODE_TRUST_INT_H

#include "bitcode/line.h"

#include <stddef.h>

/* The compiler to link with: ours, for C or for C++ like that of the line. */
const char *bitcode_trusted_driver(const char *driver);

/* How many items from `item` on (an option for the driver or the linker, and its value) must be
 * left out; 0: the option is known and harmless. */
size_t bitcode_distrusted(const struct bitcode_item *item, const struct bitcode_item *end);

/* Whether a file may be named like this: by its whole path, so that it cannot be taken for an
 * option. */
bool bitcode_trusted_path(const char *path);

/* The linker option of that name, without dashes, if its value is a file that the linker reads;
 * else NULL. */
const char *bitcode_file_option(const char *name, size_t length);

/* Whether this is a linker option that ends in the name of a file that the linker reads,
 * "--version-script=". */
bool bitcode_trusted_file_option(const char *option);

#endif
