// SPDX-License-Identifier: Apache-2.0
/*
 * Tests whether two shares differ.
 *
 * Fisher's test sums the hypergeometric distribution from its mode outwards.  Each term is computed
 * from the previous one.  The sum ends when the terms are negligible even compared with the term of
 * the observed table.  So the time is proportional to a few standard deviations, not to the number
 * of runs, and small probabilities are as precise as large ones.  Terms are computed relative to
 * the term of the mode, which is the largest, so none of them overflows.  A probability below
 * 1e-300 becomes 0.
 */
#include "inject/significance.h"

#include "base/alloc.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>

#define Z 1.959963984540054 /* the 97.5 % quantile of the normal distribution */
#define TIE (1 + 1e-7)	    /* two terms whose ratio is below this differ only by rounding */
#define NEGLIGIBLE 1e-17    /* relative size below which terms do not change a double */

/* ---- Fisher ---- */

/* All 2 x 2 tables with the same margins; they differ in their first cell. */
struct margins {
	/* number of runs of each sample, and number of hits of both together */
	double first, second, hits;
	double least, most; /* smallest and largest value of the first cell */
};

static double step_up(const struct margins *m, double x)
{
	return (m->first - x) * (m->hits - x) / ((x + 1) * (m->second - m->hits + x + 1));
}

static double log_choose(double n, double k)
{
	int sign;

	return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign);
}

static double log_term(const struct margins *m, double x)
{
	return log_choose(m->first, x) + log_choose(m->second, m->hits - x);
}

struct sum {
	double all, rare; /* sum of all terms, and of those that are not above the limit */
	double limit;
};

static void add_term(struct sum *s, double term)
{
	s->all += term;
	if (term <= s->limit * TIE)
		s->rare += term;
}

double campaign_fisher(uint64_t hits_a, uint64_t runs_a, uint64_t hits_b, uint64_t runs_b)
{
	RD_ASSERT(hits_a <= runs_a && hits_b <= runs_b);
	struct margins m = {(double)runs_a, (double)runs_b, (double)(hits_a + hits_b), 0, 0};
	double mode = floor((m.first + 1) * (m.hits + 1) / (m.first + m.second + 2)), term = 1;
	struct sum s = {0};

	m.least = fmax(0, m.hits - m.second);
	m.most = fmin(m.first, m.hits);
	mode = fmin(fmax(mode, m.least), m.most);
	s.limit = exp(log_term(&m, (double)hits_a) - log_term(&m, mode));
	if ((double)hits_a == mode)
		s.limit = 1;
	add_term(&s, term);
	for (double x = mode; x < m.most && term > s.limit * NEGLIGIBLE; x++)
		add_term(&s, term *= step_up(&m, x));
	term = 1;
	for (double x = mode; x > m.least && term > s.limit * NEGLIGIBLE; x--)
		add_term(&s, term /= step_up(&m, x - 1));
	return fmin(1, s.rare / s.all);
}

/* ---- differences ---- */

/* Computes Wilson's interval, on which Newcombe's interval is based. */
static void wilson(double share, double size, double *low, double *high)
{
	RD_ASSERT(size > 0);
	double square = Z * Z, middle, half;

	*low = 0;
	*high = 1;
	if (!(size > 0))
		return;
	middle = (share + square / (2 * size)) / (1 + square / size);
	half = Z * sqrt(share * (1 - share) / size + square / (4 * size * size)) / (1 + square / size);
	*low = share > 0 ? fmax(0, middle - half) : 0;
	*high = share < 1 ? fmin(1, middle + half) : 1;
}

static double chi_square(const struct campaign_sample *a, const struct campaign_sample *b)
{
	double both = (a->share * a->size + b->share * b->size) / (a->size + b->size);
	double variance = both * (1 - both) * (1 / a->size + 1 / b->size);

	return variance > 0 ? erfc(fabs(a->share - b->share) / sqrt(2 * variance)) : 1;
}

static bool is_weighted(const struct campaign_sample *s)
{
	return fabs(s->size - (double)s->runs) > 1e-6 * (double)s->runs ||
	       fabs(s->share * (double)s->runs - (double)s->hits) > 1e-6 * (double)s->runs;
}

struct campaign_difference campaign_difference(const struct campaign_sample *a,
					       const struct campaign_sample *b)
{
	struct campaign_difference d = {.value = 0, .low = -1, .high = 1, .chance = 1, .adjusted = 1};
	double low[2], high[2];

	d.exact = !is_weighted(a) && !is_weighted(b);
	if (!a->runs || !b->runs)
		return d;
	wilson(a->share, a->size, &low[0], &high[0]);
	wilson(b->share, b->size, &low[1], &high[1]);
	d.value = b->share - a->share;
	d.low = d.value - hypot(b->share - low[1], high[0] - a->share);
	d.high = d.value + hypot(high[1] - b->share, a->share - low[0]);
	d.chance = d.exact ? campaign_fisher(a->hits, a->runs, b->hits, b->runs) : chi_square(a, b);
	d.adjusted = d.chance;
	return d;
}

/* ---- correction for many tests ---- */

static int compare_chances(const void *a, const void *b)
{
	const struct campaign_difference *x = *(struct campaign_difference *const *)a,
					 *y = *(struct campaign_difference *const *)b;

	return (x->chance > y->chance) - (x->chance < y->chance);
}

void campaign_holm(struct campaign_difference *const *all, size_t count)
{
	struct campaign_difference **sorted = rd_xcalloc(count + 1, sizeof *sorted);
	double largest = 0;

	for (size_t i = 0; i < count; i++)
		sorted[i] = all[i];
	qsort(sorted, count, sizeof *sorted, compare_chances);
	for (size_t i = 0; i < count; i++) {
		largest = fmax(largest, fmin(1, (double)(count - i) * sorted[i]->chance));
		sorted[i]->adjusted = largest;
	}
	free(sorted);
}
