/* SPDX-License-Identifier: Apache-2.0 */
/* Filters findings that the user already knows or has suppressed. */
#ifndef FINDING_FILTER_H
#define FINDING_FILTER_H

#include "finding/finding.h"

struct finding_filter { /* each member is a path, or NULL if the user gave no such file */
	const char *baseline, *suppressions;
};

/* Marks the findings that the baseline lists or the suppressions hide.  If `tell` is true, reports
 * how many findings of the baseline are not in the set, and which suppressions hid nothing. */
int finding_filter(const struct finding_filter *filter, struct finding_set *set, bool tell);

/* Writes a baseline, which is a text with the ids of the confirmed findings that are not
 * suppressed. */
int finding_baseline_write(const struct finding_set *set, FILE *out);

#endif
