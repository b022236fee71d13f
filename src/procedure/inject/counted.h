/* SPDX-License-Identifier: Apache-2.0 */
/* The statistics of campaigns, and the comparison of one campaign with another. */
#ifndef INJECT_COUNTED_H
#define INJECT_COUNTED_H

#include "inject/against.h"
#include "inject/results.h"

struct campaign_counted {
	struct campaign_results *results;
	/* the campaigns in the order of the directories; the baseline is last */
	struct campaign_statistics *statistics;
	size_t count;
	/* The comparison of the first campaign with the baseline, if there is one. */
	struct campaign_against against;
};

/* Reads campaigns from their directories.  `kinds` is a comma-separated list of the kinds of fault
 * whose runs are counted; NULL selects all kinds.  If `baseline` is not NULL, there must be only
 * one directory, which is compared with the baseline.  The caller must release the result even
 * after an error. */
int campaign_count(struct campaign_counted *c, char *const *directories, size_t count, const char *kinds,
		   const char *baseline);
void campaign_counted_release(struct campaign_counted *c);

#endif
