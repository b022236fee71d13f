// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of explore/. Minimisation is compared with a test of each single decision.  Notes are
 * written and read back.  Also tests the sequence of strategies.
 */
#include "explore/explore.h"
#include "explore/further.h"
#include "explore/known.h"
#include "explore/minimise-int.h"
#include "explore/strategies.h"
#include "explore/note.h"
#include "finding/schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 11;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* A made-up program fails if one of these sets of decisions is present completely. */
struct sets {
	uint32_t sets[3];
	unsigned tests;
};

static bool fails_with(const struct sets *s, uint32_t there)
{
	for (int i = 0; i < 3; i++)
		if ((s->sets[i] & there) == s->sets[i])
			return true;
	return false;
}

static uint32_t bits_of(const size_t *kept, size_t count)
{
	uint32_t there = 0;

	for (size_t i = 0; i < count; i++)
		there |= 1u << kept[i];
	return there;
}

static bool fails(void *context, const size_t *kept, size_t count)
{
	struct sets *s = context;

	for (size_t i = 1; i < count; i++)
		assert_true(kept[i - 1] < kept[i]);
	s->tests++;
	return fails_with(s, bits_of(kept, count));
}

static void test_minimise(void **state)
{
	(void)state;
	for (int round = 0; round < 2000; round++) {
		size_t count = below(24), kept[24], left;
		struct sets s = {0};
		uint32_t all = (1u << count) - 1;

		for (int i = 0; i < 3; i++)
			for (uint32_t k = below(5); k > 0 && count; k--)
				s.sets[i] |= 1u << below((uint32_t)count);
		for (size_t i = 0; i < count; i++)
			kept[i] = i;
		assert_true(fails_with(&s, all));
		left = minimise(kept, count, fails, &s, 100000);
		assert_true(fails_with(&s, bits_of(kept, left)));
		for (size_t i = 0; i < left; i++)
			assert_false(fails_with(&s, bits_of(kept, left) & ~(1u << kept[i])));
	}
}

/* However few tests are allowed, the program fails with the decisions that are left. */
static void test_budget(void **state)
{
	(void)state;
	for (unsigned budget = 0; budget < 30; budget++) {
		struct sets s = {.sets = {0x80201, 0x300000, ~0u}};
		size_t kept[22], left;

		for (size_t i = 0; i < 22; i++)
			kept[i] = i;
		left = minimise(kept, 22, fails, &s, budget);
		assert_true(s.tests <= budget);
		assert_true(fails_with(&s, bits_of(kept, left)));
	}
}

static void test_note(void **state)
{
	struct note_race races[] = {{.address = 8, .size = 4, .site = {3, 5}}, {.address = 16}};
	struct note_thread threads[] = {{"T_0", 7}};
	struct note n = {.number = 9, .trail = 4, .counts = true, .failure.fault = "crash", .made = "a\nb\n"},
		    got;
	struct rd_buf bytes = RD_BUF_INIT;
	struct rd_arena *arena = rd_arena_new();
	const char *at;

	(void)state;
	n.races = races;
	n.race_count = 2;
	n.threads = threads;
	n.thread_count = 1;
	note_put(&n, &bytes);
	at = bytes.data;
	assert_true(note_get(&got, &at, bytes.data + bytes.length, arena));
	assert_ptr_equal(at, bytes.data + bytes.length);
	assert_int_equal(got.number, 9);
	assert_string_equal(got.failure.fault, "crash");
	assert_string_equal(got.made, "a\nb\n");
	assert_null(got.why);
	assert_int_equal(got.race_count, 2);
	assert_int_equal(got.races[0].site[1], 5);
	assert_string_equal(got.threads[0].name, "T_0");
	for (size_t length = 0; length < bytes.length; length++) {
		at = bytes.data;
		assert_false(note_get(&got, &at, bytes.data + length, arena));
	}
	rd_buf_release(&bytes);
	rd_arena_free(arena);
}

/* All strategies and all sets of points occur, and the first schedule is the default one.  The
 * strategy by kinds occurs only if there are many threads. */
