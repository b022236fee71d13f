/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two campaigns compared: for each kind of fault that both have, and for each place, whether the shares of
 * runs differ.  In: the statistics of both.  Out: differences with intervals and tests.
 *
 * Tests are corrected by Holm's method within four families: faults by outcome, functions, lines and
 * variables.  In each the chance of even one false difference is at most 5 %.
 */
#ifndef INJECT_AGAINST_H
#define INJECT_AGAINST_H

#include "inject/significance.h"
#include "inject/statistics.h"

#define CAMPAIGN_WHOLE CAMPAIGN_BYS /* a comparison that is by no place */

struct campaign_contrast {
	unsigned by;	   /* enum campaign_by, or CAMPAIGN_WHOLE */
	const char *place; /* NULL: of the whole campaign */
	const char *fault; /* NULL: all */
	unsigned measure;
	struct campaign_rate base, rate;
	struct campaign_difference difference; /* rate less base */
};

struct campaign_against {
	const struct campaign_statistics *base, *with;
	struct campaign_contrast *items;
	size_t count, capacity;
	size_t differ;	   /* that differ significantly */
	bool same_mix;	   /* both have the same kinds of fault in the same proportions: then also all kinds
			      together, and places, are compared */
	bool same_program; /* by name */
};

/* Both outlive *a.  An error if no kind of fault is in both. */
int campaign_against(struct campaign_against *a, const struct campaign_statistics *base,
		     const struct campaign_statistics *with);
void campaign_against_release(struct campaign_against *a);

/* At 5 %, after the correction. */
bool campaign_differs(const struct campaign_contrast *c);

#endif
