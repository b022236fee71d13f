/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of an exploration (doc/format/explore.md).  The first line describes what is explored.
 * Each other line describes the run of one schedule.  The log contains everything that the
 * exploration has learned.
 */
#ifndef EXPLORE_LOG_H
#define EXPLORE_LOG_H

#include "explore/note.h"

/* The first line: what is explored, and how schedules are generated. */
struct log_head {
	const char **argv;
	size_t argc;
	uint64_t program; /* a digest of the program's sites */
	uint64_t seed;
	const char *strategy, *points, *fail_if, *with, *setup; /* NULL if not given */
};

/* These functions append a line with its newline. */
void log_put_head(const struct log_head *head, struct rd_buf *out);
void log_put_note(const struct note *n, struct rd_buf *out);

/* These functions parse a line without its newline; `name` is for messages.  The arena owns strings
 * and arrays. */
int log_get_head(struct log_head *head, const char *text, size_t length, const char *name,
		 struct rd_arena *a);
int log_get_note(struct note *n, const char *text, size_t length, const char *name, struct rd_arena *a);

/* Reads the head of the log at `path`. */
int log_read_head(const char *path, struct log_head *head, struct rd_arena *a);

/* Calls the callback for each note of a log.  If the process that wrote the log was killed, the
 * last line may be incomplete; it is then ignored.  *length is the length of the log without that
 * line. */
typedef void log_note_fn(void *context, const struct note *n);
int log_read(const char *path, struct log_head *head, struct rd_arena *a, log_note_fn *fn, void *context,
	     uint64_t *length);

#endif
