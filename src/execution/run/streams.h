/* SPDX-License-Identifier: Apache-2.0 */
/* The standard streams of a program whose output is captured. */
#ifndef RUN_STREAMS_H
#define RUN_STREAMS_H

#include "base/buf.h"
#include "run/input.h"

#include <sys/types.h>

struct run_streams {
	int fds[3];   /* stdin, stdout and stderr, for struct run_launch */
	off_t offset; /* the offset at which the input begins in its file */
};

/* Opens the streams.  Output is written to the files `stdout` and `stderr` of a directory, or to
 * memory if `directory` is NULL.  The caller closes them even after a failure. */
int run_streams_open(struct run_streams *s, const struct run_input *input, const char *directory);
void run_streams_close(struct run_streams *s);

/* Prepares another run: rewinds the input and discards the output. */
void run_streams_rewind(const struct run_streams *s);

/* Appends to `text` what the program wrote to the stream `which`, STDOUT_FILENO or
 * STDERR_FILENO. */
int run_streams_read(const struct run_streams *s, int which, struct rd_buf *text);
/* Does the same as run_streams_read() for a stream that is given by its descriptor. */
int run_stream_read(int fd, struct rd_buf *text);

#endif
