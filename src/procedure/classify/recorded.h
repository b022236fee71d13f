/* SPDX-License-Identifier: Apache-2.0 */
/* How long the recorded run of findings took. */
#ifndef CLASSIFY_RECORDED_H
#define CLASSIFY_RECORDED_H

#include "finding/finding.h"

/* The duration, in nanoseconds, of the recorded run from which the findings were predicted, if its
 * trace still exists; otherwise 0. */
int64_t classify_recorded_ns(const struct finding_set *set);

#endif
