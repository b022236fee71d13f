/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clopper-Pearson confidence intervals (1934) for a share, if k of n runs were observed to have a
 * property.  The coverage of these intervals is at least the nominal level for every n and every
 * true share.  They are also valid in the important case k = 0.  For weighted samples, n is the
 * effective sample size and need not be an integer.
 */
#ifndef INJECT_INTERVAL_INT_H
#define INJECT_INTERVAL_INT_H

#include <stdint.h>

struct campaign_interval {
	double low, high;
};

/* Returns the interval for k of n, where 0 <= k <= n.  If n is 0, the interval is 0 to 1.  `level`
 * is the confidence level; 0.95 gives the 95 % interval. */
struct campaign_interval campaign_interval(double k, double n, double level);

/* Returns the probability that a value with the distribution Beta(a, b) is at most x.  This is the
 * regularised incomplete beta function. a and b must be above 0. */
double campaign_beta(double a, double b, double x);

/* Returns the interval for k of n if the number of runs is not fixed in advance, because the
 * results decide when to stop.  The probability that the true share lies outside the interval for
 * at least one n is at most 1 - level.  The method is tuned to give the narrowest interval at the
 * moment when its half width reaches `half`. */
struct campaign_interval campaign_sequence(double k, double n, double half, double level);

/* Returns the smallest n at which the interval of campaign_sequence() is at most 2 * `half` wide,
 * provided that the observed share is `share`.  Returns 0 if no n up to `most` is large enough. */
uint64_t campaign_sequence_size(double share, double half, double level, uint64_t most);

#endif
