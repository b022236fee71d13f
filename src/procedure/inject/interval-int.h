/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clopper-Pearson confidence intervals (1934) for a share that was observed as k of n.  Their
 * coverage is at least the nominal level for every n and k, including the important case of 0 of n.
 * For weighted samples, n is the effective size and need not be an integer.
 */
#ifndef INJECT_INTERVAL_INT_H
#define INJECT_INTERVAL_INT_H

#include <stdint.h>

struct campaign_interval {
	double low, high;
};

/* The interval for k of n, with 0 <= k <= n.  If n is 0, it is 0 to 1.  `level` is 0.95 for the 95
 * % interval. */
struct campaign_interval campaign_interval(double k, double n, double level);

/* The probability that a Beta(a, b) value is at most x: the regularised incomplete beta function; a
 * and b above 0. */
double campaign_beta(double a, double b, double x);

/* The interval for a number of runs that is not fixed in advance, because the results decide when
 * to stop.  The probability that the true share ever lies outside the interval, at any n, is at
 * most 1 - level.  The interval is narrowest when its half width is `half`. */
struct campaign_interval campaign_sequence(double k, double n, double half, double level);

/* The smallest n at which such an interval is at most 2 * `half` wide, if the share is `share`; 0
 * if no n up to `most` is large enough. */
uint64_t campaign_sequence_size(double share, double half, double level, uint64_t most);

#endif
