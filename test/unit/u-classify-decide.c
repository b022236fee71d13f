// SPDX-License-Identifier: Apache-2.0
/* Unit tests of classify/: the class that made-up runs give a race, how a run ended, and variants
 * of schedules. */
#include "classify/cause-int.h"
#include "classify/decide-int.h"
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
	struct trial items[VARIANT_GROUPS][MOST], apart[2 * MOST];
	struct decide_runs runs;
};

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

/* Adds runs that keep the accesses apart, one letter per run. */
static void add_apart(struct world *w, const char *text)
{
	w->runs.apart = w->apart;
	w->runs.apart_count = strlen(text);
	for (size_t i = 0; i < w->runs.apart_count; i++)
		w->apart[i] = (struct trial){.counts = text[i] != '-',
					     .fault = text[i] == '!' ? "crash" : NULL,
					     .digest = (uint64_t)text[i],
					     .sorted_digest = 'x'};
}

static struct decision decided(const char *first, const char *second, const char *control)
{
	struct decision d;
	struct world w;

	make(&w, first, second, control);
	decide(&w.runs, &d);
	return d;
}

static void comes_to(enum finding_class class, const char *first, const char *second, const char *control)
{
	struct decision d = decided(first, second, control);

	if (d.class != class)
		fail_msg("%s %s %s: class %d instead of %d", first, second, control, d.class, class);
}

/* As comes_to(), with runs that keep the accesses apart. */
static void comes_to_by(enum finding_class class, const char *first, const char *second, const char *apart)
{
	struct decision d;
	struct world w;

	make(&w, first, second, first);
	for (size_t i = 0; i < w.runs.count; i++)
		w.items[VARIANT_CONTROL][i].counts = false;
	add_apart(&w, apart);
	decide(&w.runs, &d);
	if (d.class != class)
		fail_msg("%s %s, apart %s: class %d instead of %d", first, second, apart, d.class, class);
}

static void test_faults(void **state)
{
	struct decision d;

	(void)state;
	/* One order fails more often than the other, whatever happens if the threads are not led. */
	comes_to(FINDING_SPEC_VIOLATED, "aaaa", "!!!!", "aaaa");
	comes_to(FINDING_SPEC_VIOLATED, "aaaaaaaa", "a!a!!!a!", "!aaa!aaa");
	comes_to(FINDING_SPEC_VIOLATED, "!a!!!!a!", "aaaaaaaa", "!aaa!aaa");
	comes_to(FINDING_SPEC_VIOLATED, "!!!!!!!!", "aaa!aaaa", "!!!!!!!!");
	/* Chance explains a rare fault, so there is no class. */
	comes_to(FINDING_NO_CLASS, "aaaaaaaa", "a!aaaaaa", "!aaaaaaa");
	comes_to(FINDING_NO_CLASS, "aaaaaaaa", "a!aaaaaa", "aaaaaaaa");
	comes_to(FINDING_OUTPUT_DIFFERS, "aaaaaaaa", "b!bbbbbb", "aaaaaaaa");
	/* Both orders fail, but not if the accesses are kept apart. */
	comes_to_by(FINDING_SPEC_VIOLATED, "a!a!", "!aa!", "aaaaaaaaaaaaaaaa");
	comes_to_by(FINDING_SPEC_VIOLATED, "!!!!", "!!!!", "aaaaaaaa");
	/* Something else is wrong with the program; sixteen pairs show that. */
	comes_to_by(FINDING_NO_CLASS, "a!a!", "!aa!", "aa!a!!a!");
	comes_to_by(FINDING_K_WITNESS_HARMLESS, "a!a!a!a!a!a!a!a!", "!aa!!aa!!aa!!aa!", "aa!a!!a!aa!a!!a!");
	/* If a run of each pair fails, the orders cannot be compared. */
	comes_to_by(FINDING_NO_CLASS, "!!!!!!!!!!!!!!!!", "!!!!!!!!!!!!!!!!", "!!!!!!!!!!!!!!!!");
	comes_to_by(FINDING_NO_CLASS, "!a!!!!!!!!!!!!!!", "a!!!!!!!!!!!!!!!", "!!!!!!!!!!!!!!!!");
	d = decided("a!aaa!aaa!aaa!aa", "a!aaa!aaa!aaa!aa", "aa!aaa!aaa!aaa!a");
	assert_int_equal(d.class, FINDING_K_WITNESS_HARMLESS);
	assert_true(d.noise);
	/* A crash at the race itself counts, whatever else is wrong. */
	comes_to(FINDING_SPEC_VIOLATED, "a!aa", "a#aa", "aa!a");
	/* The race may still cause a second kind of fault. */
	d = decided("a!aaaa",
		    "??"
		    "?"
		    "?!?",
		    "a!a!aa");
	assert_int_equal(d.class, FINDING_SPEC_VIOLATED);
	assert_int_equal(d.shows.group, VARIANT_SECOND);
	assert_int_equal(d.shows.number, 0);
	assert_true(d.has_other && d.other.group == VARIANT_FIRST);
	/* A faulty run whose twin has no fault shows the race best. */
	d = decided("!aaaaa", "!!!!!!", "aaaaaa");
	assert_int_equal(d.shows.number, 1);
	/* A fault outweighs a difference in output. */
	comes_to(FINDING_SPEC_VIOLATED, "aaaaa", "b!!!!", "aaaaa");
}

