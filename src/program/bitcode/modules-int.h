/* SPDX-License-Identifier: Apache-2.0 */
/* A program, its libraries and its plug-ins that contain bitcode, with site numbers for their
 * units. */
#ifndef BITCODE_MODULES_INT_H
#define BITCODE_MODULES_INT_H

#include "bitcode/library-int.h"
#include "raddle/flavour.h"

#include <xxhash.h>

struct bitcode_module_unit {
	XXH128_hash_t hash;
	uint32_t slot;
	char *base, *object, *sites; /* in the cache, once named */
	bool made;		     /* it exists */
};

struct bitcode_module {
	struct bitcode_program *program;
	const char *name;	       /* of the file */
	const struct rd_argv *aliases; /* other names of a plug-in; NULL for the program */
	struct bitcode_module_unit *units;
	enum bitcode_role { BITCODE_PROGRAM, BITCODE_LIBRARY, BITCODE_PLUGIN } role;
	bool left_out; /* a plug-in that could not be linked again */
};

struct bitcode_modules {
	struct bitcode_program program;
	struct bitcode_libraries libraries, plugins;
	struct bitcode_module *items; /* libraries, plug-ins, and the program is the last */
	size_t count;
};

/* `all` must be zeroed.  `plugins` are the ones that the user names (bitcode/plugin-int.h).  The
 * flavour determines how many slots a unit gets.  Must be closed even after a failure. */
int bitcode_modules_open(struct bitcode_modules *all, const char *program, const char *plugins,
			 const struct raddle_flavour *flavour);
/* Removes everything except the program; the numbers of its sites stay. */
void bitcode_modules_keep_program(struct bitcode_modules *all);
void bitcode_modules_close(struct bitcode_modules *all);

#endif
