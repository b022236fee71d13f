/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds orders in which the operations of a run can happen. rev_accepts() checks whether the
 * synchronisation objects allow an order (order/machine.h). rev_search() searches for an order in
 * which one segment of the run comes before another.
 */
#ifndef REVERSIBLE_SEARCH_H
#define REVERSIBLE_SEARCH_H

#include "order/machine.h"
#include "reversible/order.h"

/* A question about two segments, which are the parts of two threads between synchronisation
 * operations.  Can thread u reach its segment r while thread t has not left its segment s?  If so,
 * the events of the two segments can happen in reverse order. */
struct rev_question {
	uint32_t t, s, u, r;
	bool meet; /* thread u must be in r and thread t in s at the same time */
};

/* The beginning of a run that proves that the answer to a question is yes. `order` contains
 * indices into rev_run.ops. */
struct rev_witness {
	uint32_t *order;
	size_t count, capacity;
};
void rev_witness_release(struct rev_witness *w);

static inline uint32_t rev_done(const struct rev_run *run, const struct machine *m, uint32_t thread)
{
	return m->at[thread] ? run->ops[m->at[thread] - 1].n : 0;
}

/* Returns true if the operation can be done now: it is the next one of its thread, and the
 * synchronisation objects allow it. */
bool rev_can(const struct rev_run *run, const struct machine *m, uint32_t at);

/* Returns true if the operations can happen in this order. */
bool rev_accepts(const struct rev_run *run, struct machine *m, const uint32_t *order, size_t count);

/* ---- the search ---- */

/* Looks for a witness whose operations are in their recorded order.  If it returns false, there
 * may still be a witness with another order. */
bool rev_search(const struct rev_run *run, struct machine *m, const struct rev_question *q,
		struct rev_witness *w);

#endif