static void test_strategies(void **state)
{
	unsigned seen[RADDLE_STRATEGIES][POINTS_KINDS] = {0}, many[RADDLE_STRATEGIES][POINTS_KINDS] = {0};

	(void)state;
	assert_int_equal(strategies_draw(0, 3, NULL, 2).seed, 0);
	for (uint64_t i = 1; i < 200; i++) {
		struct draw a = strategies_draw(i, 3, NULL, 2), b = strategies_draw(i, 4, NULL, 2);

		assert_true(a.seed > 0 && a.seed != b.seed);
		seen[a.strategy.kind][a.points]++;
		many[strategies_draw(i, 3, NULL, 20).strategy.kind][a.points]++;
		assert_int_equal(strategies_draw(i, 3, "pct", 2).strategy.kind, RADDLE_STRATEGY_PCT);
		assert_int_equal(strategies_draw(i, 3, "kinds", 2).strategy.kind, RADDLE_STRATEGY_KINDS);
	}
	for (int s = 0; s < RADDLE_STRATEGIES; s++)
		for (int p = 0; p < POINTS_KINDS; p++) {
			assert_true(seen[s][p] > 0 || s == RADDLE_STRATEGY_KINDS);
			assert_true(many[s][p] > 0);
		}
	assert_int_equal(seen[RADDLE_STRATEGY_KINDS][POINTS_OPERATIONS], 0);
	assert_int_equal(strategies_find("walk"), RADDLE_STRATEGY_WALK);
	assert_int_equal(strategies_find("luck"), -1);
}

/* A kind of points that the user chose replaces the usual one, also that of the default schedule,
 * and changes nothing else. */
static void test_points(void **state)
{
	struct explore how = {.seed = 3}, chosen = {.seed = 3, .points = "accesses"};

	(void)state;
	for (uint64_t i = 0; i < 50; i++) {
		struct draw usual = explore_draw(&how, i, 2), all = explore_draw(&chosen, i, 2);

		assert_int_equal(usual.points, strategies_draw(i, 3, NULL, 2).points);
		assert_int_equal(all.points, POINTS_ALL);
		assert_int_equal(all.seed, usual.seed);
		assert_int_equal(all.strategy.kind, usual.strategy.kind);
	}
	assert_int_equal(strategies_find_points("operations"), POINTS_OPERATIONS);
	assert_int_equal(strategies_find_points("racy"), POINTS_RACY);
	assert_int_equal(strategies_find_points("all"), -1);
}

/* A crash at an access of a race is not a separate finding if crashes are the consequence of the
 * race.  A crash elsewhere, and a failed assertion at the access, remain separate findings. */
static void test_join(void **state)
{
	struct finding_frame here = {.file = "/src/a.c", .line = 1}, there = {.file = "/src/a.c", .line = 2},
			     short_here = {.file = "a.c", .line = 1}, else_where = {.file = "b.c", .line = 1};
	struct finding_wait crash_at = {.stack = {&short_here, 1}}, other_at = {.stack = {&else_where, 1}};
	struct finding_access accesses[] = {{.stack = {&here, 1}}, {.stack = {&there, 1}}};
	struct schedule *turns;
	struct finding race = {.kind = FINDING_RACE,
			       .status = FINDING_CONFIRMED,
			       .accesses = accesses,
			       .access_count = 2},
		       crash = {.kind = FINDING_FAILURE,
				.consequence = "crash",
				.cycle = &crash_at,
				.cycle_count = 1},
		       other = crash, asserts = crash;
	struct finding *all[] = {&crash, &other, &race, &asserts};
	struct finding_set *set = finding_set_new();

	(void)state;
	turns = finding_schedule_new(set);
	turns->turns = true;
	crash.schedule = other.schedule = asserts.schedule = turns;
	other.cycle = &other_at;
	asserts.consequence = "assertion";
	for (size_t i = 0; i < 4; i++)
		finding_set_put(set, all[i]);
	/* Nothing is known about the consequence of the race. */
	explore_join_failures(set);
	assert_int_equal(set->count, 4);
	race.class = FINDING_SPEC_VIOLATED;
	race.consequence = "hang";
	explore_join_failures(set);
	assert_int_equal(set->count, 4);
	race.consequence = "crash";
	explore_join_failures(set);
	assert_int_equal(set->count, 3);
	assert_ptr_equal(set->items[0], &other);
	assert_ptr_equal(set->items[1], &race);
	assert_ptr_equal(set->items[2], &asserts);
	assert_int_equal(race.witness_count, 0);
	finding_set_free(set);
}

/* First come the schedules in which exploration found a failure or a race, then those that showed
 * something new, then others until three in a row showed nothing. */
