/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of an exploration beside its findings. */
#ifndef REPORT_EXPLORE_H
#define REPORT_EXPLORE_H

#include "explore/explore.h"
#include "finding/finding.h"

#include <stdio.h>

/* How many schedules, what they covered, why it ended, and which runs do not count. */
void report_explore_text(const struct finding_set *set, const struct explore_result *r, FILE *out);

/* The same as statistics of the set. */
void report_explore_numbers(struct finding_set *set, const struct explore_result *r);

#endif
