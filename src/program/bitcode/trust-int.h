/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program contains the link line with which it was made.  When the program is linked again, the
 * functions below decide which parts of this line are used.  Link lines are not trusted, because
 * anyone can write them.  A link line must not choose which program is executed, load a plug-in,
 * or name a file to be written.
 */
#ifndef BITCODE_TRUST_INT_H
#define BITCODE_TRUST_INT_H

#include "bitcode/line.h"

#include <stddef.h>

/* Returns the compiler to link with, which is always the clang that Raddle uses.  The link line
 * decides only between the drivers for C and C++. */
const char *bitcode_trusted_driver(const char *driver);

/* Returns the number of items of the link line to leave out, beginning with `item`, which is an
 * option and may be followed by its value.  Returns 0 if the option is known to be harmless. */
size_t bitcode_distrusted(const struct bitcode_item *item, const struct bitcode_item *end);

/* Returns true if the path of a file may be passed to the linker.  The path must be absolute, so
 * that it cannot be mistaken for an option. */
bool bitcode_trusted_path(const char *path);

/* Returns the linker option with this name, which is given without dashes, if the value of the
 * option is a file that the linker reads.  Otherwise returns NULL. */
const char *bitcode_file_option(const char *name, size_t length);

/* Returns true if this is a linker option that is followed by the name of a file that the linker
 * reads, such as "--version-script=". */
bool bitcode_trusted_file_option(const char *option);

#endif
