// SPDX-License-Identifier: Apache-2.0
/* Unit tests of classify/: the class that made-up runs give a race, how a run ended, and variants
 * of schedules. */
#include "classify/cause-int.h"
#include "classify/decide-int.h"
#include "classify/experiment-int.h"
#include "classify/words-int.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST 32

/*
 * Runs as three texts, one letter per run: runs with the first access first, runs with the second
 * access first, and the control group.  Equal letters are runs with equal output; ! is a crash, # a
 * crash at the race itself, ? a deadlock, and - a run to be ignored.
 */
struct world {
	struct trial items[VARIANT_GROUPS][MOST];
	struct decide_experiment experiments[2 * MOST];
	struct decide_runs runs;
};

/* What the counterpart of a run does: the same as the run's twin, so the order of the accesses
 * decides; the same as the run, so it does not; or it cannot take the decisions of the run. */
enum answer { TWIN, SELF, LOOSE };

static void make(struct world *w, const char *first, const char *second, const char *control)
{
	const char *text[] = {first, second, control};

	memset(w, 0, sizeof *w);
	w->runs.count = strlen(first);
	for (unsigned g = 0; g < VARIANT_GROUPS; g++) {
		w->runs.items[g] = w->items[g];
		assert_true(strlen(text[g]) == w->runs.count);
		for (size_t i = 0; i < w->runs.count; i++) {
			struct trial *t = &w->items[g][i];

			t->counts = text[g][i] != '-';
			t->at_race = text[g][i] == '#';
			t->fault = text[g][i] == '!' || t->at_race ? "crash"
				   : text[g][i] == '?'		   ? "deadlock"
								   : NULL;
			t->digest = (uint64_t)text[g][i];
			t->sorted_digest = 'x';
			t->trail = i;
		}
	}
}

/* Makes all experiments that are wanted. */
static void experiment(struct world *w, enum answer answer)
{
	struct decide_place of;

	w->runs.experiments = w->experiments;
	while (decide_wants_experiment(&w->runs, &of)) {
		unsigned group = answer == TWIN ? VARIANT_SECOND - of.group : of.group;
		struct decide_experiment *e = &w->experiments[w->runs.experiment_count++];

		assert_true(w->runs.experiment_count <= 2 * w->runs.count && of.group <= VARIANT_SECOND);
		*e = (struct decide_experiment){.of = of};
		if (answer != LOOSE)
			e->counterpart = w->items[group][of.number];
	}
}

static struct decision decided(enum answer answer, const char *first, const char *second, const char *control)
{
	struct decision d;
	struct world w;

	make(&w, first, second, control);
	experiment(&w, answer);
	decide(&w.runs, &d);
	return d;
}

static void comes_to(enum finding_class class, enum answer answer, const char *first, const char *second,
		     const char *control)
{
	struct decision d = decided(answer, first, second, control);

	if (d.class != class)
		fail_msg("%s %s %s: class %d instead of %d", first, second, control, d.class, class);
}

#define A8 "aaaaaaaa"
#define A16 A8 A8
#define X8 "!!!!!!!!"

/* The race causes a fault if an experiment shows that, however often the fault occurs. */
static void test_proof(void **state)
{
	struct decision d;

	(void)state;
	comes_to(FINDING_SPEC_VIOLATED, TWIN, "a", "!", "a");
	comes_to(FINDING_SPEC_VIOLATED, TWIN, "aaaaaaaa", "a!a!!!a!", "!aaa!aaa");
	comes_to(FINDING_SPEC_VIOLATED, TWIN, "!!!!!!!!", "aaa!aaaa", "!!!!!!!!");
	d = decided(TWIN, "aaaaaaaa", "a!aaaaaa", "!aaaaaaa");
	assert_int_equal(d.class, FINDING_SPEC_VIOLATED);
	assert_true(d.proved && d.has_other && !d.any_order);
	assert_int_equal(d.shows.group, VARIANT_SECOND);
	assert_int_equal(d.shows.number, 1);
	assert_int_equal(d.other.group, VARIANT_COUNTERPART);
	/* A fault outweighs a difference in output. */
	comes_to(FINDING_SPEC_VIOLATED, TWIN, "aaaaa", "b!!!!", "aaaaa");
	/* The race may cause one kind of fault and not the other: only "?" is missing in the other
	 * order. */
	d = decided(TWIN, "a!aaaa", "?!?!!?", "a!a!aa");
	assert_int_equal(d.class, FINDING_SPEC_VIOLATED);
	assert_int_equal(d.shows.group, VARIANT_SECOND);
	assert_int_equal(d.shows.number, 0);
}

