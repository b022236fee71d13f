/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of a program as failure sketches see it: how it ended, and what its threads did at tracked
 * statements, in the one order in which it happened.  Tracking fills it, predictors and the sketch read it.
 */
#ifndef SKETCH_RUN_H
#define SKETCH_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sketch_event_kind {
	SKETCH_READ,   /* an access: address, size, value */
	SKETCH_WRITE,  /* value: what was written */
	SKETCH_BRANCH, /* value: 1 taken, 0 not; a switch: the case's number */
	SKETCH_CALL,   /* a call or a return of the slice; value: an integer argument or result, if known */
	SKETCH_SYNC,   /* lock, unlock, create, join, wait: address is the object's */
};

/* What a statement is to the memory or object at its address, for orders. */
enum sketch_role {
	SKETCH_NEUTRAL,
	SKETCH_READS,	 /* also: uses an object, waits for it */
	SKETCH_WRITES,	 /* also: frees it, destroys it, wakes who waits at it */
	SKETCH_ACQUIRES, /* a lock */
	SKETCH_RELEASES,
};

/* A statement of the slice, or one that tracking found.  The strings belong to the table. */
struct sketch_statement {
	char *file; /* as the debug information names it */
	char *function;
	char *variable;	 /* what an access is to ("fifo->mut"), or NULL */
	char *operation; /* of SKETCH_SYNC: "mutex-lock", as raddle/event.inc names it; else NULL */
	uint32_t line, column;
	uint32_t distance; /* from the failure, in statements of the slice; what was found is farther away */
	enum sketch_event_kind kind;
	enum sketch_role role;
	bool found; /* not of the static slice: a watchpoint or gate saw it */
};

struct sketch_event {
	uint32_t thread;    /* 0: main; then in the order of creation */
	uint32_t statement; /* index into the table */
	uint64_t address, value;
	uint8_t size; /* of the access; 0: no value known */
};

enum sketch_outcome {
	SKETCH_PASSED,
	SKETCH_CRASH,
	SKETCH_ASSERTION,
	SKETCH_HANG,
	SKETCH_EXIT,
	SKETCH_OUTPUT,
};

struct sketch_run {
	enum sketch_outcome outcome;
	char *signature; /* failures with one signature are explained together; NULL if it passed */
	struct sketch_event *events;
	size_t count, capacity;
	bool perturbed; /* the schedule was helped */
	bool cut;	/* it had more events than are kept: these are its last ones */
	uint32_t failed_thread;
	char *schedule; /* the one that it went by, as a file has it; NULL: it went its own way */
};

struct sketch_runs {
	struct sketch_statement *statements;
	size_t statement_count, statement_capacity;
	struct sketch_run *items;
	size_t count, capacity;
};

void sketch_runs_release(struct sketch_runs *r);

/* A zeroed run at the end; valid until the next one. */
struct sketch_run *sketch_run_add(struct sketch_runs *r);

/* The number of this statement, which gets one if it has none; the strings are copied.  Statements are the
 * same if place, kind, variable and operation are. */
uint32_t sketch_statement(struct sketch_runs *r, const struct sketch_statement *s);

void sketch_event_add(struct sketch_run *run, const struct sketch_event *e);

/* "crash", "assertion", ..., as documents name it; "read", "write", ... */
const char *sketch_outcome_name(enum sketch_outcome o);
const char *sketch_kind_name(enum sketch_event_kind kind);

static inline bool sketch_is_access(enum sketch_event_kind kind)
{
	return kind == SKETCH_READ || kind == SKETCH_WRITE;
}

#endif
