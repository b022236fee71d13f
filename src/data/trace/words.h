/* SPDX-License-Identifier: Apache-2.0 */
/* The words of raddle/event.inc for operations, for people. */
#ifndef TRACE_WORDS_H
#define TRACE_WORDS_H

#include "base/buf.h"

#include <stdint.h>

struct trace_operation {
	const char *kind;	  /* as in schedules, such as "mutex-lock" */
	const char *does, *brief; /* such as "locks ~" and "lock" */
	uint8_t class, role;
};

/* Returns an operation of schedules by its kind, or NULL if there is none. */
const struct trace_operation *trace_operation(const char *kind);

/* Appends an operation, such as "locks a for reading".  Without an object, its name is left out. */
void trace_words(struct rd_buf *out, const char *kind, const char *object);

/* Appends the short form of an operation, such as "rdlock a". */
void trace_words_brief(struct rd_buf *out, const char *kind, const char *object);

#endif
