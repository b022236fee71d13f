/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders in which a run can happen: a machine that knows what each operation needs and tries an order
 * out, and a search for an order in which one segment comes before another.
 */
#ifndef REVERSIBLE_SEARCH_H
#define REVERSIBLE_SEARCH_H

#include "reversible/order.h"

/* Can thread u come to its segment r while thread t has not gone past its segment s?  If so what lies in
 * the two segments can happen in the other order. */
struct rev_question {
	uint32_t t, s, u, r;
	bool meet; /* u is to be in r and t in s at the same time */
};

/* The beginning of such a run: positions in rev_run.ops. */
struct rev_witness {
	uint32_t *order;
	size_t count, capacity;
};
void rev_witness_release(struct rev_witness *w);

/* ---- the machine ---- */

struct rev_machine {
	const struct rev_run *run;
	uint32_t *done;	  /* operations of each thread */
	uint32_t *holder; /* of each lock: the acquisition for writing, plus one */
	uint32_t *readers;
	uint64_t *value;    /* of each semaphore: posts minus waits, without the initial value */
	uint8_t *woken;	    /* by thread: its wait was notified */
	uint32_t *waiting;  /* by thread: the wait that it is in, plus one */
	uint64_t *deadline; /* by thread: when its wake comes; for the choice of a signal */
	struct rd_umap wakes;
};

void rev_machine_init(struct rev_machine *m, const struct rev_run *run);
void rev_machine_release(struct rev_machine *m);
/* Back to the start; the order that is going to be tried tells whom a signal is to wake. */
void rev_machine_reset(struct rev_machine *m, const uint32_t *order, size_t count);

/* Whether the operation can be done now.  If not, *by is the operation that is in the way (the acquisition
 * of the section that is open) or REV_NONE. */
bool rev_machine_can(const struct rev_machine *m, const struct rev_op *op, uint32_t *by);
void rev_machine_do(struct rev_machine *m, const struct rev_op *op);

/* Whether the whole order can happen. */
bool rev_machine_accepts(struct rev_machine *m, const uint32_t *order, size_t count);

/* ---- the search ---- */

/* Looks for a witness that keeps the recorded order of what it needs.  false: there is none of that kind. */
bool rev_search(struct rev_machine *m, const struct rev_question *q, struct rev_witness *w);

#endif
