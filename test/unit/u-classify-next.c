// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of classify/next-int.h: whole classifications with made-up runs, without a program.
 * The test has its own loop that asks next-int.h.  The number of runs and the conclusion are
 * compared with a slow version of the rules, also on random runs.
 */
#include "classify/next-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 64, ROUNDS = 4000 };

static uint64_t seed = 41;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* A simulated program: run `number` of a group is a letter.  As in u-classify-decide.c, ! is a
 * crash and - a run to be ignored; | is a run that met an obstacle. */
struct world {
	struct trial items[VARIANT_GROUPS][MOST];
	struct decide_experiment experiments[2 * MOST];
	struct decide_runs runs;
	size_t controls;
	/* What counterparts do: the same as the twin of their run, or the same as their run; or
	 * they do not count. */
	enum { TWIN, SELF, LOOSE } answer;
	char letters[VARIANT_GROUPS][MOST];
	bool one_schedule; /* all runs of a group have the same schedule */
};

static void set_all(struct world *w, const char *first, const char *second, const char *control)
{
	const char *text[] = {first, second, control};

	memset(w, 0, sizeof *w);
	for (unsigned g = 0; g < VARIANT_GROUPS; g++) {
		size_t n = strlen(text[g]);

		w->runs.items[g] = w->items[g];
		for (size_t i = 0; i < MOST; i++)
			w->letters[g][i] = text[g][i < n ? i : n - 1];
	}
	w->runs.experiments = w->experiments;
}

static void run(struct world *w, enum variant_group group, size_t number)
{
	struct trial *t = &w->items[group][number];
	char letter = w->letters[group][number];

	assert_true(number < MOST);
	*t = (struct trial){.counts = letter != '-' && letter != '|',
			    .fault = letter == '!' ? "crash" : NULL,
			    .digest = (uint64_t)letter,
			    .sorted_digest = 'x',
			    .trail = w->one_schedule ? 1 : number};
	if (letter == '|')
		t->obstacle.thread = "T_0";
}

static void experiment(struct world *w)
{
	struct decide_place of;

	while (decide_wants_experiment(&w->runs, &of)) {
		unsigned group = w->answer == TWIN ? VARIANT_SECOND - of.group : of.group;
		struct decide_experiment *e = &w->experiments[w->runs.experiment_count++];

		assert_true(w->runs.experiment_count <= 2 * w->runs.count);
		*e = (struct decide_experiment){.of = of};
		if (w->answer != LOOSE)
			e->counterpart = w->items[group][of.number];
	}
}

/* Does what the loop of work.c does. */
static size_t classify(struct world *w, const struct next_limits *l, struct decision *d)
{
	while (next_is_pair(l, &w->runs, d)) {
		size_t number = w->runs.count, wanted;

		run(w, VARIANT_FIRST, number);
		run(w, VARIANT_SECOND, number);
		w->runs.count++;
		wanted = next_controls(l, &w->runs, w->controls);
		assert_true(wanted >= w->controls && wanted <= w->runs.count);
		for (; w->controls < wanted; w->controls++)
			run(w, VARIANT_CONTROL, w->controls);
		experiment(w);
		assert_true(w->runs.count <= next_room(l));
	}
	decide(&w->runs, d);
	return w->runs.count;
}

static const struct next_limits all = {.schedules = true, .control = true};

/* one run in eight fails */
#define RARE "aaaaaa!aaaaaaa!aaaaaaa!aaaaaaa!aaaaaaa!aaaaaaa!a"

/* ---- how many pairs of runs are made ---- */

static void test_pairs_wanted(void **state)
{
	struct next_limits l = all;

	(void)state;
	assert_int_equal(next_pairs(&l), CLASSIFY_ALTERNATES);
	l.pairs = 5;
	assert_int_equal(next_pairs(&l), 5);
	l.pairs = 1;
	assert_int_equal(next_pairs(&l), 2);
	l.pairs = 5;
	l.schedules = false;
	assert_int_equal(next_pairs(&l), 2);
}

static void assert_pairs(size_t expected, enum finding_class class, int answer, const char *first,
			 const char *second, const char *control)
{
	struct decision d;
	struct world w;
	size_t pairs;

	set_all(&w, first, second, control);
	w.answer = (unsigned)answer;
	pairs = classify(&w, &all, &d);
	if (pairs != expected || d.class != class)
		fail_msg("%s %s %s: %zu pairs, class %d", first, second, control, pairs, d.class);
}

