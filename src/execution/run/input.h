/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input for a program that is run repeatedly: each run gets the same bytes. */
#ifndef RUN_INPUT_H
#define RUN_INPUT_H

#include <stdbool.h>
#include <sys/types.h>

struct run_input {
	char *file;   /* read by later runs; NULL: they get no input */
	off_t offset; /* where the input begins in it */
	char *shown;  /* the user's name for it after `<`; NULL: unnamed */
	bool typed;   /* it is a terminal: later runs get no input */
	int first;    /* descriptor for the first run */
	pid_t pump;   /* process that copies a pipe to the first run and to `file`; 0: not needed */
};

/* Inspects our own standard input.  A pipe is copied to the file `spool` while the first run reads
 * it.  Must be closed even after a failure. */
int run_input_open(struct run_input *in, const char *spool);
int run_input_open_whole(struct run_input *in,
			 const char *spool); /* the copy is complete before the first run */
void run_input_first_ended(struct run_input *in);
int run_input_again(const struct run_input *in); /* a descriptor for a later run; -1 after a message */
void run_input_close(struct run_input *in);

#endif
