// SPDX-License-Identifier: Apache-2.0
/* Unit tests of timelines as text: columns, cut cells, source lines, and many threads. */
#include "finding-fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/json.h"
#include "base/random.h"
#include "report/timeline-int.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STEP(thread_, file_, line_, event_)                                                                  \
	((struct finding_step){.thread = thread_, .place = {.file = file_, .line = line_}, .event = event_})

/* A finding whose threads have the names of their functions. */
static struct finding *steps_of(struct finding_set *set, const struct finding_step *steps, size_t count)
{
	struct finding *f = finding_add(set, FINDING_FAILURE);

	f->steps = finding_array(set, count, sizeof *steps);
	f->step_count = count;
	memcpy(f->steps, steps, count * sizeof *steps);
	return f;
}

static char *printed(const struct finding *f, const char *near, const char *root)
{
	struct finding_timeline t;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	finding_timeline_make(&t, f);
	timeline_print(&t, f, near, root, out);
	finding_timeline_release(&t);
	fclose(out);
	return text;
}

/* Returns the width of the widest line in characters. */
static size_t width_of(const char *text)
{
	size_t widest = 0, width = 0;

	for (; *text; text++) {
		width = *text == '\n' ? 0 : width + (((unsigned char)*text & 0xc0) != 0x80);
		widest = width > widest ? width : widest;
	}
	return widest;
}

static void two_columns(void **state)
{
	struct finding_set *set = finding_set_new();
	const struct finding_step steps[] = {STEP("T_0_1", "a.c", 7, "x is 1"),
					     STEP("T_0", "a.c", 9, "x = 2")};
	char *text = printed(steps_of(set, steps, 2), "a.c", NULL);

	(void)state;
	/* The initial thread comes first, even if it acts last. */
	assert_string_equal(
		text, "     main                                  thread T_0_1\n"
		      "     ------------------------------------  ------------------------------------\n"
		      "  1                                        7                             x is 1\n"
		      "  2  9                              x = 2\n");
	free(text);
	finding_set_free(set);
}

/* If the event does not fit beside the source, it gets a row of its own.  Other files are named. */
static void two_rows(void **state)
{
	struct finding_set *set = finding_set_new();
	const struct finding_step steps[] = {
		STEP("T_0", "/src/a-file-with-a-long-name.c", 1200, "takes another_lock"),
		STEP("T_0_1", "b.c", 1, "y")};
	char *text = printed(steps_of(set, steps, 2), "/other/b.c", NULL);

	(void)state;
	assert_non_null(strstr(text, "  1  a-file-with-a-long-name.c:1200\n       takes another_lock\n"));
	assert_non_null(strstr(text, "  2                                        1 "));
	assert_null(strstr(text, "b.c:1"));
	free(text);
	finding_set_free(set);
}

static void the_last_step_is_marked(void **state)
{
	struct finding_set *set = finding_set_new();
	struct finding_step steps[] = {STEP("T_0", "a.c", 7, "fails here")};
	char *text;

	(void)state;
	steps[0].last = true;
	text = printed(steps_of(set, steps, 1), "a.c", NULL);
	assert_non_null(strstr(text, "<-- fails here\n"));
	free(text);
	finding_set_free(set);
}

/* With more than three threads, the last column belongs to several, which are named in it. */
static void many_threads(void **state)
{
	struct finding_set *set = finding_set_new();
	const struct finding_step steps[] = {STEP("T_0", "a.c", 1, "a"), STEP("T_0_1", "a.c", 2, "b"),
					     STEP("T_0_2", "a.c", 3, "c"), STEP("T_0_3", "a.c", 4, "d")};
	char *text = printed(steps_of(set, steps, 4), "a.c", NULL);

	(void)state;
	assert_non_null(strstr(text, "other threads\n"));
	assert_non_null(strstr(text, "thread T_0_2: 3"));
	assert_non_null(strstr(text, "thread T_0_3: 4"));
	free(text);
	finding_set_free(set);
}

static void nothing_to_show(void **state)
{
	struct finding_set *set = finding_set_new();
	char *text = printed(finding_add(set, FINDING_FAILURE), NULL, NULL);

	(void)state;
	assert_string_equal(text, "");
	free(text);
	finding_set_free(set);
}

/* Source lines are cut at characters, not at bytes, and tabs become blanks. */
static void source_lines(void **state)
{
	char directory[] = "/tmp/u-report-timeline-XXXXXX";
	struct finding_set *set = finding_set_new();
	const struct finding_step steps[] = {STEP("T_0", "a.c", 2, "e"), STEP("T_0_1", "a.c", 3, "e")};
	char *path, *text, *line;

	(void)state;
	assert_non_null(mkdtemp(directory));
	path = rd_xasprintf("%s/a.c", directory);
	text = rd_xasprintf(
		"int x;\n\tx =\t1; \t\r\n  /* "
		"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6"
		"\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4"
		"\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc "
		"*/\n");
	assert_int_equal(rd_file_write(path, text, strlen(text)), 0);
	free(text);
	line = timeline_source(&steps[0].place, directory);
	assert_string_equal(line, "x = 1;");
	free(line);
	line = timeline_source(&(struct finding_frame){.file = "gone.c", .line = 1}, directory);
	assert_string_equal(line, "");
	free(line);
	text = printed(steps_of(set, steps, 2), "a.c", directory);
	assert_non_null(strstr(text, "  1  2 x = 1;"));
	assert_non_null(strstr(text, "..\n"));
	assert_in_range(width_of(text), 1, 80);
	for (const char *at = text; *at;) {
		size_t n = (unsigned char)*at < 0x80 ? 1 : rd_utf8_length((const unsigned char *)at);

		assert_true(n > 0); /* no character is cut */
		at += n;
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(directory), 0);
	RD_FREE(path, text);
	finding_set_free(set);
}

/* Whatever the steps are, there is a row for each, and none is wider than a terminal. */
static void any_steps(void **state)
{
	static const char *const threads[] = {"T_0", "T_0_0", "T_0_1", "T_0_2", "T_0_12"};
	static const char *const events[] = {"", "x",
					     "reads the_name_of_a_variable: 0x7fffffffe000 -> 12345678901",
					     "waits for accounts[12].lock"};
	static const char *const files[] = {"a.c", "some/very/long/directory/and/a/long/name/of/a/file.cpp",
					    NULL};
	struct rd_random random = {.state = 11};

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		struct finding_set *set = finding_set_new();
		struct finding_step steps[12];
		size_t count = 1 + rd_random_below(&random, 12), rows = 0;
		char *text;

		for (size_t i = 0; i < count; i++)
			steps[i] =
				STEP(threads[rd_random_below(&random, 5)], files[rd_random_below(&random, 3)],
				     (uint32_t)rd_random_below(&random, 100000),
				     events[rd_random_below(&random, 4)]);
		text = printed(steps_of(set, steps, count), "a.c", NULL);
		assert_in_range(width_of(text), 1, 80);
		for (size_t i = 1; i <= count; i++) {
			char number[16];

			snprintf(number, sizeof number, "\n%3zu  ", i);
			rows += strstr(text, number) != NULL;
		}
		assert_int_equal(rows, count);
		free(text);
		finding_set_free(set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_columns),
		cmocka_unit_test(two_rows),
		cmocka_unit_test(the_last_step_is_marked),
		cmocka_unit_test(many_threads),
		cmocka_unit_test(nothing_to_show),
		cmocka_unit_test(source_lines),
		cmocka_unit_test(any_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