static void test_pairs(void **state)
{
	(void)state;
	/* An experiment shows that the fault depends on the order: no further pair. */
	assert_pairs(1, FINDING_SPEC_VIOLATED, TWIN, "!", "a", "a");
	assert_pairs(2, FINDING_SPEC_VIOLATED, TWIN, "a", "a!", "!a");
	/* Counterparts do not count.  If one order fails each time and no other run fails, there
	 * are as many pairs as it takes to exclude chance; otherwise eight. */
	assert_pairs(8, FINDING_SPEC_VIOLATED, LOOSE, "!", "a", "a");
	assert_pairs(8, FINDING_SPEC_VIOLATED, LOOSE, "a", "!", "a");
	assert_pairs(8, FINDING_SPEC_VIOLATED, LOOSE, "!", "a", "!a");
	/* One order fails now and then: as many pairs as it takes to exclude chance. */
	assert_pairs(16, FINDING_SPEC_VIOLATED, LOOSE, "a!a!a!a!a!a!a!a!a!", "a", "a");
	/* Experiments show that the fault does not depend on the order. */
	assert_pairs(CLASSIFY_ALTERNATES, FINDING_K_WITNESS_HARMLESS, SELF, RARE, "a", "a");
	/* No run fails, and all schedules are different: the maximum number of pairs. */
	assert_pairs(CLASSIFY_ALTERNATES, FINDING_K_WITNESS_HARMLESS, SELF, "a", "a", "a");
	/* The threads never meet: two pairs. */
	assert_pairs(2, FINDING_NO_CLASS, SELF, "-", "-", "a");
	/* The threads cannot meet because of an obstacle: one pair. */
	assert_pairs(1, FINDING_NO_CLASS, SELF, "|", "-", "a");
	/* The first pair does not count, later ones do. */
	assert_pairs(CLASSIFY_ALTERNATES, FINDING_K_WITNESS_HARMLESS, SELF, "-a", "-a", "a");
}

/* All runs have one schedule: eight pairs, the last six of which had no new schedule. */
static void test_stale(void **state)
{
	struct decision d;
	struct world w;

	(void)state;
	set_all(&w, "a", "a", "a");
	w.one_schedule = true;
	assert_int_equal(classify(&w, &all, &d), 8);
	assert_int_equal(d.class, FINDING_K_WITNESS_HARMLESS);
	assert_int_equal(d.k, 1);
}

/* Returns when the loop ends, by the rules written out. */
static size_t slow_pairs(const struct world *w, size_t most, bool control)
{
	struct world copy = *w;

	for (unsigned g = 0; g < VARIANT_GROUPS; g++)
		copy.runs.items[g] = copy.items[g];
	copy.runs.experiments = copy.experiments;
	copy.runs.experiment_count = 0;
	for (size_t n = 1;; n++) {
		struct decision d;
		bool counts = false, open;

		copy.runs.count = n;
		experiment(&copy);
		for (size_t i = 0; i < n; i++)
			counts |= copy.items[0][i].counts || copy.items[1][i].counts;
		decide(&copy.runs, &d);
		open = control && decide_is_open(&copy.runs) && n < 2 * most;
		if (copy.items[0][0].obstacle.thread || (n >= 2 && !counts) ||
		    (d.class == FINDING_SPEC_VIOLATED && d.proved) ||
		    ((n >= 8 || n >= most) && d.class == FINDING_SPEC_VIOLATED) ||
		    (!open && (n >= most || (n >= 8 && decide_stale(&copy.runs) >= 6))))
			return n;
	}
}

static void test_pairs_random(void **state)
{
	static const char *const sets[] = {"aaaaaaab", "aaaaaaa!", "ab", "a!-", "aaaaa|-", "!!!!a", "a"};

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct next_limits l = {.schedules = true, .control = below(4) != 0, .models = true};
		const char *set = sets[below(7)];
		struct decision d, again;
		struct world w;
		size_t pairs;

		set_all(&w, "a", "a", "a");
		for (unsigned g = 0; g < VARIANT_GROUPS; g++)
			for (size_t i = 0; i < MOST; i++)
				w.letters[g][i] = set[below((uint32_t)strlen(set))];
		w.one_schedule = !below(4);
		w.answer = below(3);
		l.pairs = 1 + below(30);
		pairs = classify(&w, &l, &d);
		assert_int_equal(pairs, slow_pairs(&w, l.pairs > 2 ? l.pairs : 2, l.control));
		assert_int_equal(w.controls, l.control ? pairs : 0);
		decide(&w.runs, &again);
		assert_int_equal(d.class, again.class);
	}
}

