/* SPDX-License-Identifier: Apache-2.0 */
/* Findings that the user already knows, or does not want to see. */
#ifndef FINDING_FILTER_H
#define FINDING_FILTER_H

#include "finding/finding.h"

struct finding_filter { /* paths; NULL: none */
	const char *baseline, *suppressions;
};

/* Marks the findings that the baseline lists or the suppressions hide.  If `tell`, reports the
 * parts of both that are no longer needed. */
int finding_filter(const struct finding_filter *filter, struct finding_set *set, bool tell);

/* A baseline: a text with the ids of the confirmed findings that are not suppressed. */
int finding_baseline_write(const struct finding_set *set, FILE *out);

#endif
