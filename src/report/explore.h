/* SPDX-License-Identifier: Apache-2.0 */
/* A summary of an exploration, apart from its findings. */
#ifndef REPORT_EXPLORE_H
#define REPORT_EXPLORE_H

#include "explore/explore.h"
#include "finding/finding.h"

#include <stdio.h>

/* Writes how many schedules ran, what they covered, why the exploration ended, and how many runs do
 * not count. */
void report_explore_text(const struct finding_set *set, const struct explore_result *r, FILE *out);

/* Adds the same numbers to the statistics of the set. */
void report_explore_numbers(struct finding_set *set, const struct explore_result *r);

#endif
