/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run with another input (base/given.h).  Arguments are replaced; variables are set here while the program
 * is started; standard input is a file of ours.  A file that the program reads is replaced in a copy of the
 * working directory, made of links: the user's own files are not touched.  A file that an argument names is
 * replaced there, and the argument changed.
 */
#ifndef RUN_GIVEN_H
#define RUN_GIVEN_H

#include "base/given.h"

#include <stdbool.h>

struct run_given {
	struct rd_given given; /* a copy */
	char **argv;	       /* with which it is run */
	char **owned;	       /* strings of ours in it */
	size_t owned_count, owned_capacity;
	int input;	 /* descriptor of standard input; -1: as before */
	char *directory; /* where it is run; NULL: here */
	bool entered;
	char **saved; /* values of variables that were set, NULL: it was not there */
};

/* `scratch` is a directory to be made.  To be closed also after a failure. */
int run_given_open(struct run_given *r, const struct rd_given *given, char *const *argv, const char *scratch);
void run_given_close(struct run_given *r);

/* Around the start of the program. */
void run_given_enter(struct run_given *r);
void run_given_leave(struct run_given *r);

#endif
