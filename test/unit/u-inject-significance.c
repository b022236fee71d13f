// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of comparisons of two shares.  They are compared with published numbers, and with slow
 * references that add up all tables or all subsets of tests.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "inject/significance.h"

#include <math.h>
#include <stdlib.h>

static void check_near(double found, double expected, double within)
{
	if (!(fabs(found - expected) <= within))
		fail_msg("%.9g, not %.9g", found, expected);
}

/* Exact fractions: 34/70 of Fisher's tea experiment, the example of a teetotal dieter, and an
 * example in which both tails contribute. */
static void exact_fractions(void **state)
{
	(void)state;
	check_near(campaign_fisher(3, 4, 1, 4), 0.4857142857, 1e-9); /* Fisher's tea */
	check_near(campaign_fisher(1, 12, 9, 12), 0.002759456, 1e-9);
	check_near(campaign_fisher(10, 15, 3, 15), 0.0253276870, 1e-9);
	check_near(campaign_fisher(0, 10, 0, 20), 1, 1e-12);
	check_near(campaign_fisher(5, 5, 9, 9), 1, 1e-12);
}

static long double choose(int n, int k)
{
	return expl(lgammal(n + 1) - lgammal(k + 1) - lgammal(n - k + 1));
}

/* Adds up all tables with the same margins. */
static double slow_fisher(int hits_a, int runs_a, int hits_b, int runs_b)
{
	int hits = hits_a + hits_b;
	long double here = choose(runs_a, hits_a) * choose(runs_b, hits_b), rare = 0, all = 0;

	for (int x = 0; x <= runs_a && x <= hits; x++) {
		long double term;

		if (hits - x > runs_b)
			continue;
		term = choose(runs_a, x) * choose(runs_b, hits - x);
		all += term;
		if (term <= here * (1 + 1e-7L))
			rare += term;
	}
	return (double)(rare / all);
}

static void slow_twin(void **state)
{
	(void)state;
	srand(3);
	for (int i = 0; i < 3000; i++) {
		int runs_a = 1 + rand() % 300, runs_b = 1 + rand() % 300;
		int hits_a = rand() % (runs_a + 1), hits_b = rand() % (runs_b + 1);
		double expected = slow_fisher(hits_a, runs_a, hits_b, runs_b);
		double found = campaign_fisher((uint64_t)hits_a, (uint64_t)runs_a, (uint64_t)hits_b,
					       (uint64_t)runs_b);

		check_near(found, expected, 1e-9 * expected + 1e-300);
		check_near(campaign_fisher((uint64_t)hits_b, (uint64_t)runs_b, (uint64_t)hits_a,
					   (uint64_t)runs_a),
			   found, 1e-9 * found + 1e-300);
	}
}

/* With millions of runs, only a few standard deviations of terms are added up.  The result agrees
 * with the normal distribution. */
static void many_runs(void **state)
{
	double found;

	(void)state;
	found = campaign_fisher(500000, 1000000, 501000, 1000000);
	check_near(found, erfc(1000 / sqrt(500000) / sqrt(2)), 0.003);
	assert_true(campaign_fisher(0, 10000000, 10000000, 10000000) < 1e-300);
	check_near(campaign_fisher(10, 10000000, 10, 10000000), 1, 1e-9);
}

/* R. G. Newcombe, Interval estimation for the difference between independent proportions, Statistics in
 * Medicine 17 (1998), table II, method 10. */
static void newcombe(void **state)
{
	static const struct {
		uint64_t hits_b, runs_b, hits_a, runs_a;
		double low, high;
	} table[] = {
		{56, 70, 48, 80, .0524, .3339},
		{9, 10, 3, 10, .1705, .8090},
		{10, 10, 0, 20, .6791, 1},
		{10, 10, 0, 10, .6075, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct campaign_sample a = {table[i].hits_a, table[i].runs_a, 0, 0},
				       b = {table[i].hits_b, table[i].runs_b, 0, 0};
		struct campaign_difference d;

		a.share = (double)a.hits / (double)a.runs;
		b.share = (double)b.hits / (double)b.runs;
		a.size = (double)a.runs;
		b.size = (double)b.runs;
		d = campaign_difference(&a, &b);
		assert_true(d.exact);
		check_near(d.low, table[i].low, 0.00006);
		check_near(d.high, table[i].high, 0.00006);
	}
}

/* A weighted sample counts as much as its effective size. */
static void weighted(void **state)
{
	struct campaign_sample a = {100, 200, 0.4, 120}, b = {150, 300, 0.6, 150}, none = {0, 0, 0, 0};
	struct campaign_difference d = campaign_difference(&a, &b);

	(void)state;
	assert_false(d.exact);
	/* the pooled share is 138 of 270 */
	check_near(d.chance, erfc(0.2 / sqrt(2 * (138.0 / 270) * (132.0 / 270) * (1 / 120.0 + 1 / 150.0))),
		   1e-12);
	d = campaign_difference(&a, &none);
	assert_true(d.chance == 1 && d.low == -1 && d.high == 1);
}

/* The closed testing procedure, of which Holm's correction is a shortcut: the p of a test is the
 * largest Bonferroni p of all sets of tests that contain it. */
static double closed(const struct campaign_difference *tests, unsigned count, unsigned which)
{
	double worst = 0;

	for (unsigned set = 1; set < 1u << count; set++) {
		double least = 1;

		if (!(set >> which & 1))
			continue;
		for (unsigned i = 0; i < count; i++)
			if (set >> i & 1)
				least = fmin(least, tests[i].chance);
		worst = fmax(worst, fmin(1, least * __builtin_popcount(set)));
	}
	return worst;
}

static void holm(void **state)
{
	struct campaign_difference tests[8] = {0}, *all[8];

	(void)state;
	srand(11);
	for (int round = 0; round < 200; round++) {
		unsigned count = 1 + (unsigned)rand() % 8;

		for (unsigned i = 0; i < count; i++) {
			tests[i].chance = pow(rand() / (double)RAND_MAX, 3);
			all[i] = &tests[i];
		}
		campaign_holm(all, count);
		for (unsigned i = 0; i < count; i++)
			check_near(tests[i].adjusted, closed(tests, count, i), 1e-12);
	}
	campaign_holm(all, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_fractions), cmocka_unit_test(slow_twin), cmocka_unit_test(many_runs),
		cmocka_unit_test(newcombe),	   cmocka_unit_test(weighted),	cmocka_unit_test(holm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
