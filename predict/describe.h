/* SPDX-License-Identifier: Apache-2.0 */
/* Predictions as findings: names, stacks, locks and schedules for people and tools. */
#ifndef PREDICT_DESCRIBE_H
#define PREDICT_DESCRIBE_H

#include "finding/finding.h"
#include "predict/fill.h"
#include "predict/predict.h"

/* Adds a finding for each prediction, sound ones first, at most `limit`; returns
 * how many were left out.  The set is not finished. */
size_t predict_describe(const struct predict_trace *t, const struct predict_result *r,
			struct finding_set *set, size_t limit);

#endif