/* An experiment with two faults shows nothing: something else is wrong with the program. */
static void test_two_faults(void **state)
{
	struct world w;
	struct decision d;

	(void)state;
	make(&w, "aa", "a?", "aa");
	experiment(&w, SELF);
	assert_int_equal(w.runs.experiment_count, 1);
	w.experiments[0].counterpart.fault = "crash";
	decide(&w.runs, &d);
	assert_int_equal(d.class, FINDING_K_WITNESS_HARMLESS);
	w.experiments[0].counterpart.fault = NULL;
	decide(&w.runs, &d);
	assert_int_equal(d.class, FINDING_SPEC_VIOLATED);
	/* The fault may be in the counterpart, too. */
	make(&w, "aa", "ab", "aa");
	experiment(&w, SELF);
	assert_int_equal(w.runs.experiment_count, 2);
	w.experiments[1].counterpart.fault = "crash";
	decide(&w.runs, &d);
	assert_int_equal(d.class, FINDING_SPEC_VIOLATED);
	assert_int_equal(d.shows.group, VARIANT_COUNTERPART);
	assert_int_equal(d.other.group, VARIANT_SECOND);
	assert_int_equal(d.other.number, 1);
}

/* An experiment may have a run of its own, in which one access comes between accesses of the other
 * thread. */
static void test_between(void **state)
{
	struct decide_experiment e = {.of = {VARIANT_BETWEEN, 0},
				      .between = {.counts = true, .digest = 'b', .sorted_digest = 'x'},
				      .counterpart = {.counts = true, .digest = 'a', .sorted_digest = 'x'}};
	struct decision d;
	struct world w;

	(void)state;
	make(&w, "bb", "bb", "aa");
	w.runs.experiments = &e;
	w.runs.experiment_count = 1;
	decide(&w.runs, &d);
	assert_int_equal(d.class, FINDING_OUTPUT_DIFFERS);
	assert_true(d.proved);
	assert_ptr_equal(decide_at(&w.runs, d.shows), &e.between);
	assert_ptr_equal(decide_at(&w.runs, d.other), &e.counterpart);
	e.between.fault = "hang";
	decide(&w.runs, &d);
	assert_int_equal(d.class, FINDING_SPEC_VIOLATED);
	/* A counterpart that does not count raises no doubt, since such experiments are only made
	 * in addition to the others. */
	e.counterpart.counts = false;
	decide(&w.runs, &d);
	assert_int_equal(d.class, FINDING_K_WITNESS_HARMLESS);
	assert_false(d.doubt);
}

