/* SPDX-License-Identifier: Apache-2.0 */
/* A full trace with canonical names for threads, memory and pointers. */
#ifndef DUMP_SANITIZE_H
#define DUMP_SANITIZE_H

#include <stdbool.h>
#include <stdio.h>

struct dump_sanitize_options {
	const char *thread; /* the canonical name of the thread to show; NULL for all */
	/* The directory in which to write a file for each thread, or NULL to write to the
	 * stream. */
	const char *directory;
	bool json; /* whether to write JSON; only if there is no directory */
};

int dump_sanitized(const char *path, const struct dump_sanitize_options *options, FILE *out);

#endif
