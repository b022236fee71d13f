// SPDX-License-Identifier: Apache-2.0
/*
 * Clopper-Pearson intervals.  Their ends are quantiles of beta distributions:
 *
 * 	low  = the alpha/2 quantile of Beta(k, n - k + 1)
 * 	high = the 1 - alpha/2 quantile of Beta(k + 1, n - k)
 *
 * The distribution is computed by its continued fraction (Abramowitz and Stegun 26.5.8) with
 * Lentz's method, on the side of the mean where the fraction converges fast; the quantile is found
 * by bisection.  A report needs a few hundred quantiles, so robustness matters more than speed.
 *
 * Confidence sequences.  Suppose that a campaign computes a 95 % interval after each run, and stops
 * when the interval is narrow enough.  This interval then misses the true share in more than 5 % of
 * all campaigns.  Therefore the likelihood of a share p is compared with an average of likelihoods
 * of other shares,
 *
 * 	M(p) = (B(k + 1/2, n - k + 1/2) / B(1/2, 1/2) / 2 + L(p + h) / 4 + L(p - h) / 4) / L(p)
 *
 * where L(q) = q^k (1 - q)^(n - k).  For the true p this is a martingale with mean 1, however long
 * the campaign continues.  By Ville's inequality, the probability that it ever reaches 1 / alpha is
 * at most alpha.  So the values of p with M(p) < 1 / alpha form an interval that is valid for all n
 * at once (Robbins 1970).  The first term, a mixture over all shares, works for any n.  The other
 * terms make the interval as narrow as possible when its half width is h.  It then needs 2.3 times
 * as many runs as an interval for a fixed number of runs; the mixture alone needs 4 times as many.
 * Near 0 and 1, p + h and p - h go at most halfway to the end.
 *
 * For p below k / n, the first two terms decrease as p grows.  The third term is left out, which
 * can only make the interval wider.  Above k / n, the third term is used instead of the second, and
 * both terms increase.  So the ends of the interval can be found by bisection.
 */
#include "inject/interval-int.h"

#include "base/error.h"

#include <math.h>
#include <stdbool.h>

/* Largest number of terms of a continued fraction, far more than are ever needed. */
#define STEPS_MAX 100000
/* Largest number of steps of a bisection.  A double has 53 bits, and small numbers have leading
 * zeros. */
#define HALVINGS_MAX 200
#define TINY 1e-300   /* replaces 0 in Lentz's method */
#define PRECISE 1e-15 /* relative precision; the limit of double */

static double not_zero(double x)
{
	return fabs(x) < TINY ? TINY : x;
}

/* Returns the continued fraction of I_x(a, b).  It converges fast for x below (a + 1) / (a + b +
 * 2). */
static double fraction(double a, double b, double x)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), value = d;

	for (int m = 1; m < STEPS_MAX; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), step;

		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		value *= d * c;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		step = d * c;
		value *= step;
		if (fabs(step - 1) < PRECISE)
			break;
	}
	return value;
}

/* Returns the logarithm of the gamma function. lgamma() would write to a global variable. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

double campaign_beta(double a, double b, double x)
{
	RD_ASSERT(a > 0 && b > 0);
	double front;

	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * fraction(a, b, x) / a;
	return 1 - front * fraction(b, a, 1 - x) / b;
}

static double quantile(double a, double b, double p)
{
	double low = 0, high = 1;

	for (int i = 0; i < HALVINGS_MAX && low < high; i++) {
		double middle = (low + high) / 2;

		if (middle <= low || middle >= high)
			break;
		if (campaign_beta(a, b, middle) < p)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

struct campaign_interval campaign_interval(double k, double n, double level)
{
	RD_ASSERT(n >= 0 && level > 0 && level < 1);
	double alpha = 1 - level;
	struct campaign_interval i = {0, 1};

	if (!(n > 0))
		return i;
	k = fmin(fmax(k, 0), n);
	if (k > 0)
		i.low = quantile(k, n - k + 1, alpha / 2);
	if (k < n)
		i.high = quantile(k + 1, n - k, 1 - alpha / 2);
	return i;
}

/* ---- sequences ---- */

static double log_beta(double a, double b)
{
	return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
}

/* Returns the logarithm of the likelihood of p.  The term 0 log 0 counts as 0. */
static double log_likelihood(double k, double n, double p)
{
	return (k > 0 ? k * log(p) : 0) + (n - k > 0 ? (n - k) * log1p(-p) : 0);
}

struct look {
	double k, n, half;
	double mixture; /* logarithm of the first term of M(p) L(p) */
};

/* Returns log M(p), without the term for the other side of k / n. */
static double log_against(const struct look *l, double p)
{
	bool below = p < l->k / l->n;
	double step = below ? fmin(l->half, (1 - p) / 2) : -fmin(l->half, p / 2);
	double other = log_likelihood(l->k, l->n, p + step) + log(0.25);
	double large = fmax(l->mixture, other), small = fmin(l->mixture, other);

	return large + log1p(exp(small - large)) - log_likelihood(l->k, l->n, p);
}

/* Returns the value of p between k / n and `end` (0 or 1) at which log M(p) reaches `most`. */
static double reach(const struct look *l, double most, double end)
{
	double inside = l->k / l->n, outside = end;

	for (int i = 0; i < HALVINGS_MAX; i++) {
		double middle = (inside + outside) / 2;

		if (middle == inside || middle == outside)
			break;
		if (log_against(l, middle) < most)
			inside = middle;
		else
			outside = middle;
	}
	return outside;
}

struct campaign_interval campaign_sequence(double k, double n, double half, double level)
{
	RD_ASSERT(half > 0 && level > 0 && level < 1);
	struct campaign_interval i = {0, 1};
	struct look l = {fmin(fmax(k, 0), n), n, half, 0};

	if (!(n > 0))
		return i;
	l.mixture = log_beta(l.k + 0.5, n - l.k + 0.5) - log_beta(0.5, 0.5) + log(0.5);
	if (l.k > 0)
		i.low = reach(&l, -log(1 - level), 0);
	if (l.k < n)
		i.high = reach(&l, -log(1 - level), 1);
	return i;
}

uint64_t campaign_sequence_size(double share, double half, double level, uint64_t most)
{
	uint64_t low = 1, high = most;
	struct campaign_interval i = campaign_sequence(share * (double)most, (double)most, half, level);

	if (i.high - i.low > 2 * half)
		return 0;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		i = campaign_sequence(share * (double)middle, (double)middle, half, level);
		if (i.high - i.low > 2 * half)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