static void test_between(void **state)
{
	struct next_limits models = {.models = true};
	struct decision d = {.class = FINDING_K_WITNESS_HARMLESS};

	(void)state;
	assert_true(next_is_between(&all, &d));
	assert_false(next_is_between(&models, &d));
	d.class = FINDING_OUTPUT_DIFFERS;
	d.doubt = true;
	assert_false(next_is_between(&all, &d));
	d.class = FINDING_NO_CLASS;
	assert_true(next_is_between(&all, &d));
	d = (struct decision){.class = FINDING_NO_CLASS, .hopeless = true};
	assert_true(next_is_between(&all, &d));
	d.hopeless = false;
	assert_false(next_is_between(&all, &d));
}

/* Pairs in which a thread stops at an access after the race are made until something harmful is found. */
static void test_switched(void **state)
{
	struct decision d;
	struct world w;

	(void)state;
	set_all(&w, "a", "a", "a");
	classify(&w, &all, &d);
	assert_true(next_is_switched(&all, &w.runs, 0, &d));
	assert_false(next_is_switched(&all, &w.runs, 24, &d));
	w.runs.count = next_room(&all);
	assert_false(next_is_switched(&all, &w.runs, 0, &d));
	set_all(&w, "!", "a", "a");
	classify(&w, &all, &d);
	assert_false(next_is_switched(&all, &w.runs, 0, &d));
}

/* One access possibly always comes first if the race was seen in only one order and no run failed. */
static void test_may_pass(void **state)
{
	struct finding f = {.status = FINDING_CONFIRMED, .observed = true};
	struct decision d = {.class = FINDING_NO_CLASS};

	(void)state;
	assert_true(next_may_pass(&d, &f));
	d.doubt = true;
	assert_false(next_may_pass(&d, &f));
	d = (struct decision){.class = FINDING_NO_CLASS, .hopeless = true};
	assert_false(next_may_pass(&d, &f));
	d = (struct decision){.class = FINDING_K_WITNESS_HARMLESS};
	assert_false(next_may_pass(&d, &f));
	d.class = FINDING_NO_CLASS;
	f.observed = false; /* the threads met */
	assert_false(next_may_pass(&d, &f));
	f = (struct finding){.status = FINDING_UNCONFIRMED, .observed = true};
	assert_false(next_may_pass(&d, &f));
	f.unordered = true; /* the detector saw both accesses */
	assert_true(next_may_pass(&d, &f));
}

/* ---- how many runs of the control group are made ---- */

static void test_controls(void **state)
{
	struct decision d;
	struct world w;

	(void)state;
	/* Two runs of the control group are made, even if runs differ. */
	set_all(&w, "a", "a", "a");
	classify(&w, &all, &d);
	assert_int_equal(w.controls, 2);
	set_all(&w, "aaaaaaaaab", "a", "a");
	classify(&w, &all, &d);
	assert_int_equal(w.controls, 2);
	/* With memory models, it always has that many; if it is not allowed, none. */
	set_all(&w, "a", "a", "a");
	classify(&w, &(struct next_limits){.schedules = true, .control = true, .models = true}, &d);
	assert_int_equal(w.controls, w.runs.count);
	set_all(&w, "ab", "ba", "a");
	classify(&w, &(struct next_limits){.schedules = true}, &d);
	assert_int_equal(w.controls, 0);
}

static void test_maskable(void **state)
{
	struct world w;

	(void)state;
	set_all(&w, "a", "a", "ab");
	for (unsigned g = 0; g < VARIANT_GROUPS; g++)
		for (size_t i = 0; i < 2; i++)
			run(&w, g, i);
	w.runs.count = 1;
	assert_false(next_is_maskable(&w.runs));
	w.runs.count = 2;
	assert_false(next_is_maskable(&w.runs)); /* the runs have two schedules */
	w.items[VARIANT_CONTROL][1].trail = w.items[VARIANT_CONTROL][0].trail;
	assert_true(next_is_maskable(&w.runs));
	w.items[VARIANT_CONTROL][1].counts = false;
	assert_false(next_is_maskable(&w.runs));
	w.items[VARIANT_CONTROL][1].counts = true;
	w.runs.count = 3;
	assert_false(next_is_maskable(&w.runs));
}

/* ---- whether the threads met, and what is tried if they did not ---- */

