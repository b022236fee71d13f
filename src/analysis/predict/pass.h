/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pass: the prediction from one trace, which returns when there is something that the caller may want to
 * act on before the rest.  What the caller does between two calls puts the deadlines off.
 */
#ifndef PREDICT_PASS_H
#define PREDICT_PASS_H

#include "predict/batch.h"

/* Why the pass returned. */
enum predict_event {
	PREDICT_OVER,	/* all was done that the trace and the time allow */
	PREDICT_WALKED, /* a large run was read as a whole, and nothing was searched for yet.  The caller may
			   set new deadlines */
	PREDICT_FOUND,	/* the set has more findings; the caller may put others in their places */
};

struct predict_pass;

/* Opens the trace, a directory or an STD text, whose findings go into the set.  The batch, the set and the
 * trace stay until the pass is closed, also after a failure. */
int predict_pass_open(struct predict_pass **pass, struct predict_batch *p, const char *trace,
		      struct finding_set *set);
void predict_pass_close(struct predict_pass *pass); /* may be NULL */

/* Goes on until the next event.  After a failure only predict_pass_close() follows.  Of a damaged trace what
 * could be read is looked at, and the error returned with PREDICT_OVER. */
int predict_pass_next(struct predict_pass *pass, enum predict_event *event);

/* After PREDICT_WALKED: what the run shows firmly unordered, a finished set for the caller to free. */
struct finding_set *predict_pass_unordered(const struct predict_pass *pass);

#endif
