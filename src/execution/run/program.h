/* SPDX-License-Identifier: Apache-2.0 */
/* A program that the user named, and its flavour. */
#ifndef RUN_PROGRAM_H
#define RUN_PROGRAM_H

#include "bitcode/flavour.h"

#include <stdbool.h>

struct run_build {
	bool fast, quick; /* neither: the flavour that exists, or the one with the lower total cost */
	bool often;	  /* it will run many times */
	bool debug;	  /* with debug information */
	bool optimised;	  /* as in struct rd_flavour_opts */
	bool as_is;	  /* the program contains the runtime already: it is its own flavour */
	bool verbose;
	int64_t end_ns; /* deadline for making the flavour; 0: none */
	const char *edits;
	const char *plugins; /* all as in struct rd_flavour_opts */
};

struct run_program {
	const char *kind; /* of flavour; NULL: "record" */
	char *path;	  /* absolute */
	const char *mode; /* "fast", "quick"; NULL: unknown */
	struct rd_flavour flavour;
	struct run_build how; /* how it was built */
	char *edits;	      /* the edits of `how` that its flavour has; or NULL */
	double used_before;   /* CPU seconds of programs that ran before */
};

/* Searches for the program as a shell does, and makes its flavour.  Must be closed even after a
 * failure.  The time that the program has run until it is closed decides which code it gets next
 * time. */
int run_program_open(struct run_program *p, const char *name, const struct run_build *how);
void run_program_close(struct run_program *p);

/* Makes the flavour again if it has been removed, because the cache may be emptied at any time.  It
 * is an error if the program was rebuilt meanwhile. */
int run_program_renew(const struct run_program *p);

/* The kind of its flavour; never NULL. */
const char *run_program_kind(const struct run_program *p);

/* Whether a flavour of that name carries values (raddle/flavour.inc); NULL is "record". */
bool run_program_has_values(const char *kind);

#endif
