// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of confidence intervals, compared with published ones and with a slow reference that
 * adds up the binomial distribution term by term.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "inject/interval-int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void check_near(double found, double expected, double within)
{
	if (fabs(found - expected) > within)
		fail_msg("%.9g, not %.9g", found, expected);
}

/* R. G. Newcombe, Two-sided confidence intervals for the single proportion, Statistics
 * in Medicine 17 (1998), table I, method 5 (Clopper-Pearson). */
static void newcombe(void **state)
{
	static const struct {
		double k, n, low, high;
	} table[] = {
		{81, 263, .2527, .3676},
		{15, 148, .0578, .1617},
		{0, 20, .0000, .1684},
		{1, 29, .0009, .1776},
	};

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct campaign_interval found = campaign_interval(table[i].k, table[i].n, 0.95);

		check_near(found.low, table[i].low, 0.00005);
		check_near(found.high, table[i].high, 0.00005);
	}
}

/* If all runs hit, or none, the ends of the interval have closed forms. */
static void ends(void **state)
{
	static const double sizes[] = {1, 2, 3, 10, 100, 5000, 125000, 1e7};

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		double n = sizes[i], root = pow(0.025, 1 / n);
		struct campaign_interval none = campaign_interval(0, n, 0.95),
					 all = campaign_interval(n, n, 0.95);

		assert_true(none.low == 0 && all.high == 1);
		check_near(none.high, 1 - root, 1e-9);
		check_near(all.low, root, 1e-9);
	}
	struct campaign_interval unknown = campaign_interval(0, 0, 0.95);
	assert_true(unknown.low == 0 && unknown.high == 1);
}

/* Returns the probability of at least k hits in n runs, added up term by term. */
static double at_least(int k, int n, double p)
{
	long double sum = 0;

	for (int i = k; i <= n; i++)
		sum += expl(lgammal(n + 1) - lgammal(i + 1) - lgammal(n - i + 1) + i * logl(p) +
			    (n - i) * log1pl(-(long double)p));
	return (double)sum;
}

/* The definition of the interval: if the true share is `low`, this many hits or more have a
 * probability of 2.5 %; if it is `high`, so have this many or fewer. */
static void slow_twin(void **state)
{
	static const int sizes[] = {1, 2, 5, 17, 60, 333, 1000};

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		int n = sizes[i];

		for (int k = 0; k <= n; k += 1 + n / 13) {
			struct campaign_interval found = campaign_interval(k, n, 0.95);

			assert_true(found.low <= (double)k / n && found.high >= (double)k / n);
			if (k > 0)
				check_near(at_least(k, n, found.low), 0.025, 1e-9);
			if (k < n)
				check_near(1 - at_least(k + 1, n, found.high), 0.025, 1e-9);
		}
	}
}

static void beta_distribution(void **state)
{
	(void)state;
	for (double x = 0.01; x < 1; x += 0.07) {
		check_near(campaign_beta(1, 1, x), x, 1e-12);
		check_near(campaign_beta(3, 1, x), x * x * x, 1e-12);
		check_near(campaign_beta(0.5, 0.5, x), 2 / M_PI * asin(sqrt(x)), 1e-12);
		check_near(campaign_beta(7.25, 90.5, x) + campaign_beta(90.5, 7.25, 1 - x), 1, 1e-12);
	}
	assert_true(campaign_beta(2, 3, 0) == 0 && campaign_beta(2, 3, 1) == 1);
}

/* If the number of hits grows, no end of the interval moves down, also for numbers with a
 * fraction. */
static void monotonous(void **state)
{
	(void)state;
	for (double n = 3.5; n < 4000; n *= 1.7) {
		struct campaign_interval before = campaign_interval(0, n, 0.95);

		for (double k = n / 40; k <= n; k += n / 40) {
			struct campaign_interval now = campaign_interval(k, n, 0.95);

			assert_true(now.low >= before.low && now.high >= before.high);
			assert_true(now.low <= k / n && now.high >= k / n - 1e-12);
			before = now;
		}
	}
}

