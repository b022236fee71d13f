/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements.  A slice consists of statements, runs are watched at them, and a sketch shows them.
 */
#ifndef SLICE_STATEMENT_H
#define SLICE_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rd_json;

enum slice_kind {
	SLICE_READ,   /* a read, with address, size and value */
	SLICE_WRITE,  /* a write; the value is the value that was written */
	SLICE_BRANCH, /* value: 1 if taken, 0 if not; for a switch, the number of the case */
	/* A call or return in the slice; the value is an integer argument or result, if known. */
	SLICE_CALL,
	SLICE_SYNC, /* lock, unlock, create, join, wait; the address is that of the object */
};

/* What a statement does to the memory or object at its address.  The role decides which orders
 * matter. */
enum slice_role {
	SLICE_NEUTRAL,
	SLICE_READS,	/* reads or uses the memory or object, or waits for it */
	SLICE_WRITES,	/* writes, frees or destroys the memory or object, or wakes its waiters */
	SLICE_ACQUIRES, /* acquires the object, which is a lock */
	SLICE_RELEASES,
};

/* A statement of the slice, or one that tracking found.  The strings belong to the slice, or to the
 * table of statements that contains it. */
struct slice_statement {
	char *file; /* path as in the debug information */
	char *function;
	char *variable; /* the accessed variable, such as "fifo->mut"; NULL if unknown */
	/* For SLICE_SYNC: the operation as raddle/event.inc names it, such as "mutex-lock"; else
	 * NULL. */
	char *operation;
	uint32_t line, column;
	/* Distance from the failure, in statements; UINT32_MAX if it is not in the slice. */
	uint32_t distance;
	enum slice_kind kind;
	enum slice_role role;
	bool found; /* not in the static slice: a watchpoint or gate found it */
};

/* Returns the name of a kind in documents: "read", "write" and so on. */
const char *slice_kind_name(enum slice_kind kind);

static inline bool slice_is_access(enum slice_kind kind)
{
	return kind == SLICE_READ || kind == SLICE_WRITE;
}

/* Writes the members of a statement into an object. */
void slice_statement_json(const struct slice_statement *s, struct rd_json *j);

#endif