static void test_faults(void **state)
{
	struct decision d;

	(void)state;
	/* The counterparts do not count, so one order has to fail more often than the other. */
	comes_to(FINDING_SPEC_VIOLATED, LOOSE, A8, X8, A8);
	comes_to(FINDING_SPEC_VIOLATED, LOOSE, "!!!!!!!!!", "aaa!aaaaa", "!!!!!!!!!");
	comes_to(FINDING_NO_CLASS, LOOSE, "aaaa", "!!!!", "aaaa");
	comes_to(FINDING_NO_CLASS, LOOSE, A8, "a!aaaaaa", "!aaaaaaa");
	/* The order does not decide: something else is wrong with the program. */
	comes_to(FINDING_K_WITNESS_HARMLESS, SELF, A8, "a!aaaaaa", A8);
	/* If a run of each pair fails, outputs cannot be compared. */
	comes_to(FINDING_NO_CLASS, SELF, X8, X8, X8);
	comes_to(FINDING_NO_CLASS, SELF, "!a!!!!!!", "a!!!!!!!", A8);
	d = decided(SELF, "a!aaa!aaa!aaa!aa", "a!aaa!aaa!aaa!aa", "aa!aaa!aaa!aaa!a");
	assert_int_equal(d.class, FINDING_K_WITNESS_HARMLESS);
	assert_true(d.noise);
	/* A crash at the race itself counts, whatever else is wrong. */
	comes_to(FINDING_SPEC_VIOLATED, SELF, "a!aa", "a#aa", "aa!a");
	/* A faulty run whose twin has no fault shows the race best. */
	d = decided(LOOSE, "!aaaaaaaa", "!!!!!!!!!", "aaaaaaaaa");
	assert_int_equal(d.class, FINDING_SPEC_VIOLATED);
	assert_int_equal(d.shows.number, 1);
}

/* Which runs raise a question.  Numbers 2 and 6 are runs in which the second thread lags. */
static void test_questions(void **state)
{
	struct decide_place of;
	struct world w;

	(void)state;
	make(&w, A8, A8, A8);
	assert_false(decide_wants_experiment(&w.runs, &of));
	/* A run that does what its twin does raises no question, unless it lags. */
	make(&w, "a!aaaaaa", "a!aaaaaa", A8);
	assert_false(experiment_of(&w.runs, (struct decide_place){VARIANT_FIRST, 1}));
	experiment(&w, SELF);
	assert_int_equal(w.runs.experiment_count, 4);
	assert_int_equal(w.experiments[0].of.number, 2);
	assert_int_equal(w.experiments[3].of.number, 6);
	/* Both runs of a pair that differs are examined.  Once an output is explained, only faults
	 * are. */
	make(&w, "ab", "aa", "aa");
	experiment(&w, SELF);
	assert_int_equal(w.runs.experiment_count, 2);
	make(&w, "abcd!", "aaaaa", "aaaaa");
	experiment(&w, TWIN);
	assert_int_equal(w.runs.experiment_count, 2);
	assert_int_equal(w.experiments[1].of.number, 4);
	/* Once a fault is explained, nothing is examined. */
	make(&w, "!!!!", "abcd", "aaaa");
	experiment(&w, TWIN);
	assert_int_equal(w.runs.experiment_count, 1);
	/* Runs that do not count, and faults that are the race itself, need no experiment. */
	make(&w, "-#", "aa", "aa");
	experiment(&w, SELF);
	assert_int_equal(w.runs.experiment_count, 0);
}

static bool is_open(enum answer answer, const char *first, const char *second)
{
	struct world w;

	make(&w, first, second, first);
	experiment(&w, answer);
	return decide_is_open(&w.runs);
}

/* Whether more runs are needed to explain a fault. */
static void test_open(void **state)
{
	(void)state;
	assert_false(is_open(LOOSE, A8, A8));
	/* Experiments answer the question. */
	assert_false(is_open(SELF, A8, "a!aaaaaa"));
	assert_false(is_open(TWIN, A8, "a!aaaaaa"));
	/* Experiments do not answer it, and the fault is too rare, until one order clearly fails
	 * more often. */
	assert_true(is_open(LOOSE, A8, "a!aaaaaa"));
	assert_true(is_open(LOOSE, A16, "a!aaaaaaaaaaaaaa"));
	assert_false(is_open(LOOSE, A8, X8));
	/* Both orders fail about equally often, which is clear after 16 pairs. */
	assert_true(is_open(LOOSE, "a!aaaaaaaaaaaaa", "aaa!aaaaaaaaaaa"));
	assert_false(is_open(LOOSE, "a!aaaaaaaaaaaaaa", "aaa!aaaaaaaaaaaa"));
	assert_true(is_open(LOOSE, "a!aa!!aaaaaaaaaa", "aaa!aaaaaaaaaaaa"));
}

