/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A streaming JSON writer: large output without a tree in memory.  Commas and
 * quoting are its business; nesting mistakes are RD_BUGs.  Strings that are not
 * UTF-8 have each bad byte written as U+FFFD.  A finished document is ended by a
 * newline.  Reading is in json-read.h.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct rd_json {
	FILE *out;
	unsigned depth;
	bool indent; /* a line for each member or element of the outer two levels */
	uint8_t state[64];
};

/* The length of the UTF-8 sequence of two to four bytes at s, a NUL-terminated
 * text, or 0 if the byte there starts none. */
unsigned rd_utf8_length(const unsigned char *s);

void rd_json_begin(struct rd_json *j, FILE *out);
void rd_json_object(struct rd_json *j, const char *name); /* name NULL: element of an array or top level */
void rd_json_array(struct rd_json *j, const char *name);
void rd_json_end(struct rd_json *j); /* closes the innermost object or array */
void rd_json_string(struct rd_json *j, const char *name, const char *value); /* NULL: null */
void rd_json_number(struct rd_json *j, const char *name, int64_t value);
void rd_json_unsigned(struct rd_json *j, const char *name, uint64_t value);
void rd_json_double(struct rd_json *j, const char *name, double value);
void rd_json_bool(struct rd_json *j, const char *name, bool value);
void rd_json_null(struct rd_json *j, const char *name);

#endif
