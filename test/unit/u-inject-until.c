// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of sequential stopping: which values --until accepts, that runs are counted in the
 * order of their numbers whatever order they end in, and that a campaign stops as soon as each kind
 * is precise enough, and not earlier.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/error.h"
#include "inject/interval-int.h"
#include "inject/until-int.h"

#include <stdlib.h>

static void widths(void **state)
{
	static const struct {
		const char *text;
		uint64_t expected; /* 0: an error */
	} table[] = {
		{"1%", 10000},
		{"0.01", 10000},
		{"+-0.5 %", 5000},
		{"+/-2%", 20000},
		{" 25 %", 250000},
		{"\xc2\xb1 1 %", 10000},
		{"\xb1"
		 "1%",
		 10000},
		{"0.001%", 10},
		{"", 0},
		{"%", 0},
		{"x", 0},
		{"1%%", 0},
		{"1 percent", 0},
		{"0", 0},
		{"0%", 0},
		{"26%", 0},
		{"1", 0},
		{"-1%", 0},
		{"--1%", 0},
		{"nan", 0},
		{"inf", 0},
		{"+-nan%", 0},
		{"0.0000001", 0},
		{"+1%", 0},
	};

	(void)state;
	rd_log_set(rd_log_discard, NULL);
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		uint64_t found = 0;
		int err = inject_until_parse(table[i].text, &found);

		if (err ? table[i].expected : found != table[i].expected)
			fail_msg("'%s': %d, %llu", table[i].text, err, (unsigned long long)found);
	}
	assert_true(inject_until_most(10000) > 9604 && inject_until_most(10000) < 24000);
	assert_int_equal(inject_until_most(10), 0);
}

static void note(struct inject_until *u, uint64_t run, enum runlog_outcome outcome)
{
	inject_until_note(u, &(struct runlog_run){.run = run, .outcome = outcome});
}

static struct inject_setup make_setup(char **kinds, size_t count)
{
	return (struct inject_setup){.until = 100000, .runs = 1000, .kinds = {kinds, count, count}};
}

/* Runs end in a random order, within a window as with workers.  The reference recounts the
 * completed beginning each time. */
static void order_of_ends(void **state)
{
	enum { RUNS = 400, WINDOW = 7 };
	struct inject_setup s = make_setup((char *[]){"a", "b"}, 2);
	enum runlog_outcome outcomes[RUNS];
	bool ended[RUNS] = {false};
	struct inject_until u;

	(void)state;
	srand(5);
	inject_until_open(&u, &s);
	for (size_t i = 0; i < RUNS; i++)
		outcomes[i] = rand() % 3 ? RUNLOG_SDC : rand() % 2 ? RUNLOG_MASKED : RUNLOG_INACTIVE;
	for (size_t first = 0; first < RUNS;) {
		size_t run = first + (size_t)rand() % WINDOW, hits[2] = {0}, all[2] = {0};

		if (run >= RUNS || ended[run])
			continue;
		ended[run] = true;
		note(&u, run, outcomes[run]);
		while (first < RUNS && ended[first])
			first++;
		for (size_t i = 0; i < first; i++) {
			hits[i % 2] += outcomes[i] == RUNLOG_SDC;
			all[i % 2] += outcomes[i] != RUNLOG_INACTIVE;
		}
		assert_int_equal(u.next, first);
		for (size_t k = 0; k < 2; k++) {
			struct campaign_interval i =
				campaign_sequence((double)hits[k], (double)all[k], 0.1, 0.95);

			assert_int_equal(u.of[k].hits, hits[k]);
			assert_int_equal(u.of[k].activated, all[k]);
			assert_int_equal(u.of[k].precise, i.high - i.low <= 0.2);
		}
		assert_int_equal(inject_until_reached(&u), u.of[0].precise && u.of[1].precise);
		assert_true(inject_until_expected(&u) <= u.runs);
	}
	assert_true(inject_until_reached(&u));
	assert_int_equal(inject_until_expected(&u), RUNS);
	note(&u, 0, RUNLOG_CRASH); /* a run that was counted already changes nothing */
	note(&u, 1u << 30, RUNLOG_CRASH);
	assert_true(u.next == RUNS && inject_until_reached(&u));
	inject_until_close(&u);
}

/* Without an activated fault, nothing is ever precise enough.  Without --until, all runs are
 * wanted. */
static void never(void **state)
{
	struct inject_setup s = make_setup((char *[]){"a"}, 1);
	struct inject_until u;

	(void)state;
	inject_until_open(&u, &s);
	for (uint64_t i = 0; i < 1000; i++) {
		note(&u, i, RUNLOG_INACTIVE);
		assert_false(inject_until_reached(&u));
	}
	assert_int_equal(inject_until_expected(&u), 1000);
	inject_until_close(&u);
	s.until = 0;
	inject_until_open(&u, &s);
	note(&u, 0, RUNLOG_SDC);
	assert_false(inject_until_reached(&u));
	inject_until_close(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(widths),
		cmocka_unit_test(order_of_ends),
		cmocka_unit_test(never),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
