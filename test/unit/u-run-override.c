// SPDX-License-Identifier: Apache-2.0
/* Unit tests of run/override.h: what a run with substituted input gets, and that the user's files
 * are not changed. */
#include "run/override.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char top[] = "/tmp/u-run-override-XXXXXX";

static void write_text(const char *path, const char *text)
{
	assert_int_equal(rd_file_write(path, text, strlen(text)), 0);
}

static void assert_content(const char *directory, const char *name, const char *expected)
{
	char *path = directory ? rd_xasprintf("%s/%s", directory, name) : rd_xstrdup(name);
	struct rd_buf text = RD_BUF_INIT;

	assert_int_equal(rd_file_read(path, &text), 0);
	assert_string_equal(text.data, expected);
	rd_buf_release(&text);
	free(path);
}

/* Makes the files.  TOP/here is the working directory and has two files; TOP/elsewhere is another
 * file. */
static int make_files(void **state)
{
	char path[PATH_MAX];

	(void)state;
	assert_non_null(mkdtemp(top));
	snprintf(path, sizeof path, "%s/here/sub", top);
	assert_int_equal(rd_mkdirs(path), 0);
	snprintf(path, sizeof path, "%s/elsewhere", top);
	write_text(path, "far");
	snprintf(path, sizeof path, "%s/here", top);
	assert_int_equal(chdir(path), 0);
	write_text("a", "old a");
	write_text("sub/b", "old b");
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	assert_int_equal(chdir("/"), 0);
	return rd_remove_tree(top);
}

static void set(struct rd_override *o, enum rd_override_kind kind, unsigned number, const char *name,
		const char *data)
{
	rd_override_set(o,
			&(struct rd_override_part){kind, number, (char *)name, (char *)data, strlen(data)});
}

/* Opens a run of "prog first ELSEWHERE" with these overrides, and releases them. */
static int open_run(struct run_override *r, struct rd_override *o)
{
	char scratch[PATH_MAX], elsewhere[PATH_MAX];
	char *argv[] = {"prog", "first", elsewhere, NULL};
	int err;

	snprintf(scratch, sizeof scratch, "%s/scratch", top);
	snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", top);
	err = run_override_open(r, o, argv, scratch);
	for (size_t i = 0; r->argv && r->argv[i]; i++)
		if (r->argv[i] == elsewhere)
			r->argv[i] = NULL; /* it is only valid in this function */
	rd_override_release(o);
	return err;
}

static void nothing_changes_without_parts(void **state)
{
	struct rd_override o = {0};
	struct run_override r;

	(void)state;
	assert_int_equal(open_run(&r, &o), 0);
	assert_null(r.directory);
	assert_int_equal(r.input, -1);
	assert_string_equal(r.argv[1], "first");
	run_override_close(&r);
}

static void arguments_and_input_are_replaced(void **state)
{
	struct rd_override o = {0};
	struct run_override r;
	char text[16] = {0};

	(void)state;
	set(&o, RD_OVERRIDE_ARGV, 1, NULL, "second");
	set(&o, RD_OVERRIDE_ARGV, 9, NULL, "there is no such argument");
	set(&o, RD_OVERRIDE_STDIN, 0, NULL, "input");
	assert_int_equal(open_run(&r, &o), 0);
	assert_string_equal(r.argv[1], "second");
	assert_int_equal(read(r.input, text, sizeof text - 1), 5);
	assert_string_equal(text, "input");
	run_override_close(&r);
}

static void files_are_replaced_in_a_copy(void **state)
{
	struct rd_override o = {0};
	struct run_override r;

	(void)state;
	set(&o, RD_OVERRIDE_FILE, 0, "sub/b", "new b");
	set(&o, RD_OVERRIDE_FILE, 0, "sub/c", "new c");
	assert_int_equal(open_run(&r, &o), 0);
	assert_content(r.directory, "a", "old a");
	assert_content(r.directory, "sub/b", "new b");
	assert_content(r.directory, "sub/c", "new c");
	assert_content(NULL, "sub/b", "old b");
	assert_false(rd_file_exists("sub/c"));
	run_override_close(&r);
	assert_content(NULL, "a", "old a");
}

/* The argument names the new file, and the working directory still has the other files. */
static void files_elsewhere_are_replaced_by_their_argument(void **state)
{
	struct rd_override o = {0};
	struct run_override r;
	char path[PATH_MAX];

	(void)state;
	snprintf(path, sizeof path, "%s/elsewhere", top);
	set(&o, RD_OVERRIDE_FILE, 0, path, "near");
	assert_int_equal(open_run(&r, &o), 0);
	assert_content(NULL, r.argv[2], "near");
	assert_content(NULL, path, "far");
	assert_content(r.directory, "a", "old a");
	run_override_close(&r);
}

static void other_files_cannot_be_replaced(void **state)
{
	struct rd_override o = {0};
	struct run_override r;

	(void)state;
	set(&o, RD_OVERRIDE_FILE, 0, "/etc/hostname", "x");
	rd_log_set(rd_log_discard, NULL);
	assert_int_equal(open_run(&r, &o), RD_ENOTFOUND);
	rd_log_set(NULL, NULL);
	run_override_close(&r);
}

static void variables_are_set_for_a_while(void **state)
{
	struct rd_override o = {0};
	struct run_override r;

	(void)state;
	setenv("U_OVERRIDE_OLD", "old", 1);
	unsetenv("U_OVERRIDE_NEW");
	set(&o, RD_OVERRIDE_ENV, 0, "U_OVERRIDE_OLD", "changed");
	set(&o, RD_OVERRIDE_ENV, 0, "U_OVERRIDE_NEW", "added");
	assert_int_equal(open_run(&r, &o), 0);
	assert_string_equal(getenv("U_OVERRIDE_OLD"), "old");
	run_override_enter(&r);
	run_override_enter(&r);
	assert_string_equal(getenv("U_OVERRIDE_OLD"), "changed");
	assert_string_equal(getenv("U_OVERRIDE_NEW"), "added");
	run_override_leave(&r);
	run_override_leave(&r);
	assert_string_equal(getenv("U_OVERRIDE_OLD"), "old");
	assert_null(getenv("U_OVERRIDE_NEW"));
	run_override_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_changes_without_parts),
		cmocka_unit_test(arguments_and_input_are_replaced),
		cmocka_unit_test(files_are_replaced_in_a_copy),
		cmocka_unit_test(files_elsewhere_are_replaced_by_their_argument),
		cmocka_unit_test(other_files_cannot_be_replaced),
		cmocka_unit_test(variables_are_set_for_a_while),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
