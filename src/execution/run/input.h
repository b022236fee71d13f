/* SPDX-License-Identifier: Apache-2.0 */
/* What every run of a program gets as its standard input, if it is run again and again: the same bytes. */
#ifndef RUN_INPUT_H
#define RUN_INPUT_H

#include <stdbool.h>
#include <sys/types.h>

struct run_input {
	char *file;   /* what later runs read; NULL: nothing */
	off_t offset; /* from there */
	char *shown;  /* how a user names it behind `<`; NULL: not at all */
	bool typed;   /* it is a terminal: later runs get nothing */
	int first;    /* descriptor for the first run */
	pid_t pump;   /* copies a pipe to the first run and to `file`; 0: none */
};

/* Looks at our own standard input.  A pipe is copied to the file `spool` while the first run reads it.  To be
 * closed also after a failure. */
int run_input_open(struct run_input *in, const char *spool);
int run_input_open_whole(struct run_input *in, const char *spool); /* no run reads it while it is copied */
void run_input_first_ended(struct run_input *in);
int run_input_again(const struct run_input *in); /* a descriptor for a later run; -1 after a message */
void run_input_close(struct run_input *in);

#endif
