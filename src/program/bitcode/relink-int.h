/* SPDX-License-Identifier: Apache-2.0 */
/* Linking a program again with other objects. */
#ifndef BITCODE_RELINK_INT_H
#define BITCODE_RELINK_INT_H

#include "base/process.h"
#include "bitcode/program.h"

struct bitcode_relink {
	const struct bitcode_program *program; /* what to link again */
	const struct rd_argv *objects;	       /* in place of its bitcode units */
	const char *work;		       /* an existing directory for files of the link */
	const char *output;
	const char *soname;	 /* a library's name if its link line gives none; NULL for a program */
	const char *found_in;	 /* where the loader will find flavoured libraries; may be NULL */
	const char *linked_from; /* where they are now; may be NULL */
	const char *runtime, *static_runtime; /* names of the libraries to add to programs */
	bool verbose;
};

int bitcode_relink(const struct bitcode_relink *r);

/* Whether the link line depends on the program's directory. */
bool bitcode_relink_uses_origin(const struct bitcode_line *line);

#endif
