/* SPDX-License-Identifier: Apache-2.0 */
/* A program and those of its libraries and plug-ins that contain bitcode, with site numbers for
 * their units. */
#ifndef BITCODE_MODULES_INT_H
#define BITCODE_MODULES_INT_H

#include "bitcode/library-int.h"
#include "raddle/flavour.h"

#include <xxhash.h>

struct bitcode_module_unit {
	XXH128_hash_t hash;
	uint32_t slot;
	/* Paths in the cache: the common part, the object and the sites.  They are NULL until they
	 * are set. */
	char *base, *object, *sites;
	bool made; /* true if the object exists in the cache */
};

struct bitcode_module {
	struct bitcode_program *program;
	const char *name;	       /* the module's file name */
	const struct rd_argv *aliases; /* other file names of a plug-in; NULL for the program */
	struct bitcode_module_unit *units;
	enum bitcode_role { BITCODE_PROGRAM, BITCODE_LIBRARY, BITCODE_PLUGIN } role;
	bool left_out; /* true if this is a plug-in that could not be linked again */
};

struct bitcode_modules {
	struct bitcode_program program;
	struct bitcode_libraries libraries, plugins;
	struct bitcode_module *items; /* first the libraries, then the plug-ins, then the program */
	size_t count;
};

/* Opens the modules of a program.  `all` must be zeroed.  `plugins` lists the plug-ins that the
 * user names (bitcode/plugin-int.h).  The flavour determines how many slots a unit gets.  The
 * caller must close `all` even after a failure. */
int bitcode_modules_open(struct bitcode_modules *all, const char *program, const char *plugins,
			 const struct raddle_flavour *flavour);
/* Removes all modules except the program, whose site numbers do not change. */
void bitcode_modules_keep_program(struct bitcode_modules *all);
void bitcode_modules_close(struct bitcode_modules *all);

#endif
