/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pass: the prediction from one trace.  It returns whenever there is something that the caller
 * may want to handle before the rest.  The time that the caller spends between two calls is added
 * to the deadlines.
 */
#ifndef PREDICT_PASS_H
#define PREDICT_PASS_H

#include "predict/batch.h"

/* Why the pass returned. */
enum predict_event {
	PREDICT_OVER,	/* everything was done that the trace and the time allow */
	PREDICT_WALKED, /* a large run was read as a whole, and the search has not begun.  The caller may set
			   new deadlines */
	PREDICT_FOUND,	/* the set has more findings; the caller may reorder the new ones */
};

struct predict_pass;

/* Opens the trace, a directory or an STD text; its findings go into the set.  Batch, set and trace
 * must stay valid until the pass is closed, even after a failure. */
int predict_pass_open(struct predict_pass **pass, struct predict_batch *p, const char *trace,
		      struct finding_set *set);
void predict_pass_close(struct predict_pass *pass); /* may be NULL */

/* Continues until the next event.  After a failure only predict_pass_close() may follow.  Of a
 * damaged trace, as much as can be read is used, and the error is returned with PREDICT_OVER. */
int predict_pass_next(struct predict_pass *pass, enum predict_event *event);

/* After PREDICT_WALKED: the races that the run shows firmly unordered, in a finished set that the
 * caller frees. */
struct finding_set *predict_pass_unordered(const struct predict_pass *pass);

#endif
