/* SPDX-License-Identifier: Apache-2.0 */
/* A full trace with canonical names for threads, memory and pointers. */
#ifndef DUMP_SANITIZE_H
#define DUMP_SANITIZE_H

#include <stdbool.h>
#include <stdio.h>

struct dump_sanitize_options {
	const char *thread;    /* by its canonical name; NULL: all */
	const char *directory; /* a file for each thread goes there, nothing to the stream; NULL: none */
	bool json;	       /* without a directory */
};

int dump_sanitized(const char *path, const struct dump_sanitize_options *options, FILE *out);

#endif
