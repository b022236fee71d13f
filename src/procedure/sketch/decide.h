/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what decides whether a statement is executed.  These are branches in its function,
 * branches in the callers of that function, and the reads and calls whose results these branches
 * test.  The input is facts and runs.  The result is, for each statement of the runs, the
 * statements that decide whether it is executed.  Also adds events to the runs for branches that
 * were not watched.
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
	/* The branches in `by`, the branches that decide whether those branches are executed, and
	 * so on.  The nearest branches come first. */
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

/* Finds, for each statement of the runs, the branches that decide whether it is executed.  Adds
 * these branches and the failing statement to the statements of the runs.  If the place of the
 * failure is unknown, sets d->failure to UINT32_MAX. */
void decide_open(struct decide *d, const struct facts *f, struct sketch_runs *runs,
		 const struct sketch_failure *failure);
void decide_close(struct decide *d);

/* Adds events, without values, for branches that were not watched.  A thread that executes a
 * statement must have executed the branches that decide about it.  Each new event is inserted
 * directly after the previous event of the same thread. */
void decide_imply(const struct decide *d, struct sketch_runs *runs);

#endif