static void test_way(void **state)
{
	struct decision d = {0};
	struct world w;

	(void)state;
	set_all(&w, "a|", "aa", "a");
	for (size_t i = 0; i < 2; i++)
		for (unsigned g = 0; g < 2; g++)
			run(&w, g, i);
	w.runs.count = 1;
	assert_null(next_apart(&w.runs));
	assert_string_equal(next_why_none(&w.runs, &d), "no run reached the race");
	w.items[1][0].why = "it left its schedule";
	assert_string_equal(next_why_none(&w.runs, &d), "it left its schedule");
	w.runs.count = 2;
	assert_ptr_equal(next_apart(&w.runs), &w.items[0][1]);
	/* Only a run that met counts, not one that was never made. */
	w.items[0][0].outcome = w.items[0][1].outcome = w.items[1][0].outcome = w.items[1][1].outcome =
		REPLAY_DIVERGED;
	assert_false(next_is_met(&w.runs));
	w.items[1][1].outcome = REPLAY_CONFIRMED;
	w.items[1][1].end_text = "the program ended with status 0";
	assert_true(next_is_met(&w.runs));
	/* These are the kinds of order that are searched for. */
	d.class = FINDING_K_WITNESS_HARMLESS;
	assert_int_equal(next_order(&d, &w.runs, true), NEXT_FLAG);
	d.class = FINDING_NO_CLASS;
	assert_int_equal(next_order(&d, &w.runs, false), NEXT_APART);
	assert_int_equal(next_order(&d, &w.runs, true), NEXT_NO_ORDER);
	d.class = FINDING_SPEC_VIOLATED;
	assert_int_equal(next_order(&d, &w.runs, false), NEXT_NO_ORDER);
	w.runs.count = 1;
	d.class = FINDING_NO_CLASS;
	assert_int_equal(next_order(&d, &w.runs, false), NEXT_NO_ORDER);
}

static void test_has_met(void **state)
{
	struct finding f = {.status = FINDING_CONFIRMED};

	(void)state;
	assert_true(next_has_met(&f));
	f.observed = true;
	assert_false(next_has_met(&f));
	f = (struct finding){.status = FINDING_CONFIRMED, .recorded = true};
	assert_false(next_has_met(&f));
	f = (struct finding){.status = FINDING_UNCONFIRMED};
	assert_false(next_has_met(&f));
}

/* ---- whether a run that shows the class can be repeated ---- */

static void test_same(void **state)
{
	struct decision bytes = {0}, lines = {.sorted = true};
	struct trial a = {.counts = true, .digest = 1, .sorted_digest = 5}, b = a, c = a;

	(void)state;
	assert_true(next_is_same(&bytes, &a, &b));
	b.digest = 2;
	assert_false(next_is_same(&bytes, &a, &b));
	assert_true(next_is_same(&lines, &a, &b));
	b.sorted_digest = 6;
	assert_false(next_is_same(&lines, &a, &b));
	/* If runs have faults, only the faults are compared. */
	c.fault = "crash";
	b.fault = "crash";
	assert_true(next_is_same(&bytes, &c, &b));
	b.fault = "deadlock";
	assert_false(next_is_same(&bytes, &c, &b));
	assert_false(next_is_same(&bytes, &a, &b));
	assert_false(next_is_same(&bytes, &c, &a));
	/* A run that does not count is the same as no other. */
	c.counts = false;
	assert_false(next_is_same(&bytes, &c, &c));
}

static void test_unsure(void **state)
{
	struct trial t = {.end = REPLAY_EXITED};

	(void)state;
	assert_false(next_is_unsure(&t));
	t.unsure = true;
	assert_true(next_is_unsure(&t));
	t = (struct trial){.end = REPLAY_HUNG};
	assert_true(next_is_unsure(&t));
	t.end = REPLAY_RAN_ON;
	assert_true(next_is_unsure(&t));
}

/* Repeats runs as given by a text: s the same, d different, u different and unsure.  Returns the
 * number of runs made, negated if the repetition failed. */
static int repeat(const char *runs)
{
	struct next_repeat r = {0};
	int made = 0;

	while (next_repeats(&r)) {
		assert_true(runs[made] != '\0');
		next_repeated(&r, runs[made] == 's', runs[made] == 'u');
		made++;
	}
	return r.failed ? -made : made;
}

static void test_repeat(void **state)
{
	(void)state;
	assert_int_equal(repeat("ss"), 2);
	assert_int_equal(repeat("d"), -1);
	assert_int_equal(repeat("sd"), -2);
	/* Up to four unsure runs are made again. */
	assert_int_equal(repeat("uss"), 3);
	assert_int_equal(repeat("uusus"), 5);
	assert_int_equal(repeat("uuuuss"), 6);
	assert_int_equal(repeat("uuuuu"), -5);
	assert_int_equal(repeat("suuuuu"), -6);
	assert_int_equal(repeat("ud"), -2);
}

