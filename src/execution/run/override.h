/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run whose input is replaced (base/override.h):
 *   - Arguments are replaced.
 *   - Environment variables are set in this process while the program is being started.
 *   - Standard input is read from a temporary file.
 *   - Files are replaced in a copy of the working directory, which consists of links, so the
 *     user's files are not touched.
 *   - A file outside the working directory can be replaced if an argument names it: the new file
 *     is put into the copy, and the argument is changed.
 */
#ifndef RUN_OVERRIDE_H
#define RUN_OVERRIDE_H

#include "base/override.h"

#include <stdbool.h>

struct run_override {
	struct rd_override given; /* a copy of the override */
	char **argv;		  /* the arguments for the run */
	char **owned;		  /* the strings in argv that were allocated here */
	size_t owned_count, owned_capacity;
	int input;	 /* descriptor of standard input; -1 if unchanged */
	char *directory; /* working directory of the run; NULL if unchanged */
	bool entered;
	/* The former values of the variables that were set.  An entry is NULL if its variable did
	 * not exist. */
	char **saved;
};

/* Prepares a run with other input.  Creates the directory `scratch`.  The caller must call
 * run_override_close() even after a failure. */
int run_override_open(struct run_override *r, const struct rd_override *given, char *const *argv,
		      const char *scratch);
void run_override_close(struct run_override *r);

/* Call run_override_enter() before the program is started, and run_override_leave() after that. */
void run_override_enter(struct run_override *r);
void run_override_leave(struct run_override *r);

#endif
