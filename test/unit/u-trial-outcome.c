// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of trial/outcome.c, with made-up results of replays.  The time that a run may take is
 * compared with a slow stepwise computation.  Which runs are valid is compared with a table of all
 * combinations.  Also tests which faults are the race itself.
 */
#include "base/clock.h"
#include "trial/trial.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 20000 };

static uint64_t seed = 11;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* ---- time limits ---- */

/* Computes the limits by their definitions, without shortcuts, in whole milliseconds. */
static int64_t slow_limit_ms(const struct replay_conditions *c, int64_t now_ns)
{
	int64_t limit = INT64_MAX;

	if (c->limit_ns != 0)
		limit = c->limit_ns / RD_NS_PER_MS;
	if (c->deadline_ns != 0 && (c->deadline_ns - now_ns) / RD_NS_PER_MS < limit)
		limit = (c->deadline_ns - now_ns) / RD_NS_PER_MS;
	return limit == INT64_MAX ? 0 : limit < 1 ? 1 : limit;
}

static int64_t slow_work_ms(const struct replay_conditions *c)
{
	int64_t work = 0;

	for (int i = 0; i < 20; i++)
		work += c->recorded_ns / RD_NS_PER_MS;
	return c->limit_ns ? 0 : work < 10000 ? 10000 : work;
}

static void test_limit(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		int64_t now = 1 + below(1000) * RD_NS_PER_S;
		struct replay_conditions c = {
			.limit_ns = below(3) ? 0 : below(30000) * RD_NS_PER_MS,
			.recorded_ns = below(3) ? below(3000) * RD_NS_PER_MS : 0,
			.deadline_ns = below(2) ? 0 : now + ((int64_t)below(40000) - 2000) * RD_NS_PER_MS};

		assert_int_equal(trial_limit_ns(&c, now) / RD_NS_PER_MS, slow_limit_ms(&c, now));
		assert_int_equal(trial_work_ns(&c) / RD_NS_PER_MS, slow_work_ms(&c));
	}
}

static void test_limit_rows(void **state)
{
	struct replay_conditions c = {0};

	(void)state;
	/* If nothing is known, a run gets the minimum of program time, and no limit of real
	 * time. */
	assert_int_equal(trial_work_ns(&c), 10 * RD_NS_PER_S);
	assert_int_equal(trial_limit_ns(&c, 5), 0);
	/* After a recorded run of one second, the limit is twenty times as long. */
	c.recorded_ns = RD_NS_PER_S;
	assert_int_equal(trial_work_ns(&c), 20 * RD_NS_PER_S);
	/* The user's limit is in real time, and has precedence, even if it is shorter. */
	c.limit_ns = 3 * RD_NS_PER_S;
	assert_int_equal(trial_work_ns(&c), 0);
	assert_int_equal(trial_limit_ns(&c, 5), 3 * RD_NS_PER_S);
	/* An earlier deadline limits the run.  If the deadline has passed, a millisecond is left,
	 * since 0 would mean no limit. */
	c.deadline_ns = 5 + RD_NS_PER_S;
	assert_int_equal(trial_limit_ns(&c, 5), RD_NS_PER_S);
	assert_int_equal(trial_limit_ns(&c, 5 + 2 * RD_NS_PER_S), RD_NS_PER_MS);
}

/* ---- which runs are valid ---- */

/* Tests all combinations of the deciding factors.  Exactly the runs that kept the schedule and
 * ended by themselves are valid. */
static void test_counts(void **state)
{
	static const enum replay_end ends[] = {REPLAY_EXITED,	  REPLAY_SIGNALLED, REPLAY_DEADLOCKED,
					       REPLAY_LIVELOCKED, REPLAY_HUNG,	    REPLAY_RAN_ON};
	static const int signals[] = {SIGSEGV, SIGABRT, SIGKILL, SIGINT, SIGTERM, SIGUSR1};

	(void)state;
	for (unsigned bits = 0; bits < 64; bits++)
		for (size_t e = 0; e < sizeof ends / sizeof *ends; e++)
			for (size_t s = 0; s < sizeof signals / sizeof *signals; s++) {
				bool assumed = bits & 1, confirmed = bits & 2, strayed = bits & 4,
				     early = bits & 8, outside = bits & 16, called_off = bits & 32;
				struct replay_result r = {
					.assumed = assumed,
					.outcome = confirmed ? REPLAY_CONFIRMED : REPLAY_DIVERGED,
					.end = ends[e],
					.status = signals[s],
					.outside.ended = outside,
					.called_off = called_off,
					.turns = {.strayed = strayed ? "it left the schedule" : NULL,
						  .early = early}};
				bool kept = !assumed && confirmed && !(strayed && !early);
				bool killed = ends[e] == REPLAY_SIGNALLED && !outside &&
					      !(called_off && signals[s] == SIGTERM) &&
					      (signals[s] == SIGKILL || signals[s] == SIGINT ||
					       signals[s] == SIGTERM);
				bool late = ends[e] == REPLAY_HUNG || ends[e] == REPLAY_RAN_ON;

				assert_int_equal(trial_why_not(&r) == NULL, kept && !killed && !late);
				assert_int_equal(trial_is_cut(&r), kept && ends[e] == REPLAY_RAN_ON);
				/* A run that was cut short is not valid. */
				assert_false(trial_is_cut(&r) && !trial_why_not(&r));
			}
}

