/* SPDX-License-Identifier: Apache-2.0 */
/* Links a program again with other objects. */
#ifndef BITCODE_RELINK_INT_H
#define BITCODE_RELINK_INT_H

#include "base/process.h"
#include "bitcode/program.h"

struct bitcode_relink {
	const struct bitcode_program *program; /* the program to link again */
	const struct rd_argv *objects;	       /* the objects that replace the program's bitcode units */
	const char *work; /* the path of an existing directory for temporary files of the link */
	const char *output;
	/* The library's name, if its link line does not state one; NULL for a program. */
	const char *soname;
	/* The directory in which the loader will find instrumented libraries.  May be NULL. */
	const char *found_in;
	const char *linked_from;	      /* the directory where these libraries are now; may be NULL */
	const char *runtime, *static_runtime; /* names of the libraries to add to programs */
	bool verbose;
};

int bitcode_relink(const struct bitcode_relink *r);

/* Returns true if the link line depends on the program's directory. */
bool bitcode_relink_uses_origin(const struct bitcode_line *line);

#endif
