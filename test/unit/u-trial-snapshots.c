// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of trial/snapshots.c: which schedules can continue from the same stopped program.
 */
#include "trial/snapshots-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static struct snapshot_place place_with(const struct schedule *s, bool detect, bool cover, size_t branch)
{
	return snapshot_place_of(
		s, &(struct snapshot_shared){.detect = detect, .cover = cover, .branch = branch});
}

static struct snapshot_place place(const struct schedule *s)
{
	return place_with(s, true, true, 0);
}

static struct schedule explored(uint64_t seed)
{
	struct schedule s;

	schedule_init(&s);
	s.turns = true;
	s.seed = seed;
	return s;
}

/* Makes a schedule that leads two threads to a race, after one operation each. */
static struct schedule led(uint64_t seed)
{
	struct schedule s = explored(seed);

	for (unsigned i = 0; i < 2; i++) {
		struct schedule_op *op = schedule_add_op(&s);
		struct schedule_goal *goal = schedule_add_goal(&s);

		*op = (struct schedule_op){.thread = i ? "T_0_1" : "T_0_0", .n = 1, .kind = "mutex-lock"};
		*goal = (struct schedule_goal){
			.thread = op->thread, .after = 1, .occurrence = 1, .site = 7 + i};
	}
	return s;
}

static void seeds_share_a_start(void **state)
{
	struct schedule a = explored(1), b = explored(2);

	(void)state;
	schedule_add_watch(&b)->site = 3;
	*schedule_add_decision(&b) = (struct schedule_decision){
		.thread = "T_0_0", .n = 2, .point = "op", .next = "T_0_1", .count = 1};
	assert_int_equal(place(&a).freeze, RADDLE_FREEZE_CREATION);
	assert_true(place(&a).key != 0);
	assert_int_equal(place(&a).key, place(&b).key);
	schedule_release(&a);
	schedule_release(&b);
}

/* Makes a schedule with three decisions, of which the last goes to thread `last`. */
static struct schedule decided(uint64_t seed, const char *last)
{
	struct schedule s = explored(seed);

	for (unsigned i = 0; i < 3; i++)
		*schedule_add_decision(&s) = (struct schedule_decision){.thread = "T_0_0",
									.n = 2 + i,
									.point = "op",
									.next = i < 2 ? "T_0" : last,
									.count = 1};
	return s;
}

/* Schedules that begin with the same decisions share the point of the next decision, if they have
 * the same watches. */
static void decisions_share_a_branch(void **state)
{
	struct schedule a = decided(1, "T_0_1"), b = decided(2, "T_0_2");

	(void)state;
	assert_int_equal(place_with(&a, true, true, 3).freeze, RADDLE_FREEZE_DECISION);
	assert_int_equal(place_with(&a, true, true, 3).after, 2);
	assert_int_equal(place_with(&a, true, true, 3).key, place_with(&b, true, true, 3).key);
	a.decisions[1].next = "T_0_3";
	assert_int_not_equal(place_with(&a, true, true, 3).key, place_with(&b, true, true, 3).key);
	a.decisions[1].next = "T_0";
	a.decisions[2].count = 2;
	assert_int_not_equal(place_with(&a, true, true, 3).key, place_with(&b, true, true, 3).key);
	assert_int_not_equal(place_with(&a, true, true, 1).key, place_with(&a, true, true, 2).key);
	assert_int_equal(place_with(&a, true, true, 4).freeze, RADDLE_FREEZE_CREATION);
	schedule_add_watch(&b)->site = 3;
	assert_int_not_equal(place_with(&a, true, true, 2).key, place_with(&b, true, true, 2).key);
	schedule_release(&a);
	schedule_release(&b);
}

static void orders_share_a_meeting(void **state)
{
	struct schedule a = led(1), b = led(2), other = led(1);

	(void)state;
	b.first = "T_0_1";
	assert_int_equal(place(&a).freeze, RADDLE_FREEZE_MET);
	assert_int_equal(place(&a).key, place(&b).key);
	other.goals[1].occurrence = 2;
	assert_int_not_equal(place(&a).key, place(&other).key);
	other.goals[1].occurrence = 1;
	assert_int_equal(place(&a).key, place(&other).key);
	other.ops[0].n = 2;
	assert_int_not_equal(place(&a).key, place(&other).key);
	schedule_release(&a);
	schedule_release(&b);
	schedule_release(&other);
}

/* Conditions that change the run before the point have another key. */
static void other_conditions_have_other_keys(void **state)
{
	struct schedule a = led(1), b = led(1);

	(void)state;
	b.keep[0] = 4;
	assert_int_not_equal(place(&a).key, place(&b).key);
	b.keep[0] = 0;
	b.edits = "skip x.c:3";
	assert_int_not_equal(place(&a).key, place(&b).key);
	b.edits = NULL;
	b.front = "T_0_0";
	assert_int_not_equal(place(&a).key, place(&b).key);
	assert_int_not_equal(place_with(&a, true, false, 0).key, place(&a).key);
	assert_int_not_equal(place(&a).key, place_with(&a, false, true, 0).key);
	b.front = NULL;
	assert_int_equal(place(&a).key, place(&b).key);
	schedule_release(&a);
	schedule_release(&b);
}

/* Seeds and choices take effect only after the point.  The model, the accesses that obey it, and
 * the watches, at which threads may be switched, take effect before it. */
static void models_have_other_keys(void **state)
{
	struct schedule a = led(1), b = led(2);

	(void)state;
	a.memory = b.memory = "tso";
	b.memory_seed = 7;
	schedule_add_choice(&b)->at = 3;
	assert_int_equal(place(&a).freeze, RADDLE_FREEZE_MET);
	assert_int_equal(place_with(&a, true, true, 1).freeze, RADDLE_FREEZE_MET);
	assert_int_equal(place(&a).key, place(&b).key);
	assert_int_not_equal(snapshot_place_of(&a, &(struct snapshot_shared){.explores = true}).key,
			     snapshot_place_of(&a, &(struct snapshot_shared){0}).key);
	b.memory = "pso";
	assert_int_not_equal(place(&a).key, place(&b).key);
	b.memory = NULL;
	assert_int_not_equal(place(&a).key, place(&b).key);
	b.memory = a.memory;
	schedule_add_track(&b)->site = 9;
	assert_int_not_equal(place(&a).key, place(&b).key);
	schedule_add_track(&a)->site = 9;
	assert_int_equal(place(&a).key, place(&b).key);
	schedule_add_watch(&b)->site = 3;
	assert_int_not_equal(place(&a).key, place(&b).key);
	schedule_release(&a);
	schedule_release(&b);
}

static void some_schedules_cannot_be_held(void **state)
{
	struct schedule counting = explored(1), nowhere = led(1), looks = explored(1);

	(void)state;
	schedule_add_watch(&counting)->occurrence = 2;
	nowhere.nowhere = true;
	looks.looks = true;
	assert_int_equal(place(&counting).key, 0);
	assert_int_equal(place(&nowhere).key, 0);
	assert_int_equal(place(&looks).key, 0);
	schedule_release(&counting);
	schedule_release(&nowhere);
	schedule_release(&looks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seeds_share_a_start),	  cmocka_unit_test(decisions_share_a_branch),
		cmocka_unit_test(orders_share_a_meeting), cmocka_unit_test(other_conditions_have_other_keys),
		cmocka_unit_test(models_have_other_keys), cmocka_unit_test(some_schedules_cannot_be_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
