/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run with another input (base/override.h).  Arguments are replaced; variables are set here while the
 * program is started; standard input is a file of ours.  A file that the program reads is replaced in a copy
 * of the working directory, made of links: the user's own files are not touched.  A file that an argument
 * names is replaced there, and the argument changed.
 */
#ifndef RUN_OVERRIDE_H
#define RUN_OVERRIDE_H

#include "base/override.h"

#include <stdbool.h>

struct run_override {
	struct rd_override given; /* a copy */
	char **argv;		  /* with which it is run */
	char **owned;		  /* strings of ours in it */
	size_t owned_count, owned_capacity;
	int input;	 /* descriptor of standard input; -1: as before */
	char *directory; /* where it is run; NULL: here */
	bool entered;
	char **saved; /* values of variables that were set, NULL: it was not there */
};

/* `scratch` is a directory to be made.  To be closed also after a failure. */
int run_override_open(struct run_override *r, const struct rd_override *given, char *const *argv,
		      const char *scratch);
void run_override_close(struct run_override *r);

/* Around the start of the program. */
void run_override_enter(struct run_override *r);
void run_override_leave(struct run_override *r);

#endif
