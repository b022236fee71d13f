/* SPDX-License-Identifier: Apache-2.0 */
/* Library functions that read or write memory given by pointer (raddle/libc.inc). */
#ifndef INSTR_LIBC_H
#define INSTR_LIBC_H

#include "instr/scan/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many bytes of the argument are read or written.  `a` and `b` are the numbers in the row. */
enum instr_length {
	LENGTH_FIXED,	     /* a bytes; nothing if the pointer is NULL */
	LENGTH_ARG,	     /* argument a */
	LENGTH_ARG_TIMES,    /* argument a times b */
	LENGTH_PRODUCT,	     /* argument a times argument b */
	LENGTH_RESULT,	     /* the result, if positive, times a */
	LENGTH_RESULT_TIMES, /* the result times argument a */
	LENGTH_PRINTED,	     /* the result + 1, if not negative, and at most argument a (a < 0: no limit) */
	LENGTH_STRING,	     /* the string with its end */
	LENGTH_STRING_MAX,   /* the string with its end, at most argument a */
	LENGTH_STRING_IF,    /* after the call, unless it returned NULL: as STRING_MAX */
	LENGTH_COMMON,	     /* what comparing with argument a reads; at most argument b (b < 0: no limit) */
	LENGTH_FOUND,	 /* up to the result, which points into it; if NULL: argument a (a < 0: the string) */
	LENGTH_COPIED,	 /* a copy of the string in argument a, at most argument b (b < 0: no limit) */
	LENGTH_APPENDED, /* the string in argument a (at most b) after the one that is there */
	/* For arguments that a format describes (instr_libc_of_format()); NULL is printed as
	 * "(null)". */
	LENGTH_PRINTED_STRING, /* at most a (a < 0: no limit) or, if b >= 0, argument b */
	LENGTH_SCANNED,	       /* a bytes, if the result is more than b */
	LENGTH_SCANNED_STRING, /* the string with its end, at most a (a < 0: no limit), if the result is more
				  than b */
	LENGTH_DESCRIPTOR, /* no memory: the argument is a file descriptor, which is used (R) or closed (W) */
	LENGTH_OPENED,	   /* no memory: the result is a file descriptor */
};

struct instr_libc {
	const char *name;
	int argument;
	bool write;
	bool is_checked; /* by the kernel: the pointer may be invalid */
	enum instr_length length;
	int a, b;
};

/* The rows of a function, *count of them; NULL if it has none. */
const struct instr_libc *instr_libc_find(const char *name, size_t *count);

/* A row for what a conversion of a format reads or writes; it lives as long as the program. */
const struct instr_libc *instr_libc_of_format(const struct instr_conversion *c);

/* Whether the function writes to a stream or descriptor. */
bool instr_libc_emits(const char *name);

/* Whether the length is known only when the call has returned. */
bool instr_libc_after(const struct instr_libc *row);

#endif
