/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan is what a replay has to enforce to lead a program along a witness.  It consists of as few
 * operations as possible, in order, and of the threads that have to be stopped.
 */
#ifndef PREDICT_PLAN_INT_H
#define PREDICT_PLAN_INT_H

#include "predict/line-int.h"

struct predict_plan {
	/* The events to be enforced, in this order.  A wake is represented by the acquisition after
	 * it. */
	uint32_t *events;
	size_t count;
	size_t operations; /* number of all synchronisation operations of the witness */
	/* For each thread, true if it would interfere if it continued after its part of the
	 * witness. */
	uint8_t *limited;
};

/* Makes a plan.  An order of the operations leads to the targets if the plan, the primitives and
 * program order all allow it.  Each such order also keeps the order of the witness for all
 * clashes, that is, for operations whose order matters (clash.c). */
void predict_plan_make(struct lines *of, const struct predict_witness *w, const uint32_t *targets,
		       uint32_t count, struct predict_plan *plan);
void predict_plan_release(struct predict_plan *plan);

#endif