static void assert_near(double a, double b)
{
	assert_true(a > b - 1e-12 && a < b + 1e-12);
}

/* The chance of a difference, against numbers that can be counted by hand. */
static void test_chance(void **state)
{
	struct cause_count none = {4, 0}, all = {4, 4}, half = {4, 2};

	(void)state;
	assert_near(cause_chance(all, none), 1.0 / 70);
	assert_near(cause_chance(none, all), 1);
	assert_near(cause_chance(half, none), 6.0 / 28);
	assert_near(cause_chance(half, half), 1 - 17.0 / 70);
	assert_near(cause_chance(none, none), 1);
	assert_near(cause_chance(all, (struct cause_count){0, 0}), 1);
}

static void test_outputs(void **state)
{
	struct decision d = decided(TWIN, "aaaa", "abaa", "aaaa");

	(void)state;
	assert_int_equal(d.class, FINDING_OUTPUT_DIFFERS);
	assert_true(d.proved && !d.any_order);
	/* The run with the unusual output shows the class. */
	assert_int_equal(d.shows.group, VARIANT_COUNTERPART);
	assert_int_equal(d.other.group, VARIANT_FIRST);
	d = decided(TWIN, "abaa", "aaaa", "aaaa");
	assert_int_equal(d.shows.group, VARIANT_FIRST);
	assert_int_equal(d.other.group, VARIANT_COUNTERPART);
	/* The counterparts do not count, so one order has to write an output more often. */
	comes_to(FINDING_OUTPUT_DIFFERS, LOOSE, "bbbbbbbb", A8, A8);
	d = decided(LOOSE, A8, "bbbbbbbb", A8);
	assert_int_equal(d.class, FINDING_OUTPUT_DIFFERS);
	assert_false(d.proved);
	comes_to(FINDING_K_WITNESS_HARMLESS, LOOSE, "aaaa", "bbbb", "abab");
	comes_to(FINDING_K_WITNESS_HARMLESS, LOOSE, A8, "aaababaa", A8);
	/* Both orders have both outputs. */
	d = decided(SELF, "abababab", "abbaabab", "abababab");
	assert_int_equal(d.class, FINDING_K_WITNESS_HARMLESS);
	assert_true(d.noise);
	/* If the output is new in each run anyway, differences in it show nothing. */
	comes_to(FINDING_K_WITNESS_HARMLESS, SELF, "abcdefgh", "abcdefgi", "jklmnopq");
	comes_to(FINDING_K_WITNESS_HARMLESS, LOOSE, "abcdefgh", "klmnopqr", "jklmnopq");
	comes_to(FINDING_K_WITNESS_HARMLESS, SELF, "aaaa", "aaaa", "aaaa");
}

static void test_lines(void **state)
{
	struct decision d;
	struct world w;

	(void)state;
	make(&w, "abcdefgh", "ijklmnop", "qrstuvwx");
	for (size_t i = 0; i < w.runs.count; i++)
		w.items[VARIANT_SECOND][i].sorted_digest = 'y';
	experiment(&w, LOOSE);
	decide(&w.runs, &d);
	assert_int_equal(d.class, FINDING_OUTPUT_DIFFERS);
	assert_true(d.sorted);
}

static void test_few_runs(void **state)
{
	struct decision d;
	struct world w;

	(void)state;
	comes_to(FINDING_NO_CLASS, SELF, "--", "--", "aa");
	comes_to(FINDING_NO_CLASS, SELF, "a-", "-a", "aa"); /* no pair of twins counts */
	comes_to(FINDING_NO_CLASS, SELF, "--", "-!", "aa");
	make(&w, "aaaaaa", "aaaaaa", "aaaaaa");
	decide(&w.runs, &d);
	assert_int_equal(d.k, 6);
	assert_int_equal(decide_stale(&w.runs), 0);
	for (unsigned g = 0; g < VARIANT_GROUPS; g++)
		for (size_t i = 2; i < 6; i++)
			w.items[g][i].trail = 1;
	decide(&w.runs, &d);
	assert_int_equal(d.k, 2); /* k counts schedules, not runs */
	assert_int_equal(decide_stale(&w.runs), 4);
}

