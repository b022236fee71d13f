/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A streaming JSON writer, for large output without a tree in memory.  It adds commas and quotes.
 * A mistake in nesting is reported by RD_BUG().  In strings, each byte that is not UTF-8 is
 * written as U+FFFD.  A document ends with a newline.  json-read.h is the reader.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct rd_json {
	FILE *out;
	unsigned depth;
	bool indent; /* true if each member or element of the outer two levels gets its own line */
	uint8_t state[64];
};

/* Returns the length of the UTF-8 sequence of two to four bytes that begins at s, in a
 * NUL-terminated text.  Returns 0 if no such sequence begins there. */
unsigned rd_utf8_length(const unsigned char *s);

void rd_json_begin(struct rd_json *j, FILE *out);
/* `name` is NULL in an array and at the top level, here and below. */
void rd_json_object(struct rd_json *j, const char *name);
void rd_json_array(struct rd_json *j, const char *name);
void rd_json_end(struct rd_json *j); /* closes the innermost object or array */
/* The value NULL is written as null. */
void rd_json_string(struct rd_json *j, const char *name, const char *value);
void rd_json_number(struct rd_json *j, const char *name, int64_t value);
void rd_json_unsigned(struct rd_json *j, const char *name, uint64_t value);
void rd_json_double(struct rd_json *j, const char *name, double value);
void rd_json_bool(struct rd_json *j, const char *name, bool value);
void rd_json_null(struct rd_json *j, const char *name);

/* Writes an array of strings. */
void rd_json_strings(struct rd_json *j, const char *name, const char *const *items, size_t count);

/* A loop that writes an array of objects.  The body of the loop writes the members of one object,
 * and must not leave the loop. */
#define RD_JSON_OBJECTS(j, name, i, count)                                                                   \
	for (size_t i = rd_json_objects_begin(j, name); rd_json_objects_next(j, i, count); i++)
size_t rd_json_objects_begin(struct rd_json *j, const char *name);     /* returns 0 */
bool rd_json_objects_next(struct rd_json *j, size_t at, size_t count); /* ends the previous object */

/* Writes several members:
 *
 * 	RD_JSON(j, RD_JS("thread", t->name), RD_JU("events", t->events), RD_JB("ended", t->ended));
 *
 * All values are read before the first is written. */
struct rd_json_member {
	const char *name;
	enum { RD_JSON_STRING, RD_JSON_NUMBER, RD_JSON_UNSIGNED, RD_JSON_DOUBLE, RD_JSON_BOOL } type;
	union {
		const char *string;
		int64_t number;
		uint64_t natural;
		double real;
		bool truth;
	};
};
#define RD_JS(name, value) ((struct rd_json_member){name, RD_JSON_STRING, {.string = (value)}})
#define RD_JN(name, value) ((struct rd_json_member){name, RD_JSON_NUMBER, {.number = (value)}})
#define RD_JU(name, value) ((struct rd_json_member){name, RD_JSON_UNSIGNED, {.natural = (value)}})
#define RD_JD(name, value) ((struct rd_json_member){name, RD_JSON_DOUBLE, {.real = (value)}})
#define RD_JB(name, value) ((struct rd_json_member){name, RD_JSON_BOOL, {.truth = (value)}})
void rd_json_members(struct rd_json *j, const struct rd_json_member *members, size_t count);
#define RD_JSON(j, ...)                                                                                      \
	rd_json_members(j, (const struct rd_json_member[]){__VA_ARGS__},                                     \
			sizeof((const struct rd_json_member[]){__VA_ARGS__}) /                               \
				sizeof(struct rd_json_member))

#endif
