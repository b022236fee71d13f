/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pass is the prediction from one trace.  It returns to the caller whenever it has an event that
 * the caller may want to handle at once, and continues when it is called again.  The time that the
 * caller spends between two calls is added to the deadlines.
 */
#ifndef PREDICT_PASS_H
#define PREDICT_PASS_H

#include "predict/batch.h"

/* The reason why the pass returned. */
enum predict_event {
	PREDICT_OVER, /* everything was done that the trace and the time allow */
	/* A large run was read as a whole, but the search has not begun.  The caller may set new
	 * deadlines. */
	PREDICT_WALKED,
	PREDICT_FOUND, /* the set has more findings; the caller may reorder the new ones */
};

struct predict_pass;

/* Opens a trace, which is a directory or an STD text.  The pass adds its findings to the set.  The
 * batch, the set and the trace must stay valid until the pass is closed, even after a failure. */
int predict_pass_open(struct predict_pass **pass, struct predict_batch *p, const char *trace,
		      struct finding_set *set);
void predict_pass_close(struct predict_pass *pass); /* may be NULL */

/* Continues the pass until its next event.  After a failure, the caller may only call
 * predict_pass_close().  If the trace is damaged, the pass uses as much as it can read and returns
 * the error with PREDICT_OVER. */
int predict_pass_next(struct predict_pass *pass, enum predict_event *event);

/* Call this after PREDICT_WALKED.  Returns the races that certainly happened in the recorded run
 * (the firm ones), in a finished set that the caller must free. */
struct finding_set *predict_pass_unordered(const struct predict_pass *pass);

#endif
