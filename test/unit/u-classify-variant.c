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

/* ---- counterparts ---- */

static struct schedule_decision decide(const char *thread, uint64_t n, const char *point, const char *next)
{
	return (struct schedule_decision){.thread = thread, .n = n, .point = point, .count = 1, .next = next};
}

static void same_decision(const struct schedule_decision *d, const char *thread, uint64_t n,
			  const char *point, const char *next)
{
	assert_string_equal(d->thread, thread);
	assert_int_equal(d->n, n);
	assert_string_equal(d->point, point);
	assert_int_equal(d->count, 1);
	assert_string_equal(d->next, next);
}

/* The counterpart has the other order, the same thread continues after both accesses, and later
 * decisions are the same. */
static void test_counterpart(void **state)
{
	struct schedule_decision made[3], room[3 + VARIANT_ROOM];
	struct schedule s = race(), other;

	(void)state;
	s.seed = 0;
	s.turns = true;
	s.first = "T_0";
	s.decisions = made;
	/* The second thread continues after its access, which is the default. */
	made[0] = decide("T_0", 4, "back", "T_0_0");
	made[1] = decide("T_0_0", 12, "op", "T_0");
	s.decision_count = 2;
	other = variant_counterpart(&s, room);
	assert_string_equal(other.first, "T_0_0");
	assert_int_equal(other.decision_count, 3);
	same_decision(&room[0], "T_0_0", 9, "back", "T_0");
	same_decision(&room[1], "T_0", 4, "back", "T_0_0");
	same_decision(&room[2], "T_0_0", 12, "op", "T_0");
	/* The first thread continues. */
	made[1] = decide("T_0_0", 9, "back", "T_0");
	made[2] = decide("T_0", 6, "op", "T_0_0");
	s.decision_count = 3;
	other = variant_counterpart(&s, room);
	assert_int_equal(other.decision_count, 3);
	same_decision(&room[0], "T_0_0", 9, "back", "T_0");
	same_decision(&room[1], "T_0", 4, "back", "T_0");
	same_decision(&room[2], "T_0", 6, "op", "T_0_0");
	/* The counterpart of the counterpart is the run. */
	s = other;
	memcpy(made, room, sizeof made);
	s.decisions = made;
	other = variant_counterpart(&s, room);
	assert_string_equal(other.first, "T_0");
	same_decision(&room[0], "T_0", 4, "back", "T_0_0");
	same_decision(&room[1], "T_0_0", 9, "back", "T_0");
	same_decision(&room[2], "T_0", 6, "op", "T_0_0");
}

/* The second thread lagged, so no decision brought it to its access.  In the counterpart it makes
 * its access and stops, and then the first thread continues. */
static void test_counterpart_of_lagging(void **state)
{
	struct schedule_decision made[1] = {decide("T_0_0", 11, "wait", "T_0")}, room[1 + VARIANT_ROOM];
	struct schedule s = race(), other;

	(void)state;
	s.seed = 0;
	s.turns = true;
	s.first = "T_0_0";
	s.decisions = made;
	s.decision_count = 1;
	other = variant_counterpart(&s, room);
	assert_string_equal(other.first, "T_0");
	assert_int_equal(other.decision_count, 3);
	same_decision(&room[0], "T_0", 4, "back", "T_0_0");
	same_decision(&room[1], "T_0_0", 9, "back", "T_0_0");
	same_decision(&room[2], "T_0_0", 11, "wait", "T_0");
	assert_true(variant_lags(2) && variant_lags(6) && !variant_lags(3) && !variant_lags(0));
}

/* One access comes after what the other thread did, and in the counterpart before it. */
static void test_between(void **state)
{
	struct schedule_decision made[2], room[2 + VARIANT_ROOM];
	struct schedule s = race(), run;
	struct variant v, before;

	(void)state;
	for (unsigned moved = 0; moved < 2; moved++) {
		const struct schedule_goal *m = &goals[moved], *other = &goals[1 - moved];

		variant_make_between(&v, &s, moved, 4);
		assert_int_equal(v.schedule.seed, 3);
		assert_string_equal(v.schedule.first, m->thread);
		assert_string_equal(v.schedule.front, m->thread);
		same_decision(&v.decisions[0], m->thread, m->after, "back", other->thread);
		same_decision(&v.decisions[1], other->thread, other->after, "back", other->thread);
		run = v.schedule;
		run.seed = 0;
		run.decisions = made;
		run.decision_count = 2;
		made[0] = v.decisions[0];
		made[1] = decide(m->thread, 20, "op", other->thread);
		variant_counterpart_before(&before, &run, moved, room);
		assert_string_equal(before.schedule.front, m->thread);
		assert_string_equal(before.schedule.first, m->thread);
		assert_int_equal(before.schedule.goals[moved].site, m->site);
		assert_false(schedule_is_any(&before.schedule.goals[moved]));
		assert_true(schedule_is_any(&before.schedule.goals[1 - moved]));
		assert_string_equal(before.schedule.goals[1 - moved].thread, other->thread);
		assert_int_equal(before.schedule.goals[1 - moved].after, other->after);
		assert_int_equal(before.schedule.goals[1 - moved].occurrence, 1);
		assert_int_equal(before.schedule.decision_count, 3);
		same_decision(&room[0], m->thread, m->after, "back", other->thread);
		same_decision(&room[1], other->thread, other->after, "back", other->thread);
		same_decision(&room[2], m->thread, 20, "op", other->thread);
		variant_keep_turn(&before, moved);
		assert_int_equal(before.schedule.decision_count, 4);
		same_decision(&room[2], other->thread, other->after, "yield", other->thread);
		same_decision(&room[3], m->thread, 20, "op", other->thread);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_twins),
		cmocka_unit_test(test_seeds),
		cmocka_unit_test(test_control),
		cmocka_unit_test(test_counterpart),
		cmocka_unit_test(test_counterpart_of_lagging),
		cmocka_unit_test(test_between),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
