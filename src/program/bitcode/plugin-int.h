/* SPDX-License-Identifier: Apache-2.0 */
/* Shared objects with bitcode that a program may load by dlopen(). */
#ifndef BITCODE_PLUGIN_INT_H
#define BITCODE_PLUGIN_INT_H

#include "bitcode/library-int.h"

/* Whether the program can load more than the loader does at its start. */
bool bitcode_loads_more(const struct bitcode_program *p);

/* Adds the plug-ins in `named`, files or directories separated by colons (NULL: none).  If the
 * program can load plug-ins, adds those in its own directory and in two levels below it.  Those in
 * `libraries` are not plug-ins.  A named file that is missing or contains no bitcode is an error.
 */
int bitcode_plugins_find(struct bitcode_libraries *plugins, const struct bitcode_libraries *libraries,
			 const struct bitcode_program *p, const char *named);

/* Closes those that are libraries. */
void bitcode_plugins_leave_out(struct bitcode_libraries *plugins, const struct bitcode_libraries *libraries);

#endif
