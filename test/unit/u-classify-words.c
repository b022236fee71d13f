// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the sentences of classify/ (words-int.h), of a witness's input as JSON
 * (input-int.h), and of the names of techniques (techniques.h).
 */
#include "base/error.h"
#include "classify/input-int.h"
#include "classify/techniques.h"
#include "classify/words-int.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a race for all tests ---- */

static struct schedule_goal goals[2] = {
	{.thread = "T_0_0", .write = true, .place = {.file = "/home/a/x.c", .line = 3}},
	{.thread = "T_0_1", .place = {.file = "/home/a/x.c", .line = 7}}};
static const struct schedule race = {.goals = goals, .goal_count = 2};
static const struct trial_mask nothing;

#define FIRST "the write of T_0_0 at x.c:3"
#define SECOND "the read of T_0_1 at x.c:7"

static struct trial run(const char *out, const char *errors, const char *end)
{
	struct trial t = {.counts = true, .end_text = end};

	t.text[0] = (struct trial_text){out, strlen(out)};
	t.text[1] = (struct trial_text){errors, strlen(errors)};
	t.text[2] = (struct trial_text){"", 0};
	return t;
}

static void expect(struct rd_buf *text, const char *expected)
{
	assert_string_equal(text->data, expected);
	rd_buf_release(text);
}

/* ---- sentences about outputs ---- */

static void differ(const struct trial *a, const struct trial *b, const struct trial_mask *mask,
		   const char *expected)
{
	struct rd_buf text = RD_BUF_INIT;

	words_difference(&text, &(struct words_outputs){{a, b}, mask}, "else");
	expect(&text, expected);
}

/* The sentence is about the first line that is compared and differs.  Standard output comes before
 * standard error. */
static void test_difference(void **state)
{
	struct trial a = run("one\ntwo\n", "e\n", "it ended"), b = run("one\n2\n", "f\n", "it failed"),
		     more = run("one\ntwo\nthree", "e\n", "it ended"),
		     odd = run("one\n\t\x7f\n", "e\n", "it ended");
	static struct trial_mask mask;

	(void)state;
	differ(&a, &b, &nothing, "line 2 of standard output is \"two\"; else, it is \"2\"");
	differ(&a, &more, &nothing, "line 3 of standard output is nothing; else, it is \"three\"");
	differ(&odd, &a, &nothing, "line 2 of standard output is \"??\"; else, it is \"two\"");
	mask.line[0][1] = true;
	differ(&a, &b, &mask, "line 1 of standard error is \"e\"; else, it is \"f\"");
	mask.all[1] = true;
	differ(&a, &b, &mask, "it ended; else, it failed");
}

/* Long lines are shortened. */
static void test_long_line(void **state)
{
	char line[100], expected[200];
	struct trial a, b = run("", "", "");

	(void)state;
	memset(line, 'x', sizeof line - 1);
	line[sizeof line - 1] = '\0';
	a = run(line, "", "");
	snprintf(expected, sizeof expected, "line 1 of standard output is \"%.60s...\"; else, it is nothing",
		 line);
	differ(&a, &b, &nothing, expected);
	line[60] = '\0'; /* the longest line that is shown in full */
	a = run(line, "", "");
	snprintf(expected, sizeof expected, "line 1 of standard output is \"%s\"; else, it is nothing", line);
	differ(&a, &b, &nothing, expected);
}

/* ---- sentences about classes ---- */

static void test_seen(void **state)
{
	struct trial first = run("1\n", "", "the program crashed"),
		     second = run("2\n", "", "the program ended"),
		     control = run("3\n", "", "the program ended well");
	struct decide_runs runs = {.items = {&first, &second, &control}, .count = 1};
	struct decision d = {.class = FINDING_SPEC_VIOLATED, .shows = {VARIANT_FIRST, 0}};
	struct rd_buf text = RD_BUF_INIT;

	(void)state;
	words_seen(&text, &race, &runs, &d, &nothing);
	expect(&text, "with " FIRST " before " SECOND ", the program crashed");
	d.has_other = true;
	d.other = (struct decide_place){VARIANT_SECOND, 0};
	words_seen(&text, &race, &runs, &d, &nothing);
	expect(&text, "with " FIRST " before " SECOND ", the program crashed; with " SECOND " before " FIRST
		      ", the program ended");
	d.class = FINDING_OUTPUT_DIFFERS;
	d.shows.group = VARIANT_SECOND;
	d.other.group = VARIANT_CONTROL;
	words_seen(&text, &race, &runs, &d, &nothing);
	expect(&text, "with " SECOND " before " FIRST
		      ", line 1 of standard output is \"2\"; in a run in which the two accesses were "
		      "not brought together, it is \"3\"");
}

/* Experiments: a run and its counterpart. */
static void test_experiment(void **state)
{
	struct trial first = run("1\n", "", "the program crashed");
	struct decide_experiment e[2] = {
		{.of = {VARIANT_SECOND, 0}, .counterpart = run("2\n", "", "the program ended")},
		{.of = {VARIANT_BETWEEN, 1},
		 .moved = 1,
		 .between = run("3\n", "", "it failed"),
		 .counterpart = run("4\n", "", "it ended")}};
	struct decide_runs runs = {
		.items = {&first, &first, &first}, .count = 1, .experiments = e, .experiment_count = 2};
	struct decision d = {.class = FINDING_SPEC_VIOLATED,
			     .shows = {VARIANT_SECOND, 0},
			     .other = {VARIANT_COUNTERPART, 0},
			     .has_other = true};
	struct rd_buf text = RD_BUF_INIT;

	(void)state;
	words_seen(&text, &race, &runs, &d, &nothing);
	expect(&text, "with " SECOND " before " FIRST ", the program crashed; with " FIRST " before " SECOND
		      ", the program ended");
	d.shows = (struct decide_place){VARIANT_BETWEEN, 1};
	d.other = (struct decide_place){VARIANT_COUNTERPART, 1};
	words_seen(&text, &race, &runs, &d, &nothing);
	expect(&text, "with " SECOND " between accesses of T_0_0, it failed; with " SECOND
		      " before these accesses of T_0_0, it ended");
}

