/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a replay has to enforce to lead a program along a witness: as few operations as possible, in
 * order, and the threads that have to be stopped.
 */
#ifndef PREDICT_PLAN_INT_H
#define PREDICT_PLAN_INT_H

#include "predict/line-int.h"

struct predict_plan {
	uint32_t *events; /* to be enforced in this order; a wake is named by the acquisition after it */
	size_t count;
	size_t operations; /* synchronisation operations of the witness in all */
	uint8_t *limited;  /* by thread: it would interfere if it continued after its part of the witness */
};

/* Every order that the plan, the primitives and program order allow leads to the targets, with all
 * clashes (clash.c) in the order of the witness. */
void predict_plan_make(struct lines *of, const struct predict_witness *w, const uint32_t *targets,
		       uint32_t count, struct predict_plan *plan);
void predict_plan_release(struct predict_plan *plan);

#endif
