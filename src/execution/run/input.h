/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input for a program that is run repeatedly.  Each run gets the same bytes. */
#ifndef RUN_INPUT_H
#define RUN_INPUT_H

#include <stdbool.h>
#include <sys/types.h>

struct run_input {
	char *file;   /* the file that later runs read; NULL if they get no input */
	off_t offset; /* offset at which the input begins in the file */
	char *shown;  /* how the user would write the input after `<`; NULL if it has no name */
	bool typed;   /* the input is a terminal, so later runs get no input */
	int first;    /* descriptor for the first run */
	/* Process that copies a pipe to the first run and to `file`; 0 if not needed. */
	pid_t pump;
};

/* Inspects the standard input of this process.  If it is a pipe, its content is copied to the file
 * `spool` while the first run reads it.  The caller must close `in`, even after a failure. */
int run_input_open(struct run_input *in, const char *spool);
/* Does the same as run_input_open(), but the copy is complete before the first run. */
int run_input_open_whole(struct run_input *in, const char *spool);
void run_input_first_ended(struct run_input *in);
/* Returns a descriptor for a later run, or -1 after printing a message. */
int run_input_again(const struct run_input *in);
void run_input_close(struct run_input *in);

#endif
