/* SPDX-License-Identifier: Apache-2.0 */
/* The output of a run: the text of its streams, and the files in its directory. */
#ifndef RUN_OUTPUT_H
#define RUN_OUTPUT_H

#include "base/buf.h"
#include "run/streams.h"

#include <stddef.h>

struct run_file {
	char *name; /* relative to the directory */
	struct rd_buf data;
};

struct run_output {
	struct rd_buf out, err;
	struct run_file *files; /* sorted by name */
	size_t count, capacity;
};

/* Reads the text of the streams, and all files of a directory, which may be NULL.  The caller
 * releases the output even after a failure. */
int run_output_gather(struct run_output *o, const struct run_streams *streams, const char *directory);
void run_output_release(struct run_output *o);

/* Writes DIR/stdout, DIR/stderr and DIR/files/... */
int run_output_save(const struct run_output *o, const char *directory);
int run_output_load(struct run_output *o, const char *directory);

#endif
