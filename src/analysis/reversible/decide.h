/* SPDX-License-Identifier: Apache-2.0 */
/* From pairs that the clocks leave open to a verdict. */
#ifndef REVERSIBLE_DECIDE_H
#define REVERSIBLE_DECIDE_H

#include "reversible/shadow.h"
#include "reversible/solve.h"

enum rev_verdict { REV_YES, REV_NO, REV_OPEN };

struct rev_counts {
	uint64_t conflicts;    /* adjacent dependent accesses of two threads */
	uint64_t ordered;      /* of these, by clocks */
	uint64_t pairs;	       /* segments that the clocks leave open */
	uint64_t searched;     /* of these, the search found an order that reverses them */
	uint64_t solver_found; /* the solver found one */
	uint64_t solver_never; /* proved by the solver to be in order */
	uint64_t unknown;      /* neither */
	uint64_t left;	       /* not tried: enough reversals were found, or too many are unknown */
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
	struct rev_pair *proved; /* by the solver: counts.solver_never */
	size_t proved_capacity;
	struct rev_found *found;
	size_t found_count, found_capacity;
};

/* `limit`: how many reversals to look for. */
void rev_decide(struct rev_decision *d, const struct rev_run *run, const struct rev_shadow *shadow,
		unsigned solver_ms, size_t limit);
void rev_decision_release(struct rev_decision *d);

/* The lock that keeps the two events of a pair apart; REV_NONE: no lock does. */
uint32_t rev_common_lock(const struct rev_run *run, const struct rev_pair *pair);

/* Whether the order of the pair may decide only whether a thread waits for a condition.  That is
 * so if both events are in sections of a lock that is used with conditions.  It matters because
 * loop iterations that end in a wait are ignored when runs are compared.  Returns the wait, or the
 * notification if the run had no wait.  Returns NULL if the order decides more than that. */
const struct rev_op *rev_decided_wait(const struct rev_run *run, const struct rev_pair *pair);

#endif
