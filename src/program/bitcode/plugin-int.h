/* SPDX-License-Identifier: Apache-2.0 */
/* Finds shared objects with bitcode that a program may load by dlopen(). */
#ifndef BITCODE_PLUGIN_INT_H
#define BITCODE_PLUGIN_INT_H

#include "bitcode/library-int.h"

/* Returns true if the program can load shared objects while it runs. */
bool bitcode_loads_more(const struct bitcode_program *p);

/* Adds the plug-ins in `named`, which is NULL or a list of files and directories, separated by
 * colons.  If the program or a library can load plug-ins, also adds the plug-ins in the program's
 * directory and in its subdirectories, up to two levels deep.  Shared objects in `libraries` are
 * not plug-ins.  It is an error if a named file is missing or contains no bitcode. */
int bitcode_plugins_find(struct bitcode_libraries *plugins, const struct bitcode_libraries *libraries,
			 const struct bitcode_program *p, const char *named);

/* Closes the plug-ins that turned out to be libraries. */
void bitcode_plugins_leave_out(struct bitcode_libraries *plugins, const struct bitcode_libraries *libraries);

#endif
