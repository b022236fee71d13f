/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares two campaigns.  For each kind of fault and each place that both have, tests whether the
 * shares of runs differ.  In: the statistics of both campaigns.  Out: differences with intervals
 * and tests.
 *
 * Tests are corrected by Holm's method within four families: faults by outcome, functions, lines
 * and variables.  In each family the probability of even one false difference is at most 5 %.
 */
#ifndef INJECT_AGAINST_H
#define INJECT_AGAINST_H

#include "inject/significance.h"
#include "inject/statistics.h"

#define CAMPAIGN_WHOLE CAMPAIGN_BYS /* value of `by` for a comparison of the whole campaign */

struct campaign_contrast {
	unsigned by;	   /* enum campaign_by, or CAMPAIGN_WHOLE */
	const char *place; /* NULL for the whole campaign */
	const char *fault; /* kind of fault; NULL for all kinds */
	unsigned measure;
	struct campaign_rate base, rate;
	struct campaign_difference difference; /* `rate` minus `base` */
};

struct campaign_against {
	const struct campaign_statistics *base, *with;
	struct campaign_contrast *items;
	size_t count, capacity;
	size_t differ; /* number of significant differences */
	/* True if both campaigns have the same kinds of fault in the same proportions.  If not,
	 * places are not compared, and kinds of fault are compared only one by one. */
	bool same_proportions;
	bool same_program; /* true if the programs have the same name */
};

/* Compares two campaigns, which must outlive *a.  It is an error if they have no kind of fault in
 * common. */
int campaign_against(struct campaign_against *a, const struct campaign_statistics *base,
		     const struct campaign_statistics *with);
void campaign_against_release(struct campaign_against *a);

/* Returns true if the difference is significant at 5 %, after the correction. */
bool campaign_differs(const struct campaign_contrast *c);

#endif
