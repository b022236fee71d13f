// SPDX-License-Identifier: Apache-2.0
/* Unit tests of random numbers.  They are those of splitmix64, unbiased within bounds, and
 * independent from part to part. */
#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* The numbers that the reference program of splitmix64 prints for the seed 1234567. */
static void test_known(void **state)
{
	static const uint64_t known[] = {6457827717110365317ull, 3203168211198807973ull,
					 9817491932198370423ull, 4593380528125082431ull,
					 16408922859458223821ull};
	struct rd_random r = {1234567};

	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		assert_true(rd_mixed(1234567 + (i + 1) * RD_RANDOM_STEP) == known[i]);
		assert_true(rd_random_next(&r) == known[i]);
	}
}

/* Each of 7 numbers occurs about equally often.  A correct generator violates these bounds for one
 * seed in 10^9. */
static void test_below(void **state)
{
	struct rd_random r = {1};
	unsigned times[7] = {0};

	(void)state;
	for (int i = 0; i < 70000; i++) {
		uint64_t n = rd_random_below(&r, 7);

		assert_true(n < 7);
		times[n]++;
	}
	for (int i = 0; i < 7; i++)
		assert_in_range(times[i], 9400, 10600);
	for (int i = 0; i < 100; i++) {
		assert_true(rd_random_below(&r, 1) == 0);
		assert_true(rd_random_below(&r, (1ull << 63) + 1) <= 1ull << 63);
	}
}

static void test_parts(void **state)
{
	struct rd_random a = rd_random_of(5, 1), again = rd_random_of(5, 1), b = rd_random_of(5, 2),
			 c = rd_random_of(6, 1);

	(void)state;
	for (int i = 0; i < 100; i++) {
		uint64_t n = rd_random_next(&a);

		assert_true(n == rd_random_next(&again));
		assert_true(n != rd_random_next(&b));
		assert_true(n != rd_random_next(&c));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_below),
		cmocka_unit_test(test_parts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
