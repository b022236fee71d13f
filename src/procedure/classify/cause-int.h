/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: compares how often two groups of runs fail.  From the numbers of runs and
 * failures, computes the probability that such a difference arises by chance.
 */
#ifndef CLASSIFY_CAUSE_INT_H
#define CLASSIFY_CAUSE_INT_H

#include <stddef.h>

/* The number of usable runs in a group, and the number of those runs that have a certain fault. */
struct cause_count {
	size_t runs, failed;
};

/* Returns the probability that at least a.failed of all failures happen in group a, if both groups
 * fail equally often (Fisher's exact test, one-sided).  Returns 1 if a group has no run. */
double cause_chance(struct cause_count a, struct cause_count b);

#endif
