/* SPDX-License-Identifier: Apache-2.0 */
/* Documents that determine what is run, and that another user may have written. */
#ifndef BASE_STRANGER_H
#define BASE_STRANGER_H

#include <stddef.h>

/* What is run on a document's word; members may be NULL. */
struct rd_stranger {
	const char *const *argv; /* the program, `argc` words */
	size_t argc;
	const char *with, *setup, *filter, *plugins;
};

/* If the file at `path`, or the directory it is in, belongs to another user or can be written by others, says
 * so and what will be run. */
void rd_stranger_warn(const char *path, const struct rd_stranger *what);

#endif
