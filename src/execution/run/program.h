/* SPDX-License-Identifier: Apache-2.0 */
/* A program that somebody named, and its flavour. */
#ifndef RUN_PROGRAM_H
#define RUN_PROGRAM_H

#include "bitcode/flavour.h"

#include <stdbool.h>

struct run_build {
	bool fast, quick; /* neither: what is there already, or else what costs less altogether */
	bool often;	  /* it will be run many times */
	bool debug;	  /* with debug information */
	bool optimised;	  /* as in struct rd_flavour_opts */
	bool as_is;	  /* the program has the runtime in it already: it is its own flavour */
	bool verbose;
	int64_t end_ns; /* when the flavour has to be there; 0: it has time */
	const char *edits;
	const char *plugins; /* all as in struct rd_flavour_opts */
};

struct run_program {
	const char *kind; /* of flavour that is wanted; NULL: "record" */
	char *path;	  /* absolute */
	const char *mode; /* "fast", "quick"; NULL: unknown */
	struct rd_flavour flavour;
	struct run_build how; /* it was built */
	char *edits;	      /* those of `how` that its flavour has; NULL */
	double used_before;   /* CPU seconds of other programs that we ran */
};

/* Looks for the program as a shell does and has its flavour made.  To be closed
 * also after a failure.  How long it ran meanwhile decides which code it gets next time. */
int run_program_open(struct run_program *p, const char *name, const struct run_build *how);
void run_program_close(struct run_program *p);

/* Makes the flavour again if it has gone since: the cache may be emptied at any time.  A program that was
 * built anew meanwhile is an error. */
int run_program_renew(const struct run_program *p);

/* The kind that it is: never NULL. */
const char *run_program_kind(const struct run_program *p);

/* Whether a flavour of that name carries values (raddle/flavour.inc); NULL is "record". */
bool run_program_has_values(const char *kind);

#endif
