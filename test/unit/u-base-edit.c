// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/edit.h. */
#include "base/edit.h"

#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void ignore(void *context, enum rd_level level, const char *text)
{
	(void)context;
	(void)level;
	(void)text;
}

static void what_users_write(void **state)
{
	struct rd_edits e = {0};

	(void)state;
	assert_int_equal(rd_edits_require(&e, " a->b\n> 'x' && c @ src/a.c:12 ; d @b.c:3"), RD_OK);
	assert_int_equal(rd_edits_without_sync(&e, "a.c:7,x/y:z.c:8"), RD_OK);
	assert_int_equal(e.count, 4);
	assert_string_equal(e.items[0].expression, "a->b > 'x' && c");
	assert_string_equal(e.items[0].file, "src/a.c");
	assert_int_equal(e.items[0].line, 12);
	assert_string_equal(e.items[1].text, "require d @ b.c:3");
	assert_int_equal(e.items[2].kind, RD_EDIT_WITHOUT_SYNC);
	assert_null(e.items[2].expression);
	assert_string_equal(e.items[3].file, "x/y:z.c");
	rd_edits_release(&e);
	assert_int_equal(rd_edits_require(&e, NULL), RD_OK);
	assert_int_equal(e.count, 0);
	rd_edits_release(&e);
}

static void what_is_none(void **state)
{
	static const char *const predicates[] = {
		"",	      "a",	   "a @",	 "@ a.c:1", "a @ a.c",
		"a @ a.c:",   "a @ a.c:0", "a @ a.c:1x", "a @ :1",  "a @ a.c:99999999999",
		"a @ a.c:1; "};
	static const char *const places[] = {"", "a.c", "a.c:0", ",a.c:1", "a.c:-1"};
	struct rd_edits e = {0};

	(void)state;
	for (size_t i = 0; i < sizeof predicates / sizeof *predicates; i++)
		assert_int_not_equal(rd_edits_require(&e, predicates[i]), RD_OK);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		assert_int_not_equal(rd_edits_without_sync(&e, places[i]), RD_OK);
	assert_int_not_equal(rd_edits_parse(&e, "forbid a.c:1", "x"), RD_OK);
	rd_edits_release(&e);
}

static void lines_come_back(void **state)
{
	struct rd_edits e = {0}, again = {0};
	struct rd_buf all = RD_BUF_INIT, some = RD_BUF_INIT;

	(void)state;
	assert_int_equal(rd_edits_require(&e, "a @ a.c:1"), RD_OK);
	assert_int_equal(rd_edits_without_sync(&e, "b.c:2"), RD_OK);
	rd_edits_format(&e, true, &all);
	rd_edits_format(&e, false, &some);
	assert_string_equal(all.data, "require a @ a.c:1\nwithout-sync b.c:2\n");
	assert_string_equal(some.data, "without-sync b.c:2\n");
	assert_int_equal(rd_edits_parse(&again, some.data, "x"), RD_OK);
	assert_int_equal(rd_edits_parse(&again, all.data, "x"), RD_OK);
	assert_int_equal(again.count, 2); /* a second `without-sync b.c:2` is not added */
	assert_string_equal(again.items[0].text, "without-sync b.c:2");
	rd_buf_release(&all);
	rd_buf_release(&some);
	rd_edits_release(&e);
	rd_edits_release(&again);
}

static void too_many_are_refused(void **state)
{
	struct rd_edits e = {0};
	char text[32];
	int err = RD_OK;

	(void)state;
	for (int i = 1; i <= RD_EDITS_MAX && !err; i++) {
		snprintf(text, sizeof text, "a.c:%d", i);
		err = rd_edits_without_sync(&e, text);
	}
	assert_int_equal(err, RD_OK);
	assert_int_not_equal(rd_edits_without_sync(&e, "b.c:1"), RD_OK);
	assert_int_equal(e.count, RD_EDITS_MAX);
	rd_edits_release(&e);
}

static void ends_of_paths(void **state)
{
	(void)state;
	assert_true(rd_is_path_end("/src/lib/a.c", "a.c"));
	assert_true(rd_is_path_end("/src/lib/a.c", "lib/a.c"));
	assert_true(rd_is_path_end("a.c", "a.c"));
	assert_false(rd_is_path_end("/src/lib/aa.c", "a.c"));
	assert_false(rd_is_path_end("a.c", "lib/a.c"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_users_write), cmocka_unit_test(what_is_none),
		cmocka_unit_test(lines_come_back),  cmocka_unit_test(too_many_are_refused),
		cmocka_unit_test(ends_of_paths),
	};

	rd_log_set(ignore, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
