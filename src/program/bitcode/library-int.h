/* SPDX-License-Identifier: Apache-2.0 */
/* Finds those shared libraries of a program that `raddle cc` also built. */
#ifndef BITCODE_LIBRARY_INT_H
#define BITCODE_LIBRARY_INT_H

#include "base/process.h"
#include "bitcode/program.h"

struct bitcode_library {
	struct bitcode_program program;
	char *name;		/* the file name under which the loader looks for the library */
	struct rd_argv aliases; /* for a plug-in: the file names of symbolic links to it */
};

struct bitcode_libraries {
	struct bitcode_library *items;
	size_t count, capacity;
	/* File names of the needed libraries without bitcode, and of those in LD_PRELOAD. */
	struct rd_argv natives;
};

/* Finds the libraries of a program as the dynamic loader does: in RPATH, LD_LIBRARY_PATH, RUNPATH
 * and the system's directories.  Also finds the libraries that these libraries and the plug-ins
 * need. */
void bitcode_libraries_find(struct bitcode_libraries *l, const struct bitcode_program *p,
			    const struct bitcode_libraries *plugins);
void bitcode_libraries_release(struct bitcode_libraries *l);
void bitcode_library_close(struct bitcode_library *l);

#endif