static void test_ends(void **state)
{
	(void)state;
	assert_string_equal(trial_fault(REPLAY_SIGNALLED, SIGSEGV, ""), "crash");
	assert_string_equal(trial_fault(REPLAY_SIGNALLED, SIGABRT, ""), "abort");
	assert_string_equal(
		trial_fault(REPLAY_SIGNALLED, SIGABRT, "a: a.c:3: f: Assertion `x == 1' failed.\n"),
		"assertion");
	assert_string_equal(
		trial_fault(REPLAY_SIGNALLED, SIGABRT, "free(): double free detected in tcache 2\n"),
		"memory-error");
	assert_string_equal(trial_fault(REPLAY_DEADLOCKED, 0, ""), "deadlock");
	assert_null(trial_fault(REPLAY_SIGNALLED, SIGTERM, ""));
	assert_null(trial_fault(REPLAY_EXITED, 3, "Assertion `"));
}

static struct trial_mask nothing;

static struct trial wrote(const char *out, int status)
{
	struct trial t = {.counts = true, .status = status, .end_text = status ? "it failed" : "it ended"};

	t.text[0] = (struct trial_text){out, strlen(out)};
	t.text[1] = (struct trial_text){"", 0};
	trial_digest(&t, &nothing);
	return t;
}

static void test_digests(void **state)
{
	struct trial a = wrote("one\ntwo\n", 0), b = wrote("two\none\n", 0), c = wrote("one\ntwo\n", 1),
		     again = wrote("one\ntwo\n", 0), joined = wrote("onetwo\n\n", 0);

	(void)state;
	assert_true(a.digest == again.digest && a.sorted_digest == again.sorted_digest);
	assert_true(a.digest != b.digest && a.sorted_digest == b.sorted_digest);
	assert_true(a.digest != c.digest && a.sorted_digest != c.sorted_digest);
	assert_true(a.digest != joined.digest && a.sorted_digest != joined.sorted_digest);
}

/* Lines that differ between runs of one schedule are masked. */
static void test_mask(void **state)
{
	static struct trial_mask mask;
	struct trial a = wrote("at 17:01\nsum 3\n", 0), b = wrote("at 17:02\nsum 3\n", 0),
		     c = wrote("at 17:03\nsum 4\n", 0), d = wrote("at 17:03\n", 0);

	(void)state;
	mask = (struct trial_mask){0};
	trial_mask_learn(&mask, &a, &a);
	assert_false(mask.any);
	trial_mask_learn(&mask, &a, &b);
	assert_true(mask.any && mask.line[0][0] && !mask.line[0][1] && !mask.all[0]);
	trial_digest(&a, &mask);
	trial_digest(&b, &mask);
	trial_digest(&c, &mask);
	assert_true(a.digest == b.digest && a.sorted_digest == b.sorted_digest);
	assert_true(a.digest != c.digest && a.sorted_digest != c.sorted_digest);
	trial_mask_learn(&mask, &a, &d);
	assert_true(mask.all[0] && !mask.all[1]);
	trial_digest(&a, &mask);
	trial_digest(&c, &mask);
	assert_true(a.digest == c.digest);
}

static void test_words(void **state)
{
	struct trial a = wrote("one\ntwo\n", 0), b = wrote("one\nTWO\x1b\n", 0), c = wrote("one\n", 0),
		     d = wrote("one\n", 1);
	struct rd_buf text = RD_BUF_INIT;

	(void)state;
	words_difference(&text, &(struct words_outputs){{&a, &b}, &nothing}, "else");
	assert_string_equal(text.data, "line 2 of standard output is \"two\"; else, it is \"TWO?\"");
	rd_buf_clear(&text);
	words_difference(&text, &(struct words_outputs){{&a, &c}, &nothing}, "else");
	assert_string_equal(text.data, "line 2 of standard output is \"two\"; else, it is nothing");
	rd_buf_clear(&text);
	words_difference(&text, &(struct words_outputs){{&c, &d}, &nothing}, "else");
	assert_string_equal(text.data, "it ended; else, it failed");
	rd_buf_release(&text);
}

