/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits: changes to a program that the user requests.  They are made before instrumentation.
 * "require" adds a predicate that must hold whenever control reaches a line.  "without-sync"
 * removes the synchronisation on a line.
 * An edit is written as a line of text: "require EXPR @ FILE:LINE" or "without-sync FILE:LINE".
 * Flavours, schedules and documents store this text.
 */
#ifndef BASE_EDIT_H
#define BASE_EDIT_H

#include "base/alloc.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RD_EDITS_MAX 32 /* one bit of a 32-bit word for each edit */
#define RD_EDIT_WRONG 3 /* the exit status of raddle-instr if an edit is wrong; it reports why */

enum rd_edit_kind { RD_EDIT_REQUIRE, RD_EDIT_WITHOUT_SYNC };

struct rd_edit {
	enum rd_edit_kind kind;
	const char *file; /* the path of the file, or a suffix of it */
	uint32_t line;
	const char *expression; /* the expression of a predicate; NULL for other edits */
	const char *text;	/* the whole line of text */
};

/* The edits.  An edit's number is its index. */
struct rd_edits {
	struct rd_edit items[RD_EDITS_MAX];
	size_t count;
	struct rd_arena *arena; /* contains the strings; NULL before the first call */
};

void rd_edits_release(struct rd_edits *e);

/* These functions parse edits in the form that users write, and add them: "EXPR @ FILE:LINE; EXPR
 * @ FILE:LINE" and "FILE:LINE,FILE:LINE".  They ignore NULL. */
int rd_edits_require(struct rd_edits *e, const char *text);
int rd_edits_without_sync(struct rd_edits *e, const char *text);

/* Adds the edits in `lines`, except those already in e.  NULL adds nothing. */
int rd_edits_parse(struct rd_edits *e, const char *lines, const char *name);

/* Appends the edits as lines of text.  Without `predicates`, appends only the edits that change the
 * program's behaviour. */
void rd_edits_format(const struct rd_edits *e, bool predicates, struct rd_buf *out);

/* Returns true if `wanted` is the path, or a suffix of the path that begins after a slash. */
bool rd_is_path_end(const char *path, const char *wanted);

#endif
