/* SPDX-License-Identifier: Apache-2.0 */
/* How long the recorded run of findings took. */
#ifndef CLASSIFY_RECORDED_H
#define CLASSIFY_RECORDED_H

#include "finding/finding.h"

/* Milliseconds that the recorded run took which the findings were predicted from, if its trace is still
 * there; 0: unknown. */
uint64_t classify_recorded_ms(const struct finding_set *set);

#endif
