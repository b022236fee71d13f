/* SPDX-License-Identifier: Apache-2.0 */
/* Warns about documents that determine what is run but may have been written by another user. */
#ifndef BASE_STRANGER_H
#define BASE_STRANGER_H

#include <stddef.h>

/* The programs that will be run because of a document.  Members may be NULL. */
struct rd_stranger {
	const char *const *argv; /* the words of the program's command, of which there are `argc` */
	size_t argc;
	const char *with, *setup, *filter, *plugins;
};

/* Warns if the file at `path`, or its directory, belongs to another user or can be written by
 * other users.  The warning states the reason and the commands that will be run. */
void rd_stranger_warn(const char *path, const struct rd_stranger *what);

#endif
