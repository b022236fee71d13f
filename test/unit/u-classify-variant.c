// SPDX-License-Identifier: Apache-2.0
/* Unit tests of classify/variant-int.h: the schedules of both orders of a race, and of the control
 * group. */
#include "classify/classify.h"
#include "classify/variant-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct schedule_goal goals[2] = {{.thread = "T_0", .after = 4, .site = 7},
					{.thread = "T_0_0", .after = 9, .site = 8}};
static struct schedule_op ops[1] = {{.thread = "T_0", .n = 1, .kind = "thread-create"}};
static struct schedule_limit limits[1] = {{.thread = "T_0_0", .n = 12}};

/* All data is static, so there is nothing to release. */
static struct schedule race(void)
{
	return (struct schedule){.goals = goals,
				 .goal_count = 2,
				 .ops = ops,
				 .op_count = 1,
				 .limits = limits,
				 .limit_count = 1,
				 .seed = 77};
}

/* The two runs of a pair differ in which thread goes first, and in nothing after the two accesses.
 * In every fourth pair the second thread is delayed. */
static void test_twins(void **state)
{
	struct schedule s = race();

	(void)state;
	for (unsigned number = 0; number < 10; number++) {
		struct variant a, b;
		bool lags = number == 2 || number == 6;
		variant_make(&a, &s, VARIANT_FIRST, number);
		variant_make(&b, &s, VARIANT_SECOND, number);
		assert_true(a.schedule.turns && b.schedule.turns);
		assert_string_equal(a.schedule.first, "T_0");
		assert_string_equal(b.schedule.first, "T_0_0");
		assert_int_equal(a.schedule.seed, b.schedule.seed);
		assert_int_equal(a.schedule.decision_count, 2);
		assert_int_equal(b.schedule.decision_count, 2);
		/* After the first access, the other thread continues, unless it is delayed.  After
		 * the second access, the same thread continues in both twins, or else the delayed
		 * one. */
		assert_string_equal(a.decisions[0].thread, "T_0");
		assert_int_equal(a.decisions[0].n, 4);
		assert_string_equal(a.decisions[0].next, lags ? "T_0" : "T_0_0");
		assert_string_equal(a.decisions[1].thread, "T_0_0");
		assert_string_equal(b.decisions[0].thread, "T_0_0");
		assert_int_equal(b.decisions[0].n, 9);
		assert_string_equal(b.decisions[0].next, lags ? "T_0_0" : "T_0");
		assert_string_equal(a.decisions[1].next, lags ? "T_0_0" : goals[number % 2].thread);
		assert_string_equal(b.decisions[1].next, lags ? "T_0" : goals[number % 2].thread);
		for (int i = 0; i < 2; i++)
			assert_string_equal(a.decisions[i].point, "back");
		assert_int_equal(a.schedule.op_count, 1);
		assert_int_equal(a.schedule.goal_count, 2);
		assert_string_equal(a.schedule.flavour, CLASSIFY_FLAVOUR);
	}
	/* The schedule of the race is unchanged. */
	assert_int_equal(s.seed, 77);
	assert_null(s.first);
	assert_false(s.turns);
}

/* The first three runs have no seed; each of the others has its own. */
static void test_seeds(void **state)
{
	struct schedule s = race();
	struct variant v;

	(void)state;
	for (unsigned number = 0; number < 10; number++)
		for (int group = 0; group < VARIANT_GROUPS; group++) {
			variant_make(&v, &s, (enum variant_group)group, number);
			assert_int_equal(v.schedule.seed, number < 3 ? 0 : number - 1);
		}
}

/* The control group is led through the operations, but not to the accesses. */
static void test_control(void **state)
{
	struct schedule s = race();
	struct variant v;

	(void)state;
	variant_make(&v, &s, VARIANT_CONTROL, 3);
	assert_int_equal(v.schedule.goal_count, 0);
	assert_int_equal(v.schedule.decision_count, 0);
	assert_int_equal(v.schedule.op_count, 1);
	assert_int_equal(v.schedule.limit_count, 1);
	assert_null(v.schedule.first);
	assert_true(v.schedule.turns);
	/* Without operations there is no order to keep, and a limit would only stop a thread. */
	s.op_count = 0;
	variant_make(&v, &s, VARIANT_CONTROL, 0);
	assert_int_equal(v.schedule.limit_count, 0);
	variant_make(&v, &s, VARIANT_FIRST, 0);
	assert_int_equal(v.schedule.limit_count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_twins),
		cmocka_unit_test(test_seeds),
		cmocka_unit_test(test_control),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