/* Whether more runs are needed to explain a fault. */
static void test_open(void **state)
{
	struct world w;

	(void)state;
	make(&w, "aaaaaaaa", "a!aaaaaa", "aaaaaaaa");
	assert_true(decide_wants_apart(&w.runs) && decide_is_open(&w.runs));
	make(&w, "aaaaaaaa", "!!!!!!!!", "aaaaaaaa");
	assert_false(decide_wants_apart(&w.runs) || decide_is_open(&w.runs));
	make(&w, "aaaa", "aaaa", "aaaa");
	assert_false(decide_wants_apart(&w.runs) || decide_is_open(&w.runs));
	/* The fault is as frequent if the accesses are kept apart: after 16 pairs that is clear. */
	make(&w, "a!aaaaaaaaaaaaa", "aaaaaaa!aaaaaaa", "aaaaaaaaaaaaaaa");
	add_apart(&w, "aaa!aaaaaaaaaaaa");
	assert_true(decide_is_open(&w.runs));
	make(&w, "a!aaaaaaaaaaaaaa", "aaaaaaa!aaaaaaaa", "aaaaaaaaaaaaaaaa");
	add_apart(&w, "aaa!aaaaaaaaaaaa");
	assert_false(decide_wants_apart(&w.runs) || decide_is_open(&w.runs));
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
	struct decision d = decided("aaaa", "bbbb", "aaaa");
	struct world w;

	(void)state;
	assert_int_equal(d.class, FINDING_OUTPUT_DIFFERS);
	assert_int_equal(d.shows.group, VARIANT_SECOND); /* the order whose output is unusual */
	assert_false(d.any_order);
	comes_to(FINDING_OUTPUT_DIFFERS, "bbbb", "aaaa", "aaaa");
	comes_to(FINDING_OUTPUT_DIFFERS, "aaaa", "bbbb", "abab");
	/* The output differs only where the threads met, in either order. */
	d = decided("bbbb", "bbbb", "aaaa");
	assert_int_equal(d.class, FINDING_OUTPUT_DIFFERS);
	assert_true(d.any_order && d.has_other && d.other.group == VARIANT_CONTROL);
	/* So it does if the accesses are kept apart: another thread came too late. */
	make(&w, "bbbb", "bbbb", "aaaa");
	assert_true(decide_wants_apart(&w.runs));
	add_apart(&w, "bbbbbbbb");
	decide(&w.runs, &d);
	assert_int_equal(d.class, FINDING_K_WITNESS_HARMLESS);
	add_apart(&w, "aaaaaaaa");
	decide(&w.runs, &d);
	assert_int_equal(d.class, FINDING_OUTPUT_DIFFERS);
	make(&w, "aaaa", "bbbb", "aaaa");
	assert_false(decide_wants_apart(&w.runs));
	/* Both orders have both outputs. */
	d = decided("abababab", "abbaabab", "abababab");
	assert_int_equal(d.class, FINDING_K_WITNESS_HARMLESS);
	assert_true(d.noise);
	/* If the output is new in each run anyway, differences in it show nothing. */
	comes_to(FINDING_K_WITNESS_HARMLESS, "abcdefgh", "abcdefgi", "jklmnopq");
	comes_to(FINDING_K_WITNESS_HARMLESS, "aaaa", "aaaa", "aaaa");
}

