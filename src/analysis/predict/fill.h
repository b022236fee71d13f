/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the model of a trace into an execution (exec.h).  Every event of the execution refers back
 * to the operation or access from which it was made.
 */
#ifndef PREDICT_FILL_H
#define PREDICT_FILL_H

#include "model/model.h"
#include "order/exec.h"

/* The operation or access from which an event was made. */
struct predict_origin {
	/* An index in the history of the thread: among its accesses if the event is an access,
	 * otherwise among its operations. */
	uint32_t index;
	uint32_t seen; /* position among the operations of the run, counted from 1 */
};

/* The first granule of a variable (granule-int.h). */
struct predict_variable {
	uint32_t object;
	uint64_t offset, size;
};

struct predict_trace {
	const struct model *model;
	struct exec x;
	/* The operation or access from which each event was made. */
	struct predict_origin *origins;
	size_t origin_capacity;
	struct predict_variable *variables;
	/* The first event of the part that the model contains (model_load()), or 0 if the model
	 * contains the whole run. */
	uint32_t begin;
	bool hung;   /* the program hung when it was ended, so some events are pending */
	bool handed; /* some thread released a lock that another had acquired */
	/* Number of events that were dropped because synchronisation does not allow them. */
	uint64_t dropped;
};

/* Fills `t` from a model, which must have MODEL_HISTORIES and must outlive the result.  The caller
 * must release the result, even after a failure. */
int predict_fill(struct predict_trace *t, const struct model *model);

/* Does the same as predict_fill() for a program that is hanging.  Every unfinished operation
 * becomes a pending event. */
int predict_fill_stuck(struct predict_trace *t, const struct model *model);
void predict_trace_release(struct predict_trace *t);

#endif
