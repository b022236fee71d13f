/* SPDX-License-Identifier: Apache-2.0 */
/* Turns predictions into findings, with names, stacks, locks and schedules for people and tools. */
#ifndef PREDICT_DESCRIBE_INT_H
#define PREDICT_DESCRIBE_INT_H

#include "finding/finding.h"
#include "predict/fill.h"
#include "predict/predict-int.h"
#include "predict/unordered-int.h"

/* Limits for predict_describe(). */
struct predict_limit {
	size_t findings;     /* the largest number of findings in the set */
	int64_t deadline_ns; /* when to stop (base/clock.h); 0 for never */
	/* When the set has this many findings, speculative ones are left out.  0 means no such
	 * limit. */
	size_t speculative;
};

/* Adds a finding for each prediction within the limit, sound ones first.  Returns how many
 * predictions were left out.  The caller finishes the set. */
size_t predict_describe(const struct predict_trace *t, const struct predict_result *r,
			struct finding_set *set, struct predict_limit limit);

/* Adds a finding for two accesses that are unordered in the recorded run itself.  If they
 * certainly raced in that run (are firm), the finding gets a schedule. */
void predict_describe_unordered(const struct model *m, const struct predict_unordered *u, const char *reason,
				struct finding_set *set);

/* Records in a finding that its two accesses certainly raced in the recorded run (are firm). */
void predict_describe_firm(const struct model *m, const struct predict_unordered *u, struct finding_set *set,
			   struct finding *f);

/* predict_describe_end() describes where a thread was when the trace ended: its name, call stack
 * and locks. predict_describe_thread() describes the thread itself. */
void predict_describe_end(const struct model *m, uint32_t thread, struct finding_set *set,
			  struct finding_wait *out);
void predict_describe_thread(const struct model *m, uint32_t thread, struct finding_set *set,
			     struct finding_thread *out);

#endif
