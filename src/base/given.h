/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input that a run of a program gets in place of what it had: arguments, standard input, files, variables of
 * the environment.  As text it is a line for each part, "KIND NAME VALUE"; the name of an argument is its
 * number, that of standard input is "-".  In names and values everything but letters, digits and a few signs
 * is written %HH.
 */
#ifndef BASE_GIVEN_H
#define BASE_GIVEN_H

#include "base/buf.h"

#include <stddef.h>

enum rd_given_kind { RD_GIVEN_ARGV, RD_GIVEN_STDIN, RD_GIVEN_FILE, RD_GIVEN_ENV, RD_GIVEN_KINDS };

struct rd_given_part {
	enum rd_given_kind kind;
	unsigned number; /* of an argument */
	char *name;	 /* path, variable; NULL for others */
	char *data;	 /* a 0 behind it */
	size_t length;
};

struct rd_given {
	struct rd_given_part *parts;
	size_t count, capacity;
};

/* Adds a part, or replaces the one of that name. */
void rd_given_set(struct rd_given *g, const struct rd_given_part *part);
const struct rd_given_part *rd_given_find(const struct rd_given *g, const struct rd_given_part *like);
void rd_given_copy(struct rd_given *to, const struct rd_given *from); /* into an empty one */
void rd_given_release(struct rd_given *g);

void rd_given_format(const struct rd_given *g, struct rd_buf *out);
/* Into an empty one, to be released also after a failure.  NULL is nothing; `name` is for messages. */
int rd_given_parse(struct rd_given *g, const char *text, const char *name);

const char *rd_given_kind_name(enum rd_given_kind kind);

#endif
