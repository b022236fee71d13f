// SPDX-License-Identifier: Apache-2.0
/*
 * Compares cause_chance() with its definition: of all ways in which the failures can be distributed
 * over the runs of both groups, it is the share of those with at least as many failures in the
 * first group.  The reference goes through all subsets of the runs.
 */
#include "classify/cause-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* With more runs, going through all subsets would take long. */
enum { MOST = 7 };

static size_t bits(uint32_t set)
{
	size_t n = 0;

	for (; set; set &= set - 1)
		n++;
	return n;
}

static double slow_chance(struct cause_count a, struct cause_count b)
{
	size_t runs = a.runs + b.runs, failures = a.failed + b.failed, all = 0, extreme = 0;
	uint32_t first = (1u << a.runs) - 1; /* the runs of group a */

	if (!a.runs || !b.runs)
		return 1;
	for (uint32_t failed = 0; failed < 1u << runs; failed++) {
		if (bits(failed) != failures)
			continue;
		all++;
		extreme += bits(failed & first) >= a.failed;
	}
	return (double)extreme / (double)all;
}

static void assert_near(double x, double y)
{
	assert_true(x > y - 1e-9 && x < y + 1e-9);
}

static void test_all_small_groups(void **state)
{
	struct cause_count a, b;

	(void)state;
	for (a.runs = 0; a.runs <= MOST; a.runs++)
		for (b.runs = 0; b.runs <= MOST; b.runs++)
			for (a.failed = 0; a.failed <= a.runs; a.failed++)
				for (b.failed = 0; b.failed <= b.runs; b.failed++)
					assert_near(cause_chance(a, b), slow_chance(a, b));
}

/* One more failure in the first group is always less likely by chance. */
static void test_more_failures(void **state)
{
	(void)state;
	for (size_t runs = 1; runs <= 48; runs++)
		for (size_t other = 0; other <= runs; other += 3)
			for (size_t failed = 1; failed <= runs; failed++) {
				struct cause_count a = {runs, failed}, fewer = {runs, failed - 1},
						   b = {runs, other};

				assert_true(cause_chance(a, b) <= cause_chance(fewer, b) + 1e-12);
			}
}

/* With as many runs as classification makes, the result is still a probability. */
static void test_large_groups(void **state)
{
	struct cause_count a = {96, 0}, b = {96, 0};

	(void)state;
	for (a.failed = 0; a.failed <= a.runs; a.failed++)
		for (b.failed = 0; b.failed <= b.runs; b.failed++) {
			double p = cause_chance(a, b);

			assert_true(p >= 0 && p <= 1);
			/* both tails together contain each outcome, one of them twice */
			assert_true(p + cause_chance(b, a) >= 1 - 1e-9);
		}
	assert_near(cause_chance((struct cause_count){96, 96}, (struct cause_count){96, 0}), 0);
	assert_near(cause_chance((struct cause_count){96, 48}, (struct cause_count){96, 0}), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_small_groups),
					   cmocka_unit_test(test_more_failures),
					   cmocka_unit_test(test_large_groups)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
