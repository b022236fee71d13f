/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defines statements.  A slice consists of statements, runs are watched at statements, and a sketch
 * shows them.
 */
#ifndef SLICE_STATEMENT_H
#define SLICE_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rd_json;

enum slice_kind {
	SLICE_READ,  /* a read, with address, size and value */
	SLICE_WRITE, /* a write; the value is the value that was written */
	/* A branch; the value is 1 if taken, 0 if not, or the case number of a switch. */
	SLICE_BRANCH,
	/* A call or return in the slice.  The value is an integer argument or result, if it is
	 * known. */
	SLICE_CALL,
	SLICE_SYNC, /* an operation such as lock, join or wait; the address is that of the object */
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

/* A statement of the slice, or a statement that tracking found.  The strings belong to the slice,
 * or to the table of statements that contains it. */
struct slice_statement {
	char *file; /* path as in the debug information */
	char *function;
	char *variable; /* the accessed variable, such as "fifo->mut"; NULL if unknown */
	/* For SLICE_SYNC, the operation as raddle/event.inc names it, such as "mutex-lock".
	 * Otherwise NULL. */
	char *operation;
	uint32_t line, column;
	/* The distance from the failure, counted in statements, or UINT32_MAX if the statement is
	 * not in the slice. */
	uint32_t distance;
	enum slice_kind kind;
	enum slice_role role;
	bool found; /* a watchpoint or gate found the statement; it is not in the static slice */
};

/* Returns the name of a kind in documents: "read", "write" and so on. */
const char *slice_kind_name(enum slice_kind kind);

static inline bool slice_is_access(enum slice_kind kind)
{
	return kind == SLICE_READ || kind == SLICE_WRITE;
}

void slice_statement_json(const struct slice_statement *s, struct rd_json *j);

#endif