static void test_variants(void **state)
{
	struct schedule race;
	struct variant v;

	(void)state;
	schedule_init(&race);
	*schedule_add_goal(&race) = (struct schedule_goal){.thread = "T_0_0", .after = 1, .occurrence = 1};
	*schedule_add_goal(&race) = (struct schedule_goal){.thread = "T_0_1", .after = 4, .occurrence = 1};
	for (unsigned n = 0; n < 6; n++)
		for (unsigned g = 0; g < VARIANT_GROUPS; g++) {
			variant_make(&v, &race, g, n);
			assert_null(schedule_check(&v.schedule));
			assert_true(v.schedule.turns);
			assert_int_equal(v.schedule.seed != 0, n >= 3);
			assert_int_equal(v.schedule.goal_count, g == VARIANT_CONTROL ? 0 : 2);
		}
	variant_make(&v, &race, VARIANT_SECOND, 3);
	assert_string_equal(v.schedule.first, "T_0_1");
	assert_string_equal(v.decisions[0].thread, "T_0_1");
	assert_int_equal(v.decisions[0].n, 4);
	assert_string_equal(v.decisions[0].next, "T_0_0");
	assert_string_equal(v.decisions[1].thread, "T_0_0");
	assert_string_equal(v.decisions[1].next, "T_0_1");
	/* If the second thread is delayed, the first one may end before it continues. */
	variant_make(&v, &race, VARIANT_FIRST, 2);
	assert_string_equal(v.decisions[0].next, "T_0_0");
	assert_string_equal(v.decisions[1].next, "T_0_1");
	/* A schedule of threads that do not meet is valid for all groups. */
	race.turns = race.nowhere = true;
	race.front = "T_0_1";
	for (unsigned g = 0; g < VARIANT_GROUPS; g++) {
		variant_make(&v, &race, g, 0);
		assert_null(schedule_check(&v.schedule));
	}
	schedule_release(&race);
}

/* As long as no two runs differ, more runs of the control group do not change the class. */
static void test_differ(void **state)
{
	static const char *const controls[] = {"aa------", "aaaaaaaa", "aab!b?--", "aa!!!!!!", "aabbbbbb"};
	struct world w;

	(void)state;
	make(&w, "aaaaaaaa", "aa-aaaa-", "aa------");
	assert_false(decide_differ(&w.runs));
	for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
		comes_to(FINDING_K_WITNESS_HARMLESS, SELF, "aaaaaaaa", "aa-aaaa-", controls[i]);
	make(&w, "aaaaaaaa", "aaaaaaab", "aa------");
	assert_true(decide_differ(&w.runs));
	make(&w, "bbbbbbbb", "bbbbbbbb", "aa------");
	assert_true(decide_differ(&w.runs));
	make(&w, "--------", "--------", "--------");
	assert_false(decide_differ(&w.runs));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_proof),	  cmocka_unit_test(test_two_faults),
		cmocka_unit_test(test_between),	  cmocka_unit_test(test_faults),
		cmocka_unit_test(test_questions), cmocka_unit_test(test_open),
		cmocka_unit_test(test_chance),	  cmocka_unit_test(test_outputs),
		cmocka_unit_test(test_lines),	  cmocka_unit_test(test_few_runs),
		cmocka_unit_test(test_ends),	  cmocka_unit_test(test_digests),
		cmocka_unit_test(test_mask),	  cmocka_unit_test(test_words),
		cmocka_unit_test(test_variants),  cmocka_unit_test(test_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
