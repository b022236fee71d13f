/* SPDX-License-Identifier: Apache-2.0 */
/* How long the recorded run of findings took. */
#ifndef CLASSIFY_RECORDED_H
#define CLASSIFY_RECORDED_H

#include "finding/finding.h"

/* Returns the duration, in nanoseconds, of the recorded run from which the findings were predicted.
 * Returns 0 if the trace of that run no longer exists. */
int64_t classify_recorded_ns(const struct finding_set *set);

#endif