/* The first reason that applies is given, in the words of the replay if it has some. */
static void test_reasons(void **state)
{
	struct replay_result r = {.outcome = REPLAY_DIVERGED, .end = REPLAY_RAN_ON};

	(void)state;
	assert_non_null(strstr(trial_why_not(&r), "did not reach the places"));
	r.explanation = "T_0 waits for a lock";
	assert_string_equal(trial_why_not(&r), r.explanation);
	r.assumed = true;
	assert_non_null(strstr(trial_why_not(&r), "raddle_assume"));
	r.assumed = false;
	r.outcome = REPLAY_CONFIRMED;
	r.turns.strayed = "another thread went on";
	assert_string_equal(trial_why_not(&r), r.turns.strayed);
	r.turns.early = true;
	r.limit = REPLAY_LIMIT_TIME;
	assert_non_null(strstr(trial_why_not(&r), "the time limit"));
	r.limit = REPLAY_LIMIT_POINTS;
	assert_non_null(strstr(trial_why_not(&r), "the limit of points"));
	r.limit = REPLAY_LIMIT_OUTSIDE;
	assert_non_null(strstr(trial_why_not(&r), "a signal from outside"));
	r.end = REPLAY_SIGNALLED;
	r.status = SIGTERM;
	assert_non_null(strstr(trial_why_not(&r), "from outside"));
}

/* ---- whether a fault is the race itself ---- */

static struct schedule race_of(struct schedule_goal goals[2])
{
	goals[0] = (struct schedule_goal){.thread = "T_0", .place = {.file = "/src/a.c", .line = 12}};
	goals[1] = (struct schedule_goal){.thread = "T_0_0", .place = {.file = "/src/b.c", .line = 7}};
	return (struct schedule){.goals = goals, .goal_count = 2};
}

static void test_at_race(void **state)
{
	struct schedule_goal goals[2];
	struct schedule s = race_of(goals);
	struct replay_fault f = {.what = "use after free",
				 .thread = "T_0",
				 .place = "a.c:12",
				 .freed = "T_0_0",
				 .freed_place = "b.c:7"};
	struct replay_fault other;

	(void)state;
	assert_true(trial_is_at_race(&s, &f));
	/* The two threads may be swapped. */
	other = (struct replay_fault){f.what, f.freed, f.thread, f.freed_place, f.place, NULL};
	assert_true(trial_is_at_race(&s, &other));
	/* Each part of the fault matters. */
	other = f, other.what = NULL;
	assert_false(trial_is_at_race(&s, &other));
	other = f, other.thread = "T_0_0";
	assert_false(trial_is_at_race(&s, &other));
	other = f, other.freed = NULL;
	assert_false(trial_is_at_race(&s, &other));
	other = f, other.place = "a.c:1";
	assert_false(trial_is_at_race(&s, &other));
	other = f, other.place = "a.c:120";
	assert_false(trial_is_at_race(&s, &other));
	other = f, other.place = "aa.c:12";
	assert_false(trial_is_at_race(&s, &other));
	other = f, other.freed_place = "an unknown place";
	assert_false(trial_is_at_race(&s, &other));
	/* The schedule does not lead to a race. */
	s.goal_count = 1;
	assert_false(trial_is_at_race(&s, &f));
}

/* Random faults at random places are the race if and only if both ends match, in either order. */
static void test_at_race_random(void **state)
{
	static const char *const threads[] = {"T_0", "T_0_0", "T_0_1"}, *const places[] = {"a.c:12", "b.c:7",
											   "b.c:8", "a.c:1"};
	struct schedule_goal goals[2];
	struct schedule s = race_of(goals);

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t t = below(3), u = below(3), p = below(4), q = below(4);
		struct replay_fault f = {"double free", threads[t], threads[u], places[p], places[q], NULL};
		bool one = t == 0 && p == 0 && u == 1 && q == 1, two = t == 1 && p == 1 && u == 0 && q == 0;

		assert_int_equal(trial_is_at_race(&s, &f), one || two);
	}
}

/* Compares two runs of one schedule that were made in different ways. */
static void test_differs(void **state)
{
	struct trial a = {.counts = true, .end = REPLAY_EXITED, .trail = 1}, b = a;

	(void)state;
	assert_false(trial_differs(&a, &b));
	b.trail = 2;
	assert_true(trial_differs(&a, &b));
	b.unsure = true; /* real time may have changed the choices, but not the end */
	assert_false(trial_differs(&a, &b));
	b.status = 1;
	assert_true(trial_differs(&a, &b));
	b = a;
	b.fault = "crash";
	assert_true(trial_differs(&a, &b));
	a.fault = "crash";
	assert_false(trial_differs(&a, &b));
	b = (struct trial){.why = "the program did not end"};
	assert_true(trial_differs(&a, &b));
	b.cut = true;
	assert_false(trial_differs(&a, &b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_differs),	       cmocka_unit_test(test_limit),
		cmocka_unit_test(test_limit_rows),     cmocka_unit_test(test_counts),
		cmocka_unit_test(test_reasons),	       cmocka_unit_test(test_at_race),
		cmocka_unit_test(test_at_race_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