/* Every sequence of repetitions ends, and it succeeds only after two runs that are the same. */
static void test_repeat_random(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct next_repeat r = {0};
		int made = 0, same = 0, different = 0;

		for (; next_repeats(&r); made++) {
			uint32_t what = below(3);

			same += what == 0;
			different += what == 1;
			next_repeated(&r, what == 0, what == 2);
		}
		assert_true(made <= NEXT_REPLAYS + 5);
		assert_int_equal(!r.failed, same == NEXT_REPLAYS);
		assert_true(different == 0 || r.failed);
	}
}

static void test_write_down(void **state)
{
	(void)state;
	assert_true(next_writes_down(0, false, false));
	assert_false(next_writes_down(1, true, false));
	assert_false(next_writes_down(1, true, true));
	assert_false(next_writes_down(1, false, false));
	for (unsigned tries = 1; tries <= 4; tries++)
		assert_true(next_writes_down(tries, false, true));
	assert_false(next_writes_down(5, false, true));
}

static void test_consequence(void **state)
{
	struct decision d = {.shows = {VARIANT_FIRST, 0}, .other = {VARIANT_SECOND, 0}, .has_other = true};
	struct world w;

	(void)state;
	set_all(&w, "!", "a", "a");
	run(&w, VARIANT_FIRST, 0);
	run(&w, VARIANT_SECOND, 0);
	w.runs.count = 1;
	assert_string_equal(next_consequence(&w.runs, &d), "crash");
	w.items[0][0].fault = NULL;
	assert_string_equal(next_consequence(&w.runs, &d), "output");
	w.items[0][0].status = 3;
	assert_string_equal(next_consequence(&w.runs, &d), "exit-status");
	d.has_other = false;
	assert_string_equal(next_consequence(&w.runs, &d), "output");
}

/* Runs whose output does not occur again are left out one by one.  The remaining runs decide the
 * class. */
static void test_lost_output(void **state)
{
	struct next_show s = {0};
	struct decision d;
	struct world w;
	unsigned lost = 0;

	(void)state;
	set_all(&w, "baaaaaaa", "a", "a");
	classify(&w, &all, &d);
	assert_int_equal(d.class, FINDING_OUTPUT_DIFFERS);
	while (next_shows(&s, &d)) {
		next_lost(&s, &w.runs, d.shows, &d);
		lost++;
	}
	assert_in_range(lost, 1, 4);
	assert_false(s.fault);
	assert_true(next_is_left(&s, &d) == (d.class == FINDING_K_WITNESS_HARMLESS));
}

/* If a fault does not occur again, there is no class, although the other runs are harmless. */
static void test_lost_fault(void **state)
{
	struct next_show s = {0};
	struct decision d;
	struct world w;

	(void)state;
	set_all(&w, "!!!!", "a", "a");
	classify(&w, &all, &d);
	assert_int_equal(d.class, FINDING_SPEC_VIOLATED);
	assert_true(next_shows(&s, &d));
	while (next_shows(&s, &d))
		next_lost(&s, &w.runs, d.shows, &d);
	assert_true(s.fault);
	assert_false(next_is_bad(&d));
	assert_false(next_shows(&s, &d));
	assert_false(next_is_left(&s, &d));
}

/* At most four runs are left out in this way. */
static void test_lost_many(void **state)
{
	struct next_show s = {0};
	struct decision d;
	struct world w;
	unsigned lost = 0;

	(void)state;
	set_all(&w, "!", "a", "a");
	for (w.runs.count = 0; w.runs.count < 12; w.runs.count++)
		for (unsigned g = 0; g < VARIANT_GROUPS; g++)
			run(&w, g, w.runs.count);
	w.answer = LOOSE;
	experiment(&w);
	decide(&w.runs, &d);
	for (; next_shows(&s, &d); lost++)
		next_lost(&s, &w.runs, d.shows, &d);
	assert_int_equal(lost, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs_wanted), cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_stale),	     cmocka_unit_test(test_pairs_random),
		cmocka_unit_test(test_controls),     cmocka_unit_test(test_maskable),
		cmocka_unit_test(test_way),	     cmocka_unit_test(test_has_met),
		cmocka_unit_test(test_same),	     cmocka_unit_test(test_unsure),
		cmocka_unit_test(test_repeat),	     cmocka_unit_test(test_repeat_random),
		cmocka_unit_test(test_write_down),   cmocka_unit_test(test_consequence),
		cmocka_unit_test(test_lost_output),  cmocka_unit_test(test_lost_fault),
		cmocka_unit_test(test_lost_many),    cmocka_unit_test(test_between),
		cmocka_unit_test(test_may_pass),     cmocka_unit_test(test_switched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
