/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Libraries that are loaded when they are needed, such as Z3: commands that do not need them start fast, and
 * machines that lack them can do everything else.
 */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* A function: its name in the library, and where its address goes. */
struct rd_library_function {
	const char *name;
	void *to; /* of a pointer to a function */
};

/* The handle of the library with all these functions.  NULL, and none is set: it or one of them is missing.
 */
void *rd_library_open(const char *library, const struct rd_library_function *functions, size_t count);
void rd_library_close(void *handle); /* NULL is fine */

#endif
