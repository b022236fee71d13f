// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/compare.h.  Searches in sorted numbers are compared with a linear search. */
#include "base/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

enum { MOST = 40, ROUNDS = 2000 };

struct pair {
	uint32_t first, second;
};

static int by_both(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;

	RD_BY(a->first, b->first);
	RD_BY(a->second, b->second);
	return 0;
}

static int by_number(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	RD_BY(*a, *b);
	return 0;
}

/* The slow twin of rd_lower_bound(): a linear search. */
static size_t walk(const uint32_t *sorted, size_t low, size_t high, uint32_t value)
{
	while (low < high && sorted[low] < value)
		low++;
	return low;
}

static void lower_bound_is_where_a_walk_stops(void **state)
{
	uint32_t numbers[MOST];

	(void)state;
	srand(1);
	for (int round = 0; round < ROUNDS; round++) {
		size_t count = (size_t)rand() % (MOST + 1), low = count ? (size_t)rand() % count : 0;

		for (size_t i = 0; i < count; i++)
			/* few values, so that most occur several times */
			numbers[i] = (uint32_t)rand() % 25;
		qsort(numbers, count, sizeof *numbers, by_number);
		for (uint32_t value = 0; value <= 25; value++)
			assert_int_equal(rd_lower_bound(numbers, low, count, value),
					 walk(numbers, low, count, value));
	}
}

static void extremes_are_found(void **state)
{
	static const uint32_t numbers[] = {0, UINT32_MAX};

	(void)state;
	assert_int_equal(rd_lower_bound(numbers, 0, 0, 0), 0);
	assert_int_equal(rd_lower_bound(numbers, 0, 2, 0), 0);
	assert_int_equal(rd_lower_bound(numbers, 0, 2, UINT32_MAX), 1);
	assert_int_equal(rd_lower_bound(numbers, 1, 1, 0), 1);
}

/* The variable may be narrower than size_t, and the condition may have any shape. */
static void bisect_asks_any_condition(void **state)
{
	(void)state;
	for (uint32_t count = 0; count < 70; count++)
		for (uint32_t border = 0; border <= count; border++) {
			uint32_t at = 0, asked = 0;

			RD_BISECT(at, count, i, (asked++, i < border));
			assert_int_equal(at, border);
			assert_true(asked <= 7); /* 7 is the logarithm of 70, rounded up */
		}
}

static void the_first_difference_decides(void **state)
{
	struct pair a = {1, 9}, b = {2, 0}, c = {1, UINT32_MAX};

	(void)state;
	assert_true(by_both(&a, &b) < 0 && by_both(&b, &a) > 0);
	assert_true(by_both(&a, &c) < 0 && by_both(&c, &a) > 0);
	assert_int_equal(by_both(&a, &a), 0);
}

struct row {
	uint32_t a;
	int b;
	uint64_t c, d, e;
};
RD_COMPARISON(by_one, struct row, b)
RD_COMPARISON(by_three, struct row, c, a, b)
RD_COMPARISON(by_five, struct row, a, b, c, d, e)

static void members_decide_in_turn(void **state)
{
	struct row x = {1, -2, 3, 4, 5}, y = x;

	(void)state;
	assert_int_equal(by_five(&x, &y), 0);
	y.e = 6;
	assert_int_equal(by_five(&x, &y), -1);
	assert_int_equal(by_five(&y, &x), 1);
	y.a = 0;
	assert_int_equal(by_five(&x, &y), 1);
	assert_int_equal(by_three(&x, &y), 1);
	assert_int_equal(by_one(&x, &y), 0);
	y.c = UINT64_MAX;
	assert_int_equal(by_three(&x, &y), -1);
	y.b = -3;
	assert_int_equal(by_one(&x, &y), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lower_bound_is_where_a_walk_stops),
		cmocka_unit_test(extremes_are_found),
		cmocka_unit_test(bisect_asks_any_condition),
		cmocka_unit_test(the_first_difference_decides),
		cmocka_unit_test(members_decide_in_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
