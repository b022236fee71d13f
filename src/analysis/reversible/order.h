/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector clocks that show which operations must come before which others, in every possible order
 * of a run's operations (doc/design/reversible.md).
 *
 * The clock of an operation contains, for each other thread, how many operations that thread must
 * have done before this one is done.  For its own thread it contains the operation's number.
 * Clocks are lower bounds: every order that they show is certain, but locks, semaphores and
 * conditions may impose further orders.
 */
#ifndef REVERSIBLE_ORDER_H
#define REVERSIBLE_ORDER_H

#include "order/rows.h"
#include "reversible/run.h"

/* The rule from which an edge of the order follows. */
enum rev_rule {
	REV_BY_CREATE,
	REV_BY_JOIN,
	REV_BY_BARRIER,
	REV_BY_ONCE,
	REV_BY_SEM,
	REV_BY_COND,
	REV_BY_LOCK, /* two sections of a lock that cannot be swapped */
	REV_RULES,
};
const char *rev_rule_name(enum rev_rule rule);

/* One step of the proof.  It states that in every possible order, operation `n` of `thread` is done
 * before `op`. */
struct rev_need {
	uint32_t op; /* index of the operation in rev_run.ops */
	uint32_t thread, n;
	uint8_t rule; /* enum rev_rule */
};

struct rev_order {
	struct rows rows; /* the clocks, by operation; row 0 is all zero */
	uint32_t *own;	  /* the row of each operation if no other operation shares it; else 0 */
	uint64_t used[REV_RULES];
	unsigned sweeps;
	bool logging;
	/* With logging, the steps of the derivation.  Each step follows from the earlier ones. */
	struct rev_need *needs;
	size_t need_count, need_capacity;
};

/* Fills in run->order.  With `log`, also records the steps of its derivation. */
void rev_order_build(struct rev_run *run, bool log);
void rev_order_free(struct rev_run *run);

/* Returns how many operations of `thread` must have been done when the operation with index `at` is
 * done. */
static inline uint32_t rev_order_at(const struct rev_run *run, uint32_t at, uint32_t thread)
{
	return run->ops[at].thread == thread ? run->ops[at].n : rows_of(&run->order->rows, at)[thread];
}

static inline uint32_t rev_order_get(const struct rev_run *run, const struct rev_op *op, uint32_t thread)
{
	return rev_order_at(run, (uint32_t)(op - run->ops), thread);
}

/* Returns true if, in every order, segment `s` of thread `t` ends before segment `r` of thread `u`
 * begins.
 */
static inline bool rev_order_has(const struct rev_run *run, uint32_t t, uint32_t s, uint32_t u, uint32_t r)
{
	return t == u ? s <= r : r && rows_of(&run->order->rows, run->threads[u].ops[r - 1])[t] > s;
}

#endif
