/* SPDX-License-Identifier: Apache-2.0 */
/* Predictions as findings: names, stacks, locks and schedules for people and tools. */
#ifndef PREDICT_DESCRIBE_H
#define PREDICT_DESCRIBE_H

#include "finding/finding.h"
#include "model/unordered.h"
#include "predict/fill.h"
#include "predict/predict.h"

/* What describing may take. */
struct predict_limit {
	size_t findings;     /* that the set may have */
	int64_t deadline_ns; /* when to stop (base/clock.h); 0: never */
	size_t speculative;  /* that the set may have when speculative ones are added; 0: as many */
};

/* Adds a finding for each prediction, sound ones first, within the limit; returns
 * how many were left out.  The set is not finished. */
size_t predict_describe(const struct predict_trace *t, const struct predict_result *r,
			struct finding_set *set, struct predict_limit limit);

/* Adds a finding, without a schedule, for two accesses that the run itself shows unordered; firmly, if they
 * are. */
void predict_describe_unordered(const struct model *m, const struct model_unordered *u, const char *reason,
				struct finding_set *set);

/* Says of a finding that the run shows its two accesses firmly unordered. */
void predict_describe_firm(const struct model *m, const struct model_unordered *u, struct finding_set *set,
			   struct finding *f);

/* Where a thread stood when the trace ended: its name, call stack and locks; and the thread itself. */
void predict_describe_end(const struct model *m, uint32_t thread, struct finding_set *set,
			  struct finding_wait *out);
void predict_describe_thread(const struct model *m, uint32_t thread, struct finding_set *set,
			     struct finding_thread *out);

#endif
