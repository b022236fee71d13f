// SPDX-License-Identifier: Apache-2.0
/* Unit tests of deadlines: in the past, in the future, and absent. */
#include "base/deadline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define HOUR_NS 3600000000000

static void test_never(void **state)
{
	(void)state;
	assert_int_equal(rd_deadline(rd_now_ns(), 0), 0);
	assert_false(rd_deadline_passed(0));
	assert_int_equal(rd_deadline_left_ns(0), 0);
	assert_int_equal(rd_deadline_share(0, 0.5), 0);
}

static void test_passed(void **state)
{
	int64_t then = rd_now_ns() - 1;

	(void)state;
	assert_true(rd_deadline_passed(then));
	assert_int_equal(rd_deadline_left_ns(then), 0);
	assert_true(rd_deadline_left_s(then) <= 0);
	assert_true(rd_deadline_passed(rd_deadline_share(then, 0.5)));
}

/* A deadline in the future: an hour is longer than this test takes. */
static void test_to_come(void **state)
{
	int64_t now = rd_now_ns(), end = rd_deadline(now, 3600 * RD_NS_PER_S), half;

	(void)state;
	assert_true(end == now + HOUR_NS);
	assert_false(rd_deadline_passed(end));
	assert_true(rd_deadline_left_ns(end) > 0 && rd_deadline_left_ns(end) <= HOUR_NS);
	assert_true(rd_deadline_left_s(end) > 0 && rd_deadline_left_s(end) <= 3600);
	half = rd_deadline_share(end, 0.5);
	assert_true(half > now + HOUR_NS / 4 && half < end);
	assert_true(rd_deadline_share(end, 1) <= end && rd_deadline_share(end, 1) > half);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_never),
		cmocka_unit_test(test_passed),
		cmocka_unit_test(test_to_come),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