static void test_weakened(void **state)
{
	struct trial first = run("1\n", "", ""), faulty = run("2\n", "", "");
	struct decide_runs usual = {.items = {&first, &faulty, &faulty}, .count = 1};
	struct weakened r = {.class = FINDING_OUTPUT_DIFFERS,
			     .shows = run("9\n", "", "the program crashed"),
			     .group = VARIANT_CONTROL};
	struct rd_buf text = RD_BUF_INIT;

	(void)state;
	faulty.fault = "crash"; /* then its output is not compared */
	words_weakened(&text, &race, &usual, &r, &nothing);
	expect(&text, "in a run in which the two accesses were not brought together, line 1 of standard "
		      "output is \"9\"; under "
		      "sequential consistency, it is \"1\"");
	r.class = FINDING_SPEC_VIOLATED;
	r.shows.relaxed_at = "T_0 at x.c:5";
	words_weakened(&text, &race, &usual, &r, &nothing);
	expect(&text, "in a run in which the two accesses were not brought together, the program crashed; "
		      "memory did what "
		      "sequential "
		      "consistency does not allow, for T_0 at x.c:5");
}

/* Sentences about what keeps the order: a lock with an owner, a semaphore without one, a loop. */
static void test_order(void **state)
{
	struct adhoc a = {
		.found = true,
		.goal = 1,
		.obstacle = {.thread = "T_0_0", .kind = "mutex-lock", .name = "m", .owner = "T_0_1"}};
	struct rd_buf text = RD_BUF_INIT;

	(void)state;
	words_adhoc(&text, &race, &a);
	expect(&text, SECOND " comes before " FIRST ": T_0_0 waits in mutex-lock for m, which T_0_1 holds");
	a.obstacle =
		(struct trial_obstacle){.thread = "T_0_0", .name = "flag", .file = "/home/a/x.c", .line = 9};
	words_adhoc(&text, &race, &a);
	expect(&text, SECOND " comes before " FIRST ": T_0_0 waits in a loop at x.c:9 until flag changes");
	a = (struct adhoc){.found = true, .passes = true, .goal = 0};
	words_adhoc(&text, &race, &a);
	expect(&text, FIRST " comes before " SECOND
			    ": as long as T_0_0 has not made its access, T_0_1 goes on without its own");
}

/* ---- inputs of witnesses as JSON ---- */

static void test_input(void **state)
{
	struct rd_override_part parts[] = {
		{.kind = RD_OVERRIDE_ARGV, .number = 2, .data = (char[]){"x"}, .length = 1},
		{.kind = RD_OVERRIDE_FILE, .name = (char[]){"/tmp/a"}, .data = (char[]){"y"}, .length = 1},
		{.kind = RD_OVERRIDE_ARGV, .number = 10, .data = (char[]){"z"}, .length = 1},
		{.kind = RD_OVERRIDE_STDIN, .data = (char[]){"in"}, .length = 2}};
	struct rd_override given = {.parts = parts, .count = 4};
	struct rd_buf text = RD_BUF_INIT;
	json_t *root;

	(void)state;
	input_format(&given, &text);
	root = json_loadb(text.data, text.length, 0, NULL);
	assert_non_null(root);
	assert_int_equal(json_object_size(root), 3); /* without an environment */
	assert_string_equal(json_string_value(json_object_get(json_object_get(root, "argv"), "2")), "x");
	assert_string_equal(json_string_value(json_object_get(json_object_get(root, "argv"), "10")), "z");
	assert_string_equal(json_string_value(json_object_get(json_object_get(root, "files"), "/tmp/a")),
			    "y");
	assert_string_equal(json_string_value(json_object_get(root, "stdin")), "in");
	json_decref(root);
	rd_buf_release(&text);
}

/* ---- names of techniques ---- */

static void test_techniques(void **state)
{
	static const struct {
		const char *text;
		bool schedules, control, adhoc, paths;
	} rows[] = {{NULL, true, true, true, true},
		    {"", true, true, true, true},
		    {"adhoc", true, true, false, true},
		    {"adhoc,", true, true, false, true},
		    {"paths,control", true, false, true, false},
		    {"schedules,control,adhoc,paths", false, false, false, false}};
	static const char *const wrong[] = {"path", "pathss", ",adhoc", "adhoc paths"};
	struct classify_techniques t;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(classify_techniques_without(rows[i].text, &t), RD_OK);
		assert_int_equal(t.schedules, rows[i].schedules);
		assert_int_equal(t.control, rows[i].control);
		assert_int_equal(t.adhoc, rows[i].adhoc);
		assert_int_equal(t.paths, rows[i].paths);
	}
	rd_log_set(rd_log_discard, NULL);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(classify_techniques_without(wrong[i], &t), RD_EUSAGE);
	rd_log_set(NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_difference), cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_seen),	   cmocka_unit_test(test_experiment),
		cmocka_unit_test(test_weakened),   cmocka_unit_test(test_order),
		cmocka_unit_test(test_input),	   cmocka_unit_test(test_techniques),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
