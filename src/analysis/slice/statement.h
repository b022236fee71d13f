/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements: a slice consists of them, runs are watched at them, and a sketch shows them.
 */
#ifndef SLICE_STATEMENT_H
#define SLICE_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rd_json;

enum slice_kind {
	SLICE_READ,   /* an access: address, size, value */
	SLICE_WRITE,  /* value: what was written */
	SLICE_BRANCH, /* value: 1 taken, 0 not; a switch: the case's number */
	SLICE_CALL,   /* a call or a return of the slice; value: an integer argument or result, if known */
	SLICE_SYNC,   /* lock, unlock, create, join, wait: address is the object's */
};

/* What a statement does to the memory or object at its address.  Decides which orders matter. */
enum slice_role {
	SLICE_NEUTRAL,
	SLICE_READS,	/* also: uses an object, waits for it */
	SLICE_WRITES,	/* also: frees it, destroys it, wakes its waiters */
	SLICE_ACQUIRES, /* a lock */
	SLICE_RELEASES,
};

/* A statement of the slice, or one that tracking found.  The strings belong to the slice, or to the
 * table of statements that contains it. */
struct slice_statement {
	char *file; /* as the debug information names it */
	char *function;
	char *variable;	 /* what an access is to ("fifo->mut"), or NULL */
	char *operation; /* of SLICE_SYNC: "mutex-lock", as raddle/event.inc names it; else NULL */
	uint32_t line, column;
	uint32_t distance; /* from the failure, in statements; UINT32_MAX: it is not in the slice */
	enum slice_kind kind;
	enum slice_role role;
	bool found; /* not in the static slice: a watchpoint or gate saw it */
};

/* "read", "write", ..., as documents name it. */
const char *slice_kind_name(enum slice_kind kind);

static inline bool slice_is_access(enum slice_kind kind)
{
	return kind == SLICE_READ || kind == SLICE_WRITE;
}

/* Writes the members of a statement into an object. */
void slice_statement_json(const struct slice_statement *s, struct rd_json *j);

#endif
