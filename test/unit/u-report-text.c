// SPDX-License-Identifier: Apache-2.0
/* Unit tests of the text report. */
#include "finding-fixture.h"
#include "golden.h"

#include "report/report.h"

static char *text_of(const struct finding_set *set, const struct report_opts *opts, size_t *length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, length);

	assert_int_equal(report_text(set, opts, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void golden_report(void **state)
{
	struct finding_set *set = fixture_set();
	size_t length;
	char *text = text_of(set, &(struct report_opts){.others = true}, &length);

	(void)state;
	golden_check("report.txt", text, length);
	assert_null(memchr(text, '\033', length));
	free(text);
	text = text_of(set, &(struct report_opts){0}, &length);
	assert_null(strstr(text, "Predicted but not confirmed")); /* the finding is speculative */
	assert_non_null(strstr(text, "Raddle: 2 bugs: 1 severe, 1 of medium severity\n"
				     "Findings that do not count: 1 unconfirmed, 1 dropped\n"));
	free(text);
	text = text_of(set, &(struct report_opts){.all = true, .steps = 3}, &length);
	golden_check("report-all.txt", text, length);
	free(text);
	finding_set_free(set);
}

static void classified(void **state)
{
	struct finding_set *set = fixture_classified();
	size_t length;
	char *text = text_of(set, &(struct report_opts){.all = true}, &length);

	(void)state;
	golden_check("report-classes.txt", text, length);
	assert_non_null(strstr(text, "Class: spec-violated: the program fails"));
	assert_non_null(strstr(text, "Memory models: sc: k-witness-harmless, tso: spec-violated"));
	assert_non_null(strstr(text, "Findings that do not count: 1 unconfirmed\n"));
	free(text);
	finding_set_free(set);
}

static void at_most_80_columns(void **state)
{
	struct finding_set *set = fixture_set();
	size_t length;
	char *text, *line, *rest;

	(void)state;
	set->argc = 1;
	set->items[0]->reason =
		"many words that go on and on and say the same thing again and again, until the "
		"line is far too long for a terminal of the usual width, and then some more";
	text = rest = text_of(set, &(struct report_opts){.all = true}, &length);
	while ((line = strsep(&rest, "\n")))
		assert_in_range(strlen(line), 0, 80);
	free(text);
	finding_set_free(set);
}

static void colours_on_request(void **state)
{
	struct finding_set *set = fixture_set();
	size_t length, plain_length;
	char *text = text_of(set, &(struct report_opts){.colour = true}, &length);
	char *plain = text_of(set, &(struct report_opts){0}, &plain_length);
	size_t kept = 0;

	(void)state;
	assert_non_null(strstr(text,
			       "\033[1;31mBUG 2 of 2  data race on hits                          confirmed, "
			       "output differs\033[0m\n"));
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\033')
			i += strcspn(text + i, "m");
		else
			text[kept++] = text[i];
	}
	text[kept] = '\0';
	assert_string_equal(text, plain);
	free(text);
	free(plain);
	finding_set_free(set);
}

/* The summary names a line of the program, not of a library.  It also says how the race was
 * confirmed. */
static void summary_names_own_code(void **state)
{
	struct finding_set *set = fixture_set();
	struct finding *f = set->items[0];
	struct finding_frame *frames = (struct finding_frame *)f->accesses[0].stack.frames;
	size_t length;
	char *text;

	(void)state;
	frames[0].file = "/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/stl_vector.h";
	f->observed = true;
	text = text_of(set, &(struct report_opts){.others = true}, &length);
	assert_non_null(strstr(text, "SUMMARY: Raddle: data race src/counter.c:19"));
	assert_non_null(strstr(text, "data race on hits (confirmed by the detector)"));
	free(text);
	finding_set_free(set);
}

/* Races on one variable are one bug, which lists their lines; -v shows each of them in full. */
static void evidence_of_a_bug(void **state)
{
	struct finding_set *set = finding_set_new();
	size_t length, reports = 0;
	char *text;

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		fixture_race(set, "hits", 12 + i)->status = FINDING_CONFIRMED;
	finding_set_finish(set);
	text = text_of(set, &(struct report_opts){0}, &length);
	assert_non_null(strstr(text, "BUG 1 of 1  data race on hits"));
	assert_non_null(strstr(text, "  Evidence  3 findings (-v shows them): lines 12/30, 13/30, 14/30\n"));
	assert_null(strstr(text, "WARNING"));
	free(text);
	text = text_of(set, &(struct report_opts){.others = true}, &length);
	for (const char *at = text; (at = strstr(at, "WARNING: Raddle: data race on hits")); at++)
		reports++;
	assert_int_equal(reports, 3);
	free(text);
	finding_set_free(set);
}

/* Without a class, the last note may state why there is none.  Threads have the names of the
 * timeline. */
static void effect_of_a_race(void **state)
{
	struct finding_set *set = finding_set_new();
	struct finding *f = fixture_race(set, "hits", 12);
	size_t length;
	char *text;

	(void)state;
	f->status = FINDING_CONFIRMED;
	f->schedule_path = "found/race-1.schedule";
	finding_note(set, f, "T_0_1 came first, and T_0_10 did not run");
	f->class_notes = 1;
	finding_set_finish(set);
	text = text_of(set, &(struct report_opts){.ids = true}, &length);
	assert_non_null(strstr(text, "confirmed, effect unknown\n"));
	assert_non_null(strstr(text, "  Effect    Worker came first, and thread T_0_10 did not run\n"));
	assert_non_null(strstr(text, "  Again     raddle replay "));
	free(text);
	finding_set_free(set);
}

/* A name must not contain control sequences for the terminal. */
static void no_control_characters(void **state)
{
	struct finding_set *set = finding_set_new();
	struct finding *f = fixture_race(set, "evil\033[2Jname\n", 12);
	size_t length;

	(void)state;
	f->status = FINDING_CONFIRMED;
	f->schedule_path = "a\rb";
	finding_set_finish(set);
	char *text = text_of(set, &(struct report_opts){0}, &length);
	assert_null(memchr(text, '\033', length));
	assert_null(memchr(text, '\r', length));
	assert_non_null(strstr(text, "evil?[2Jname?"));
	free(text);
	finding_set_free(set);
}

static void no_colours_in_files(void **state)
{
	FILE *file = fopen("/dev/null", "w");

	(void)state;
	assert_false(report_wants_colour(file));
	fclose(file);
}

static void schedule_in_words(void **state)
{
	struct finding_set *set = fixture_set();
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	*schedule_add_limit(set->items[1]->schedule) = (struct schedule_limit){"T_0", 5};
	assert_int_equal(report_schedule(set->items[1]->schedule, &(struct report_opts){0}, out), 0);
	fclose(out);
	assert_string_equal(text, "  Finding: a7d512969a1cc69b\n"
				  "  The order of operations that leads there:\n"
				  "    1. T_0_0 locks accounts[0].lock at counter.c:18\n"
				  "    2. T_0_1 locks accounts[1].lock at counter.c:18\n"
				  "       meanwhile T_0 waits after its operation 5\n"
				  "       then T_0_0 is stuck in lock accounts[1].lock at counter.c:55\n"
				  "       and T_0_1 is stuck in lock accounts[0].lock at counter.c:55\n\n");
	free(text);
	finding_set_free(set);
}

static void nothing_known(void **state)
{
	struct finding_set *set = finding_set_new();
	size_t length;
	char *text = text_of(set, &(struct report_opts){0}, &length);

	(void)state;
	assert_string_equal(text, "Raddle: no bug confirmed\n");
	free(text);
	finding_add(set, FINDING_RACE)->accesses = finding_array(set, 2, sizeof(struct finding_access));
	set->items[0]->access_count = 2;
	finding_add(set, FINDING_DEADLOCK)->cycle = finding_array(set, 1, sizeof(struct finding_wait));
	set->items[1]->cycle_count = 1;
	text = text_of(set, &(struct report_opts){.all = true}, &length);
	assert_non_null(strstr(text, "data race on unknown memory"));
	assert_non_null(strstr(text, "deadlock of a thread with itself"));
	free(text);
	finding_set_free(set);
}

static void write_errors_are_told(void **state)
{
	struct finding_set *set = fixture_set();
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(full);
	assert_int_not_equal(report_text(set, &(struct report_opts){0}, full), 0);
	clearerr(full);
	assert_int_not_equal(report_html(set, &(struct report_opts){0}, full), 0);
	clearerr(full);
	assert_int_not_equal(report_sarif(set, &(struct report_opts){0}, full), 0);
	clearerr(full);
	assert_int_not_equal(finding_write(set, full), 0);
	fclose(full);
	finding_set_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classified),
		cmocka_unit_test(golden_report),
		cmocka_unit_test(at_most_80_columns),
		cmocka_unit_test(colours_on_request),
		cmocka_unit_test(summary_names_own_code),
		cmocka_unit_test(evidence_of_a_bug),
		cmocka_unit_test(effect_of_a_race),
		cmocka_unit_test(no_control_characters),
		cmocka_unit_test(nothing_known),
		cmocka_unit_test(no_colours_in_files),
		cmocka_unit_test(schedule_in_words),
		cmocka_unit_test(write_errors_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
