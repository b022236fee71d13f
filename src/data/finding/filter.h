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

/* Marks the findings that a baseline lists as known.  A baseline is a finding document, or a text
 * with one id per line.  Stores the number of unmatched ids in *fixed, which may be NULL. */
int finding_baseline_parse(struct finding_set *set, const void *data, size_t length, const char *name,
			   size_t *fixed);
int finding_baseline_read(struct finding_set *set, const char *path, size_t *fixed);

/* Writes a baseline, which is a text with the ids of the confirmed bugs that are not
 * suppressed. */
int finding_baseline_write(const struct finding_set *set, FILE *out);

#endif
