/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run left behind: standard output and error, and files in its scratch directory.  Compared with what
 * the fault-free run left, and kept where it differs.
 */
#ifndef INJECT_OUTPUT_H
#define INJECT_OUTPUT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct inject_list;

struct inject_file {
	char *name; /* relative to the scratch directory */
	struct rd_buf data;
};

struct inject_output {
	struct rd_buf out, err;
	struct inject_file *files; /* by name */
	size_t count, capacity;
};

/* Reads the files of a directory, all of them, and the two descriptors from their beginning. */
int inject_output_gather(struct inject_output *o, const char *directory, const int *streams);
void inject_output_release(struct inject_output *o);

/* DIR/stdout, DIR/stderr and DIR/files/... */
int inject_output_save(const struct inject_output *o, const char *directory);
int inject_output_load(struct inject_output *o, const char *directory);

struct inject_judge {
	const struct inject_list *ignore; /* patterns of names; "stdout" is standard output */
	const char *filter;		  /* a command, or NULL */
};

/* Whether the two are alike in all that counts.  *name is what differs first: a file, or "stdout". */
bool inject_output_equal(const struct inject_output *golden, const struct inject_output *run,
			 const struct inject_judge *judge, const char **name);

/* What differs as a unified diff of one hunk, of a bounded size. */
void inject_output_diff(const struct inject_output *golden, const struct inject_output *run, const char *name,
			struct rd_buf *diff);

#endif
