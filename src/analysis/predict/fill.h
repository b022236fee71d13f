/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the model of a trace into an execution (exec.h).  Every event of the execution refers back
 * to the operation or access that it was made from.
 */
#ifndef PREDICT_FILL_H
#define PREDICT_FILL_H

#include "model/model.h"
#include "order/exec.h"

/* Where an event comes from. */
struct predict_origin {
	uint32_t index; /* of an access: in model_history.accesses; else in its operations */
	uint32_t seen;	/* position among the operations of the run, from 1 */
};

/* The first granule of a variable (granule-int.h). */
struct predict_variable {
	uint32_t object;
	uint64_t offset, size;
};

struct predict_trace {
	const struct model *model;
	struct exec x;
	struct predict_origin *origins; /* by event */
	size_t origin_capacity;
	struct predict_variable *variables;
	uint32_t begin;	  /* the first event of the part that the model has (model_load()); 0: it has all */
	bool hung;	  /* the program hung when it was ended: some events are pending */
	bool handed;	  /* threads released locks that others had acquired */
	uint64_t dropped; /* events that contradict what synchronisation allows */
};

/* The model needs MODEL_HISTORIES and must outlive the result.  Release the result also after a
 * failure. */
int predict_fill(struct predict_trace *t, const struct model *model);

/* The same for a program that hangs now: every unfinished operation is pending. */
int predict_fill_stuck(struct predict_trace *t, const struct model *model);
void predict_trace_release(struct predict_trace *t);

#endif
