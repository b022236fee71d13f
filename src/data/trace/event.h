/* SPDX-License-Identifier: Apache-2.0 */
/* A decoded record, and the tables about each kind of event. */
#ifndef TRACE_EVENT_H
#define TRACE_EVENT_H

#include "raddle/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_event {
	enum raddle_event kind; /* RADDLE_ACCESS for every plain access */
	uint32_t site;		/* set for accesses, ranges, atomics, fences, left-out; else 0 */
	uint64_t address;	/* the accessed address, or the first `a` operand */
	uint64_t size;		/* length of a range in bytes; else 0 */
	/* The following members are not set for plain accesses. */
	uint64_t q, t; /* 0 if the kind has no such operand */
	/* The values of the operands, indexed by operand.  For a `b` operand, this is the
	 * length. */
	uint64_t values[RADDLE_MAX_OPERANDS];
	const char *bytes; /* the `b` operand; not terminated, and valid until the next event */
	size_t length;
};

/* The columns of event.inc that people and the codec need. raddle/event.h has the others. */
struct trace_kind {
	const char *name; /* NULL if the code is not used */
	const char *operands;
	const char *operand_names; /* separated by blanks */
	const char *meaning;
};

/* Returns the row of a code below 0x80.  For larger codes, returns the row of RADDLE_ACCESS. */
const struct trace_kind *trace_kind(unsigned code);

/* Returns the name of a class, such as "mutex" or "sem". */
const char *trace_class_name(enum raddle_class class);

/* Returns the last operand of an event, which is the result if there is one. */
static inline uint64_t trace_result(const struct trace_event *e)
{
	return e->values[raddle_event_row(e->kind)->last];
}

/* Returns the code of a name such as "mutex-lock", or -1 if there is none. */
int trace_kind_find(const char *name);

/* Size of the buffer for the name of an operand. */
#define TRACE_OPERAND_NAME 32
/* Copies the name of operand number `index` of the row to `out`, or "" if there is none. */
void trace_operand_name(const struct trace_kind *kind, unsigned index, char out[TRACE_OPERAND_NAME]);

/* Returns the effect that an event with the given result has on a lock: 1 if it acquires the lock,
 * -1 if it releases the lock, and 0 otherwise.  Failed attempts have no effect.  Condition waits
 * are not considered. */
int trace_lock_effect(enum raddle_event kind, uint64_t result);

static inline int trace_lock_change(const struct trace_event *e)
{
	return raddle_is_lock(e->kind) ? trace_lock_effect(e->kind, trace_result(e)) : 0;
}

#endif
