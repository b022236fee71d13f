// SPDX-License-Identifier: Apache-2.0
/*
 * Clopper-Pearson intervals.  Their ends are quantiles of beta distributions:
 *
 *	low  = the alpha/2 quantile of Beta(k, n - k + 1)
 *	high = the 1 - alpha/2 quantile of Beta(k + 1, n - k)
 *
 * The distribution is computed by its continued fraction (Abramowitz and Stegun
 * 26.5.8) by Lentz's method, on the side of the mean where that converges fast, and the
 * quantile by bisection: it is asked for some hundred times in a report, so that safe is
 * better than quick.
 */
#include "inject/interval.h"

#include <math.h>

#define STEPS_MAX 100000
#define TINY 1e-300
#define PRECISE 1e-15

static double not_zero(double x)
{
	return fabs(x) < TINY ? TINY : x;
}

/* The continued fraction of I_x(a, b), good for x below (a + 1) / (a + b + 2). */
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

/* lgamma() would write to a global. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

double campaign_beta(double a, double b, double x)
{
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

	for (int i = 0; i < 200 && low < high; i++) {
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
