/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of bitcode/cost-int.h: which kind of code costs less, quickly generated or
 * fast-running, and how the run time of quickly generated code is remembered.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/file.h"
#include "bitcode/cost-int.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/u-bitcode-cost-XXXXXX";
static struct bitcode_cache cache = {.directory = directory};

static bool fast_for(uint64_t bytes, double spent, double expected)
{
	return bitcode_cost_wants_fast(
		&(struct bitcode_cost){.make_fast = bitcode_cost_to_make(bytes, true),
				       .make_quick = bitcode_cost_to_make(bytes, false),
				       .spent = spent,
				       .expected = expected});
}

/* Fast code is not made if that takes longer than allowed, however much it would save. */
static void test_limit(void **state)
{
	struct bitcode_cost c = {.make_fast = 10, .expected = 1e6};

	(void)state;
	assert_true(bitcode_cost_wants_fast(&c));
	c.most = 10;
	assert_true(bitcode_cost_wants_fast(&c));
	c.most = 9;
	assert_false(bitcode_cost_wants_fast(&c));
}

static void test_what_costs_less(void **state)
{
	(void)state;
	assert_true(fast_for(0, 0, 0));		     /* nothing remains to be generated */
	assert_true(fast_for(100 << 10, 0, 30));     /* a small program */
	assert_false(fast_for(6 << 20, 0, 30));	     /* sqlite3 in one run */
	assert_true(fast_for(6 << 20, 0, 120));	     /* sqlite3 in a check */
	assert_true(fast_for(6 << 20, 60, 30));	     /* sqlite3 after a minute of runs */
	assert_false(fast_for(200 << 20, 600, 120)); /* a browser */
}

/* However long a program runs in total, the total cost is at most about twice the cost of using
 * only the better kind of code. */
static void test_never_far_from_the_best(void **state)
{
	(void)state;
	for (double total = 1; total < 1e5; total *= 1.7)
		for (uint64_t bytes = 1 << 14; bytes < 1 << 26; bytes *= 2) {
			double quick = bitcode_cost_to_make(bytes, false);
			double fast = bitcode_cost_to_make(bytes, true);
			double all_quick = quick + total, all_fast = fast + total * 0.4;
			double best = all_quick < all_fast ? all_quick : all_fast;
			double ran = 0, paid = 0;
			bool is_fast = false;

			for (int run = 0; run < 100; run++) {
				struct bitcode_cost c = {fast, run ? 0 : quick, ran, 30, 0};
				if (!is_fast && bitcode_cost_wants_fast(&c)) {
					is_fast = true;
					paid += fast;
				} else if (!run) {
					paid += quick;
				}
				paid += total / 100 * (is_fast ? 0.4 : 1);
				ran += is_fast ? 0 : total / 100;
			}
			assert_true(paid <= 2.2 * best + 30);
		}
}

static void test_remembers(void **state)
{
	char *path = rd_xasprintf("%s/cost/key", directory);

	(void)state;
	assert_true(bitcode_cost_spent(&cache, "key") < 0);
	bitcode_cost_spend(&cache, "key", 0);
	assert_true(bitcode_cost_spent(&cache, "key") == 0);
	bitcode_cost_spend(&cache, "key", 2.5);
	bitcode_cost_spend(&cache, "key", 4);
	assert_true(bitcode_cost_spent(&cache, "key") == 6.5);
	assert_true(bitcode_cost_spent(&cache, "other") < 0);
	/* If the file is damaged, the time starts again at 0. */
	for (const char *const *bad = (const char *const[]){"", "x\n", "-3\n", "nan\n", "1e300\n", "7", NULL};
	     *bad; bad++) {
		assert_int_equal(rd_file_write(path, *bad, strlen(*bad)), 0);
		assert_true(bitcode_cost_spent(&cache, "key") == 0);
	}
	bitcode_cost_spend(&cache, "key", 1);
	assert_true(bitcode_cost_spent(&cache, "key") == 1);
	free(path);
}

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return rd_remove_tree(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_what_costs_less),
		cmocka_unit_test(test_never_far_from_the_best),
		cmocka_unit_test(test_remembers),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
