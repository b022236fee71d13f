/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads libraries such as Z3 only when they are needed.  So commands that do not need them start
 * fast, and machines without them can do everything else.
 */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* The name of a function in the library, and where to store its address. */
struct rd_library_function {
	const char *name;
	void *to; /* points to a function pointer, which gets the address */
};

/* Returns the handle of a library that has all these functions.  If the library or one of the
 * functions is missing, returns NULL and sets no pointer. */
void *rd_library_open(const char *library, const struct rd_library_function *functions, size_t count);
void rd_library_close(void *handle); /* the handle may be NULL */

#endif
