// SPDX-License-Identifier: Apache-2.0
/* Unit tests of FILE:LINE as users type it, and of options that are passed to another command of
 * Raddle. */
#include "golden.h"

#include "base/option.h"
#include "base/place.h"
#include "base/process.h"

static void places(void **state)
{
	static const struct {
		const char *text, *file;
		uint32_t line;
	} rows[] = {{"queue.c:45", "queue.c", 45},
		    {"a/b c.c:1", "a/b c.c", 1},
		    {"queue.c:45:7", "queue.c", 45},
		    {"queue.c:4294967294", "queue.c", 4294967294u}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *file = NULL;
		uint32_t line = 0;

		assert_true(rd_place_parse(rows[i].text, &file, &line));
		assert_string_equal(file, rows[i].file);
		assert_int_equal(line, rows[i].line);
		free(file);
	}
}

static void other_texts(void **state)
{
	static const char *const texts[] = {
		NULL,	     "",	  "queue.c",	 "queue.c:",   ":45",
		"queue.c:0", "queue.c:x", "queue.c:45x", "queue.c:-1", "queue.c:4294967295"};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		char *file = NULL;
		uint32_t line = 77;

		assert_false(rd_place_parse(texts[i], &file, &line));
		assert_null(file);
		assert_int_equal(line, 77);
	}
}

static void options_for_another_command(void **state)
{
	struct rd_argv a = RD_ARGV_INIT;

	(void)state;
	rd_argv_add_text(&a, "with", NULL);
	rd_argv_add_number(&a, "time", 0, "ms");
	rd_argv_add_number(&a, "seed", RD_OPTION_UNSET, "");
	rd_argv_add_flag(&a, "quiet", false);
	assert_int_equal(a.count, 0);
	rd_argv_add_text(&a, "with", "curl -s x");
	rd_argv_add_number(&a, "time", 500, "ms");
	rd_argv_add_flag(&a, "quiet", true);
	assert_int_equal(a.count, 3);
	assert_string_equal(a.items[0], "--with=curl -s x");
	assert_string_equal(a.items[1], "--time=500ms");
	assert_string_equal(a.items[2], "--quiet");
	assert_null(a.items[3]);
	rd_argv_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places),
		cmocka_unit_test(other_texts),
		cmocka_unit_test(options_for_another_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
