/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input that replaces the recorded input of a run: arguments, standard input, files and environment
 * variables.  In text form, each part is a line "KIND NAME VALUE".  The name of an argument is its
 * number, and the name of standard input is "-".  In names and values, bytes other than letters,
 * digits and a few punctuation characters are written as %HH.
 */
#ifndef BASE_OVERRIDE_H
#define BASE_OVERRIDE_H

#include "base/buf.h"

#include <stddef.h>

enum rd_override_kind {
	RD_OVERRIDE_ARGV,
	RD_OVERRIDE_STDIN,
	RD_OVERRIDE_FILE,
	RD_OVERRIDE_ENV,
	RD_OVERRIDE_KINDS
};

struct rd_override_part {
	enum rd_override_kind kind;
	unsigned number; /* the number of an argument */
	char *name;	 /* the path of a file or the name of a variable; NULL for other parts */
	char *data;	 /* the content, followed by a NUL */
	size_t length;
};

struct rd_override {
	struct rd_override_part *parts;
	size_t count, capacity;
};

/* Adds a part, or replaces the part of that name. */
void rd_override_set(struct rd_override *g, const struct rd_override_part *part);
const struct rd_override_part *rd_override_find(const struct rd_override *g,
						const struct rd_override_part *like);
void rd_override_copy(struct rd_override *to, const struct rd_override *from); /* `to` must be empty */
void rd_override_release(struct rd_override *g);

void rd_override_format(const struct rd_override *g, struct rd_buf *out);
/* Parses `text`; NULL means no override.  `g` must be empty, and the caller must release it even if
 * parsing fails.  `name` is for messages. */
int rd_override_parse(struct rd_override *g, const char *text, const char *name);

const char *rd_override_kind_name(enum rd_override_kind kind);

#endif
