// SPDX-License-Identifier: Apache-2.0
/*
 * Fisher's exact test (cause-int.h).  If it does not matter to which group a run belongs, the
 * number of failures in group a has a hypergeometric distribution.  inject/significance.c has the
 * two-sided test for samples of any size.
 */
#include "classify/cause-int.h"

#include "base/error.h"

/* Returns the probability that exactly `failed` of the failures happen in group a.  The failures
 * are drawn one after the other from all runs, and the result is multiplied by the number of orders
 * in which they can be drawn.  Fractions are multiplied one by one, so that no factorial
 * overflows. */
static double probability(struct cause_count a, struct cause_count b, size_t failed)
{
	size_t failures = a.failed + b.failed, all = a.runs + b.runs, rest = failures - failed;
	double p = 1;

	for (size_t i = 0; i < failed; i++)
		p *= (double)(a.runs - i) / (double)(all - i) * (double)(failures - i) / (double)(i + 1);
	for (size_t i = 0; i < rest; i++)
		p *= (double)(b.runs - i) / (double)(all - failed - i);
	return p;
}

double cause_chance(struct cause_count a, struct cause_count b)
{
	size_t failures = a.failed + b.failed, most = failures < a.runs ? failures : a.runs;
	double sum = 0;

	RD_ASSERT(a.failed <= a.runs && b.failed <= b.runs);
	if (!a.runs || !b.runs)
		return 1;
	for (size_t n = a.failed; n <= most; n++)
		sum += failures - n <= b.runs ? probability(a, b, n) : 0;
	return sum < 1 ? sum : 1;
}
