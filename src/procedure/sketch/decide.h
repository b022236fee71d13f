/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out what decides whether a statement is executed: branches in its function or in the
 * callers of that function, and the reads and calls whose results these branches test.  In: facts
 * and runs.  Out: for each statement of the runs, the statements that decide whether it is
 * executed; and events for branches that were not watched.
 */
#ifndef SKETCH_DECIDE_H
#define SKETCH_DECIDE_H

#include "facts/facts.h"
#include "sketch/outcome.h"
#include "sketch/run.h"

struct decide_list {
	uint32_t *items; /* numbers of statements */
	size_t count, capacity;
};

/* Adds an item unless the list already contains it. */
void decide_list_add(struct decide_list *l, uint32_t item);

struct decide_statement {
	struct decide_list by; /* the branches that decide whether it is executed */
	/* The branches in `by`, the branches that decide whether those are executed, and so on.
	 * The nearest branches come first. */
	struct decide_list above;
	struct decide_list looks; /* for a branch: the reads and calls whose results it tests */
	bool varies;		  /* true if its value differed between runs or executions */
	bool seen;		  /* true if it has events */
};

struct decide {
	/* By number of the statement: what decides whether it is executed. */
	struct decide_statement *statements;
	size_t count, capacity;
	uint32_t failure; /* the statement that fails */
};

/* Finds the decisions.  Adds the failing statement to the statements of the runs, and also the
 * branches that decide whether statements of the runs are executed.  If the failure has no place,
 * sets d->failure to UINT32_MAX. */
void decide_open(struct decide *d, const struct facts *f, struct sketch_runs *runs,
		 const struct sketch_failure *failure);
void decide_close(struct decide *d);

/* Adds events without values for branches that were not watched.  If a thread executes a statement,
 * it must have executed the branches that decide whether the statement is executed.  Each new event
 * is inserted directly after the previous event of the same thread. */
void decide_imply(const struct decide *d, struct sketch_runs *runs);

#endif
