/* SPDX-License-Identifier: Apache-2.0 */
/* Library functions that read or write memory to which an argument points (raddle/libc.inc). */
#ifndef INSTR_LIBC_H
#define INSTR_LIBC_H

#include "instr/scan/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How to compute the number of bytes that a library function reads or writes.  `a` and `b` are
 * numbers in a row of raddle/libc.inc; "argument a" is argument number a of the call. */
enum instr_length {
	LENGTH_FIXED,	     /* a bytes; nothing if the pointer is NULL */
	LENGTH_ARG,	     /* argument a */
	LENGTH_ARG_TIMES,    /* argument a times b */
	LENGTH_PRODUCT,	     /* argument a times argument b */
	LENGTH_RESULT,	     /* the result, if positive, times a */
	LENGTH_RESULT_TIMES, /* the result times argument a */
	/* The result of the call + 1, but at most argument a (no limit if a < 0).  Nothing if the
	 * result is negative. */
	LENGTH_PRINTED,
	LENGTH_STRING,	   /* the string and its NUL */
	LENGTH_STRING_MAX, /* the string and its NUL, at most argument a */
	LENGTH_STRING_IF,  /* like STRING_MAX, after the call, unless it returned NULL */
	/* The number of bytes that a comparison with the string in argument a reads, but at most
	 * argument b (no limit if b < 0). */
	LENGTH_COMMON,
	/* The bytes from the argument to the result of the call, which points into the same
	 * memory.  If the result is NULL, argument a is the number of bytes (if a < 0, the whole
	 * string is read). */
	LENGTH_FOUND,
	LENGTH_COPIED,	 /* a copy of the string in argument a, at most argument b (no limit if b < 0) */
	LENGTH_APPENDED, /* the string in argument a (at most b), after the string that is there */
	/* The following are for arguments that a format describes (instr_libc_of_format()).  NULL
	 * is printed as "(null)". */

	/* The string, but at most a bytes (no limit if a < 0).  If b >= 0, argument b is the limit
	 * instead. */
	LENGTH_PRINTED_STRING,
	LENGTH_SCANNED, /* a bytes, but only if the result is more than b */
	/* The string and its NUL, but at most a bytes (no limit if a < 0).  Nothing unless the
	 * result of the call is greater than b. */
	LENGTH_SCANNED_STRING,
	/* No memory.  The argument is a file descriptor, which is used (R) or closed (W). */
	LENGTH_DESCRIPTOR,
	LENGTH_OPENED, /* no memory; the result is a file descriptor */
};

struct instr_libc {
	const char *name;
	int argument;
	bool write;
	bool is_checked; /* true if the kernel checks the pointer, so that it may be invalid */
	enum instr_length length;
	int a, b;
};

/* Returns the rows of a function and stores their number in *count.  Returns NULL if the function
 * has no rows. */
const struct instr_libc *instr_libc_find(const char *name, size_t *count);

/* Returns a row for the memory that a conversion of a format reads or writes.  It is never
 * freed. */
const struct instr_libc *instr_libc_of_format(const struct instr_conversion *c);

/* Returns true if the function writes to a stream or descriptor. */
bool instr_libc_emits(const char *name);

/* Returns true if the length is known only after the call has returned. */
bool instr_libc_after(const struct instr_libc *row);

#endif