static void test_further(void **state)
{
	struct explore_racy racy[] = {{.number = 7, .site = {1, 2}},
				      {.number = 9, .site = {1, 3}},
				      {.number = 8}},
			    which = {0};
	struct further f = {.racy = racy, .racy_count = 3};
	struct explore_racy again[] = {{.number = 5, .site = {1, 2}},
				       {.number = 8, .site = {1, 3}},
				       {.number = 6, .site = {1, 2}},
				       {.number = 7, .site = {1, 2}}};
	const uint64_t expected[] = {7, 9, 8, 1, 2, 3, 4}, shown[] = {5, 8, 6};
	size_t runs = 0;

	(void)state;
	for (; further_next(&f, &which); runs++) {
		assert_int_equal(which.number, expected[runs]);
		/* the second schedule after the listed ones shows something new */
		further_took(&f, runs == 3);
	}
	assert_int_equal(runs, 7);
	for (f = (struct further){0}, runs = 0; further_next(&f, &which); runs++)
		further_took(&f, true);
	assert_true(runs > 7 && runs < 100);
	/* Three schedules (5, 6, 7) of one race and one (8) of another.  Schedule 6 shows the race,
	 * so 7 is not needed. */
	f = (struct further){.racy = again, .racy_count = 4};
	for (runs = 0; further_next(&f, &which) && runs < 3; runs++) {
		assert_int_equal(which.number, shown[runs]);
		further_took(&f, which.number == 6);
	}
	assert_int_equal(runs, 3);
	assert_int_equal(which.number, 1);
}

/* A deadlock that exploration found is left out if prediction knows each of its places.  So is
 * abort() alone.  A deadlock with one more place remains, and so does everything that exploration
 * did not find. */
static void test_known(void **state)
{
	struct finding_frame here = {.file = "a.c", .line = 1}, there = {.file = "a.c", .line = 2},
			     else_where = {.file = "a.c", .line = 3};
	struct finding_wait both[] = {{.stack = {&here, 1}}, {.stack = {&there, 1}}},
			    more[] = {{.stack = {&here, 1}}, {.stack = {&else_where, 1}}};
	struct schedule turns = {.turns = true};
	struct finding predicted = {.kind = FINDING_DEADLOCK,
				    .status = FINDING_CONFIRMED,
				    .cycle = both,
				    .cycle_count = 2},
		       same = predicted, other = predicted, aborts = {.kind = FINDING_FAILURE};
	struct finding *items[] = {&same, &predicted, &other, &aborts};
	struct finding_set set = {.items = items, .count = 4};

	(void)state;
	same.schedule = other.schedule = aborts.schedule = &turns;
	other.cycle = more;
	aborts.consequence = "abort";
	assert_true(explore_is_part(&set, &same));
	assert_false(explore_is_part(&set, &other));
	explore_leave_known(&set, false);
	assert_int_equal(set.count, 2);
	assert_ptr_equal(set.items[0], &predicted);
	assert_ptr_equal(set.items[1], &other);

	/* That a program hangs is a finding only if the program normally ends. */
	other.consequence = "hang";
	explore_leave_known(&set, false);
	assert_int_equal(set.count, 2);
	explore_leave_known(&set, true);
	assert_int_equal(set.count, 1);
}

/* A finding is examined again under the schedule of a run if it was not confirmed, or confirmed
 * only by chance: by the detector, in a run to which the finding's schedule does not lead. */
static void test_look_again(void **state)
{
	struct finding_set *known = finding_set_new(), *some;
	struct finding *f = finding_add(known, FINDING_RACE);
	struct schedule *s = finding_schedule_add(known, f), made;

	(void)state;
	for (int i = 0; i < 2; i++)
		*schedule_add_goal(s) =
			(struct schedule_goal){.thread = i ? "T_0_1" : "T_0_0", .object = "data"};
	schedule_init(&made);
	made.turns = true;
	finding_identify(f);
	for (int way = 0; way < 4; way++) {
		f->status = way == 0 ? FINDING_DROPPED : FINDING_CONFIRMED;
		f->observed = way >= 2;
		s->nowhere = way == 3;
		some = explore_look_again(known, known, &made);
		assert_int_equal(some->count, way == 0 || way == 2);
		if (some->count)
			assert_true(some->items[0]->schedule->nowhere && some->items[0]->schedule->turns);
		finding_set_free(some);
	}
	schedule_release(&made);
	finding_set_free(known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_minimise),   cmocka_unit_test(test_budget),
		cmocka_unit_test(test_note),	   cmocka_unit_test(test_strategies),
		cmocka_unit_test(test_points),	   cmocka_unit_test(test_further),
		cmocka_unit_test(test_join),	   cmocka_unit_test(test_known),
		cmocka_unit_test(test_look_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
