/* SPDX-License-Identifier: Apache-2.0 */
/* What an exploration did, apart from its findings. */
#ifndef REPORT_EXPLORE_H
#define REPORT_EXPLORE_H

#include "explore/explore.h"
#include "finding/finding.h"

#include <stdio.h>

/* How many schedules ran, what they covered, why it ended, and how many runs do not count. */
void report_explore_text(const struct finding_set *set, const struct explore_result *r, FILE *out);

/* The same as statistics of the set. */
void report_explore_numbers(struct finding_set *set, const struct explore_result *r);

#endif