static void test_lines(void **state)
{
	struct decision d;
	struct world w;

	(void)state;
	make(&w, "abcdefgh", "ijklmnop", "qrstuvwx");
	for (size_t i = 0; i < w.runs.count; i++)
		w.items[VARIANT_SECOND][i].sorted_digest = 'y';
	decide(&w.runs, &d);
	assert_int_equal(d.class, FINDING_OUTPUT_DIFFERS);
	assert_true(d.sorted);
}

static void test_few_runs(void **state)
{
	struct decision d;
	struct world w;

	(void)state;
	comes_to(FINDING_NO_CLASS, "--", "--", "aa");
	comes_to(FINDING_NO_CLASS, "a-", "-a", "aa"); /* no pair of twins counts */
	comes_to(FINDING_NO_CLASS, "--", "-!", "aa");
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
	/* The accesses are kept apart: the first thread runs to its next operation. */
	for (unsigned n = 0; n < 12; n++) {
		const char *first = n % 2 ? "T_0_1" : "T_0_0", *second = n % 2 ? "T_0_0" : "T_0_1";

		variant_make_apart(&v, &race, n);
		assert_null(schedule_check(&v.schedule));
		assert_true(v.schedule.apart && v.schedule.goal_count == 2);
		assert_int_equal(v.schedule.seed != 0, n / 2 >= 3);
		assert_string_equal(v.schedule.first, first);
		assert_string_equal(v.decisions[0].thread, first);
		assert_int_equal(v.decisions[0].n, n % 2 ? 5 : 2);
		assert_string_equal(v.decisions[0].next, second);
		assert_string_equal(v.decisions[1].next, second);
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

static bool is_plain(const char *first, const char *second, const char *control)
{
	struct world w;

	make(&w, first, second, control);
	return decide_is_plain(&w.runs);
}

static void test_plain(void **state)
{
	(void)state;
	assert_true(is_plain("!!!!", "abab", "aaab"));
	assert_true(is_plain("aaaa", "????", "aaaa"));
	assert_false(is_plain("!!!!", "aa!a", "aaaa"));
	assert_false(is_plain("!!!!", "aaaa", "aa?a"));
	assert_false(is_plain("!!a!", "aaaa", "aaaa"));
	assert_false(is_plain("!!?!", "aaaa", "aaaa"));
	assert_false(is_plain("!!!!", "aa-a", "aaaa"));
	assert_false(is_plain("!!!!", "aaaa", "aa--"));
	assert_false(is_plain("aaaa", "aaaa", "aaaa"));
	assert_false(is_plain("", "", ""));
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
		comes_to(FINDING_K_WITNESS_HARMLESS, "aaaaaaaa", "aa-aaaa-", controls[i]);
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
		cmocka_unit_test(test_faults),	 cmocka_unit_test(test_open),
		cmocka_unit_test(test_chance),	 cmocka_unit_test(test_outputs),
		cmocka_unit_test(test_lines),	 cmocka_unit_test(test_few_runs),
		cmocka_unit_test(test_ends),	 cmocka_unit_test(test_digests),
		cmocka_unit_test(test_mask),	 cmocka_unit_test(test_words),
		cmocka_unit_test(test_variants), cmocka_unit_test(test_differ),
		cmocka_unit_test(test_plain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