/* ---- confidence sequences: intervals that are valid after every run ---- */

#define LOOKS 260

/* The probability that a campaign with the true share p has, after any of 1 to LOOKS runs, an
 * interval that does not contain p.  Computed by following all sequences of hits together. */
static double ever_misses(double p, double half)
{
	double chance[LOOKS + 2] = {1}, missed = 0;

	for (int n = 1; n <= LOOKS; n++) {
		for (int k = n; k >= 0; k--)
			chance[k] = (k < n ? chance[k] * (1 - p) : 0) + (k ? chance[k - 1] * p : 0);
		for (int k = 0; k <= n; k++) {
			struct campaign_interval i;

			if (chance[k] < 1e-15)
				continue;
			i = campaign_sequence(k, n, half, 0.95);
			if (p >= i.low && p <= i.high)
				continue;
			missed += chance[k];
			chance[k] = 0;
		}
	}
	return missed;
}

static void holds_at_every_look(void **state)
{
	static const double shares[] = {0.001, 0.01, 0.05, 0.17, 0.5, 0.9};

	(void)state;
	for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
		double missed = ever_misses(shares[i], 0.1);

		assert_true(missed <= 0.05);
	}
	/* but it is not so wide that it means nothing */
	assert_true(ever_misses(0.5, 0.1) > 0.005);
}

/* Compares the interval with its definition on a grid: p is inside if and only if M(p) is below
 * 20. */
static void sequence_twin(void **state)
{
	static const double half = 0.05;

	(void)state;
	srand(7);
	for (int round = 0; round < 60; round++) {
		int n = 1 + rand() % 400, k = rand() % (n + 1);
		struct campaign_interval i = campaign_sequence(k, n, half, 0.95);
		long double mixture =
			expl(lgammal(k + 0.5L) + lgammal(n - k + 0.5L) - lgammal(n + 1.0L)) / M_PIl;

		for (int g = 1; g < 200; g++) {
			double p = g / 200.0, up = fmin(half, (1 - p) / 2), down = fmin(half, p / 2);
			long double here = powl(p, k) * powl(1 - p, n - k), sum = mixture / 2;

			sum += powl(p + up, k) * powl(1 - p - up, n - k) / 4;
			sum += powl(p - down, k) * powl(1 - p + down, n - k) / 4;
			/* Values of M(p) near 20 are left out. */
			if (sum / here < 19.7L)
				assert_true(p >= i.low && p <= i.high);
			if (sum / here > 20.3L)
				assert_true(p <= i.low || p >= i.high);
		}
	}
}

static void sequence_sizes(void **state)
{
	static const double shares[] = {0, 0.02, 0.3, 0.5, 1};

	(void)state;
	for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
		uint64_t n = campaign_sequence_size(shares[i], 0.01, 0.95, 100000);
		struct campaign_interval now = campaign_sequence(shares[i] * n, n, 0.01, 0.95),
					 before = campaign_sequence(shares[i] * (n - 1), n - 1, 0.01, 0.95);

		assert_true(n > 1 && now.high - now.low <= 0.02 && before.high - before.low > 0.02);
	}
	/* A campaign with a fixed number of runs would need 9,604. */
	assert_in_range(campaign_sequence_size(0.5, 0.01, 0.95, 1000000), 9604, 2.4 * 9604);
	assert_int_equal(campaign_sequence_size(0.5, 0.01, 0.95, 9000), 0);
	assert_true(campaign_sequence(0, 0, 0.01, 0.95).high == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(newcombe),	 cmocka_unit_test(ends),
		cmocka_unit_test(slow_twin),	 cmocka_unit_test(beta_distribution),
		cmocka_unit_test(monotonous),	 cmocka_unit_test(holds_at_every_look),
		cmocka_unit_test(sequence_twin), cmocka_unit_test(sequence_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
