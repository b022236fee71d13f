/* SPDX-License-Identifier: Apache-2.0 */
/* Decides the pairs whose order the clocks leave open, and derives the verdict. */
#ifndef REVERSIBLE_DECIDE_H
#define REVERSIBLE_DECIDE_H

#include "reversible/shadow.h"
#include "reversible/solve.h"

enum rev_verdict { REV_YES, REV_NO, REV_OPEN };

struct rev_counts {
	uint64_t conflicts;    /* number of adjacent dependent accesses of two threads */
	uint64_t ordered;      /* how many of `conflicts` the clocks order */
	uint64_t pairs;	       /* number of pairs of segments whose order the clocks leave open */
	uint64_t searched;     /* for how many of `pairs` the search found a reversing order */
	uint64_t solver_found; /* for how many of `pairs` the solver found a reversing order */
	uint64_t solver_never; /* how many of `pairs` the solver proved to have a fixed order */
	uint64_t unknown;      /* how many of `pairs` neither the search nor the solver decided */
	/* How many of `pairs` were not tried, because enough reversals were found or too many pairs
	 * are unknown. */
	uint64_t left;
};

/* A pair that can be reversed. */
struct rev_found {
	struct rev_pair pair;
	struct rev_witness order, replay;
	bool meet, by_solver;
};

struct rev_decision {
	enum rev_verdict verdict;
	const char *reason;
	struct rev_counts counts;
	/* The pairs that the solver proved to have a fixed order.  There are counts.solver_never of
	 * them. */
	struct rev_pair *proved;
	size_t proved_capacity;
	struct rev_found *found;
	size_t found_count, found_capacity;
};

/* Decides all pairs.  The search stops when `limit` reversals were found. */
void rev_decide(struct rev_decision *d, const struct rev_run *run, const struct rev_shadow *shadow,
		unsigned solver_ms, size_t limit);
void rev_decision_release(struct rev_decision *d);

/* Returns the lock that keeps the two events of a pair from happening at the same time, or REV_NONE
 * if there is none. */
uint32_t rev_common_lock(const struct rev_run *run, const struct rev_pair *pair);

/* Checks whether the order of the pair may decide only whether a thread waits for a condition.
 * Then the order does not matter, because comparisons of runs ignore loop iterations that end in a
 * wait.  This is so if both events are in sections of a lock that is used with conditions.
 * Returns the wait, or the notification if the run had no wait.  Returns NULL if the order may
 * decide more than that. */
const struct rev_op *rev_decided_wait(const struct rev_run *run, const struct rev_pair *pair);

#endif
