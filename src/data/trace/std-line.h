/* SPDX-License-Identifier: Apache-2.0 */
/* Parses STD text (doc/format/std.md) line by line.  The result does not depend on earlier
 * lines. */
#ifndef TRACE_STD_LINE_H
#define TRACE_STD_LINE_H

#include "raddle/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How an operation is imported. */
enum std_action {
	STD_ACCESS,
	STD_ATOMIC,
	STD_ACQUIRE, /* acquires exclusively */
	STD_SHARE,   /* acquires for reading */
	STD_RELEASE,
	STD_BUSY, /* an acquisition that failed */
	STD_FORK,
	STD_JOIN,
	STD_BEGIN,
	STD_END,
	STD_MONITOR_WAIT, /* wait(l), directly after rel(l) */
	STD_WAIT,	  /* cwait(c,m): releases m and waits for c */
	STD_SEM_INIT,	  /* seminit(s,n): initialises a semaphore */
	STD_ONCE,
	STD_PLAIN, /* an event on the object without further conditions */
	STD_NOTHING,
};

/* The number spaces of names.  The same name in two spaces means two objects. */
enum std_space { STD_VARIABLES, STD_LOCKS, STD_CONDS, STD_BARRIERS, STD_SEMS, STD_ONCES, STD_SPACES };

struct std_operation {
	const char *name;
	enum std_action action;
	enum std_space space;
	enum raddle_event event;
	const char *site;  /* kind of an access's site, with the letters of doc/format/sites.md */
	const char *flags; /* flags of the site */
};

/* std_operation_number() returns the number of an operation, which is less than
 * STD_OPERATIONS_MAX. */
#define STD_OPERATIONS_MAX 63
unsigned std_operation_number(const struct std_operation *o);

/* Returns the name of the operation that is imported as this event, or "dummy" if there is none.
 * If `failed` is set, the event is a failed attempt to take a lock, and the name is "busy". */
const char *std_word(enum raddle_event event, bool failed);

struct std_span {
	const char *p;
	size_t n;
};

struct std_line {
	struct std_span thread;
	const struct std_operation *operation;
	struct std_span operand;
	struct std_span place; /* empty if the line has no place */
};

enum std_verdict { STD_EVENT, STD_NO_EVENT, STD_BAD };

/* Parses the line that begins at *p, and moves *p past its newline.  The result is STD_NO_EVENT for
 * a blank line, and for a line that continues the call stack of the line before.  For a bad line,
 * stores the reason in *why. */
enum std_verdict std_line_parse(const char **p, const char *end, struct std_line *line, const char **why);

/* Parses only the thread.  Returns false if the line is not an event. */
bool std_line_thread(const char **p, const char *end, struct std_span *thread);

static inline bool std_span_equal(struct std_span a, struct std_span b)
{
	size_t i = 0;
	if (a.n != b.n)
		return false;
	while (i < a.n && a.p[i] == b.p[i])
		i++;
	return i == a.n;
}

/* Splits the operands of an operation that has two. */
bool std_line_split(struct std_span both, struct std_span *first, struct std_span *second);

#endif
