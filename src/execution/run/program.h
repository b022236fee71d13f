/* SPDX-License-Identifier: Apache-2.0 */
/* A program that the user named, and its flavour. */
#ifndef RUN_PROGRAM_H
#define RUN_PROGRAM_H

#include "bitcode/flavour.h"

#include <stdbool.h>

struct run_build {
	/* Whether the user wants fast (optimised) or quick (not optimised) code.  If neither is
	 * set, the code in the cache is used.  If the cache has no code, the kind with the lower
	 * total cost is generated. */
	bool fast, quick;
	bool often;	/* the program will run many times */
	bool debug;	/* the flavour has debug information */
	bool optimised; /* code of the flavour `full` is instrumented after optimisation */
	bool as_is;	/* the program contains the runtime already and is its own flavour */
	bool verbose;
	int64_t end_ns; /* deadline for making the flavour; 0 for no deadline */
	const char *edits;
	const char *plugins; /* `edits` and `plugins` are as in struct rd_flavour_opts */
};

struct run_program {
	const char *kind; /* name of the flavour; NULL for "record" */
	char *path;	  /* absolute path of the program */
	const char *mode; /* "fast" or "quick"; NULL if unknown */
	struct rd_flavour flavour;
	struct run_build how; /* the options with which the flavour was built */
	/* The edits of `how` that the flavour contains; NULL if there are none. */
	char *edits;
	double used_before; /* CPU seconds used by programs that ran before */
};

/* Searches for the program as a shell does, and makes its flavour.  The caller must close the
 * program even after a failure. run_program_close() records how long the program has run.  This
 * time decides whether optimised code is generated next time. */
int run_program_open(struct run_program *p, const char *name, const struct run_build *how);
void run_program_close(struct run_program *p);

/* Makes the flavour again if it has been removed, because the cache may be emptied at any time.
 * If the program was rebuilt meanwhile, that is an error. */
int run_program_renew(const struct run_program *p);

/* Returns the name of the program's flavour, which is never NULL. */
const char *run_program_kind(const struct run_program *p);

/* Returns true if events of the flavour `kind` carry values (raddle/flavour.inc).  NULL means
 * "record". */
bool run_program_has_values(const char *kind);

#endif
