/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests whether two shares differ.  From the hits and runs of two samples, computes the difference
 * with a confidence interval.  Also computes the probability of so large a difference if the true
 * shares were equal.
 */
#ifndef INJECT_SIGNIFICANCE_H
#define INJECT_SIGNIFICANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A sample with `hits` hits in `runs` runs.  `share` and `size` are the weighted share and the
 * effective size. */
struct campaign_sample {
	uint64_t hits, runs;
	double share, size;
};

struct campaign_difference {
	/* Share of the second sample minus that of the first, from -1 to 1. */
	double value, low, high;
	double chance;	 /* two-sided p-value */
	double adjusted; /* p-value after campaign_holm() */
	/* True if `chance` was computed by Fisher's exact test, false if it was computed by a
	 * chi-square test with effective sizes. */
	bool exact;
};

/* Compares two samples.  Uses Fisher's exact test if both samples are unweighted, otherwise the
 * chi-square test with the effective sizes (Rao and Scott).  The interval is Newcombe's (1998,
 * method 10) at 95 %. */
struct campaign_difference campaign_difference(const struct campaign_sample *a,
					       const struct campaign_sample *b);

/* Returns the two-sided p-value of Fisher's test: the total probability of this table and of all
 * tables with the same margins that are not more probable.  Requires hits <= runs. */
double campaign_fisher(uint64_t hits_a, uint64_t runs_a, uint64_t hits_b, uint64_t runs_b);

/* Applies Holm's correction: sets `adjusted` of each difference.  If `adjusted` is compared with a
 * significance level, the probability of even one false difference among them is at most that
 * level. */
void campaign_holm(struct campaign_difference *const *all, size_t count);

#endif
