// SPDX-License-Identifier: Apache-2.0
/* Unit tests of source lines in the text report.  They have a caret, long lines are cut, and
 * control characters are replaced.  Missing lines are silently omitted.  Also tests the words for
 * the subject of a race. */
#include "finding-fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "finding/bug.h"
#include "report/report.h"
#include "report/source-int.h"
#include "report/words-int.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char directory[] = "/tmp/u-report-quote-XXXXXX";

static char *quote(const char *source, uint32_t line, uint32_t column, int width)
{
	char *path = rd_xasprintf("%s/f.c", directory), *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(rd_file_write(path, source, strlen(source)), 0);
	source_quote(out, &(struct finding_frame){.file = "f.c", .line = line, .column = column}, directory,
		     2, width);
	assert_int_equal(fclose(out), 0);
	free(path);
	return text;
}

static void assert_quote(const char *source, uint32_t line, uint32_t column, int width, const char *expected)
{
	char *text = quote(source, line, column, width);

	assert_string_equal(text, expected);
	free(text);
}

static void lines(void **state)
{
	(void)state;
	assert_quote("a;\n\tb = c;\n", 2, 6, 80, "  2 | b = c;\n    |     ^\n");
	assert_quote("a;\n\tb = c;\n", 2, 0, 80, "  2 | b = c;\n");
	assert_quote("a;\r\nlast", 2, 1, 80, "  2 | last\n    | ^\n");
	/* The column is after the end of the line, the line is after the end of the file, or the
	 * line is blank. */
	assert_quote("a;\n", 1, 40, 80, "  1 | a;\n");
	assert_quote("a;\n", 2, 1, 80, "");
	assert_quote("  \n", 1, 1, 80, "");
	assert_quote("", 1, 1, 80, "");
}

static void odd_bytes(void **state)
{
	(void)state;
	assert_quote("x\033[2J\x7f y\n", 1, 8, 80, "  1 | x?[2J? y\n    |        ^\n");
	/* Columns count bytes, but carets are placed under characters. */
	assert_quote("\xc3\xa4\xc3\xb6 = 1\n", 1, 6, 80, "  1 | \xc3\xa4\xc3\xb6 = 1\n    |    ^\n");
	assert_quote("\xff\xfe=1\n", 1, 3, 80, "  1 | ?\?=1\n    |   ^\n");
	assert_quote("a\tb\n", 1, 3, 80, "  1 | a b\n    |   ^\n");
}

static void long_lines(void **state)
{
	char source[402];

	(void)state;
	for (size_t i = 0; i < 400; i++)
		source[i] = (char)('a' + i % 26);
	strcpy(source + 400, "\n");
	assert_quote(source, 1, 3, 40, "  1 | abcdefghijklmnopqrstuvwxyzabcde...\n    |   ^\n");
	for (uint32_t column = 1; column <= 400; column++) {
		char *text = quote(source, 1, column, 40), *second = strchr(text, '\n') + 1;
		assert_true(second - text <= 41);
		assert_true(strlen(second) <= 41);
		/* The caret is under the character at that column. */
		assert_int_equal(text[strcspn(second, "^")], source[column - 1]);
		free(text);
	}
}

static void missing_files(void **state)
{
	static const char *const names[] = {"missing.c", "/dev/zero", "/", "f.c/x"};
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		char *text = NULL;
		size_t length;
		FILE *out = open_memstream(&text, &length);
		source_quote(out, &(struct finding_frame){.file = names[i], .line = 1}, directory, 0, 80);
		assert_int_equal(fclose(out), 0);
		assert_int_equal(length, 0);
		free(text);
	}
}

static void quoted_in_report(void **state)
{
	struct finding_set *set = fixture_set();
	char *path = rd_xasprintf("%s/src", directory), *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	assert_int_equal(rd_mkdirs(path), 0);
	free(path);
	path = rd_xasprintf("%s/src/counter.c", directory);
	static const char source[] = "\n\n\n\n\n\n\n\n\n\n\n\thits++;\n";
	assert_int_equal(rd_file_write(path, source, strlen(source)), 0);
	free(path);
	assert_int_equal(report_text(set, &(struct report_opts){.root = directory, .others = true}, out), 0);
	fclose(out);
	assert_non_null(strstr(text, "    #0 add_one src/counter.c:12:6\n"
				     "       12 | hits++;\n"
				     "          |     ^\n"
				     "    #1 worker src/counter.c:19:3\n"));
	free(text);
	finding_set_free(set);
}

/* Files below the current directory are named relative to it, others by their full path. */
static void near_files(void **state)
{
	struct finding_set *set = finding_set_new();
	struct finding *f = fixture_race(set, "x", 12);
	char *here = getcwd(NULL, 0), *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	assert_int_equal(chdir(directory), 0);
	char *cwd = getcwd(NULL, 0);
	f->accesses[0].stack.frames[0].file = finding_textf(set, "%s/lib/a.c", cwd);
	f->accesses[1].stack.frames[0].file = finding_textf(set, "%s.old/b.c", cwd);
	f->status = FINDING_CONFIRMED;
	finding_set_finish(set);
	assert_int_equal(report_text(set, &(struct report_opts){.others = true}, out), 0);
	fclose(out);
	char *other = rd_xasprintf(" %s.old/b.c:", cwd);
	assert_non_null(strstr(text, " lib/a.c:"));
	assert_non_null(strstr(text, other));
	assert_int_equal(chdir(here), 0);
	free(other);
	free(text);
	free(cwd);
	free(here);
	finding_set_free(set);
}

/* Frames of a library are summarised, except for the innermost one.  With `all`, every frame is
 * shown. */
static void library_frames(void **state)
{
	struct finding_set *set = finding_set_new();
	struct finding *f = fixture_race(set, "x", 12);

	(void)state;
	f->accesses[0].stack = fixture_stack(
		set, FRAMES({"std::swap", "/usr/include/c++/12/bits/move.h", 1, 1}, {"add", "own.cc", 2, 1},
			    {"std::invoke", "/usr/include/c++/12/functional", 3, 1},
			    {"std::run", "/usr/include/c++/12/thread", 4, 1}, {"main", "own.cc", 5, 1},
			    {"std::last", "/usr/include/c++/12/thread", 6, 1}));
	f->status = FINDING_CONFIRMED;
	finding_set_finish(set);
	for (int all = 0; all < 2; all++) {
		char *text = NULL;
		size_t length;
		FILE *out = open_memstream(&text, &length);
		assert_int_equal(report_text(set, &(struct report_opts){.all = all, .others = true}, out), 0);
		fclose(out);
		assert_non_null(strstr(text, "    #0 std::swap /usr/include/c++/12/bits/move.h:1:1\n"
					     "    #1 add own.cc:2:1\n"));
		assert_int_equal(strstr(text, "    #2-#3 (in the library)\n    #4 main own.cc:5:1\n") != NULL,
				 !all);
		assert_int_equal(strstr(text, "    #3 std::run /usr/include/c++/12/thread:4:1\n") != NULL,
				 all);
		assert_non_null(strstr(text, "    #5 std::last /usr/include/c++/12/thread:6:1\n"));
		free(text);
	}
	finding_set_free(set);
}

static void assert_title(enum finding_op a, enum finding_op b, const char *title, const char *detail)
{
	struct finding_set *set = finding_set_new();
	struct finding *f = fixture_race(set, "struct conn.refs", 12);
	struct rd_buf words = RD_BUF_INIT;

	f->accesses[0].op = a;
	f->accesses[1].op = b;
	finding_title(&words, f);
	assert_string_equal(words.data, title);
	assert_string_equal(
		finding_detail_name(finding_detail(f)) ? finding_detail_name(finding_detail(f)) : "", detail);
	rd_buf_release(&words);
	finding_set_free(set);
}

static void kinds_of_races(void **state)
{
	(void)state;
	assert_title(FINDING_READ, FINDING_WRITE, "data race on struct conn.refs", "");
	assert_title(FINDING_READ, FINDING_FREE, "use after free of struct conn.refs", "use-after-free");
	assert_title(FINDING_FREE, FINDING_USE, "use after free of struct conn.refs", "use-after-free");
	assert_title(FINDING_FREE, FINDING_FREE, "double free of struct conn.refs", "double-free");
	assert_title(FINDING_USE, FINDING_DESTROY, "use after destruction of struct conn.refs",
		     "use-after-destroy");
	assert_title(FINDING_CLOSE, FINDING_USE, "use after close of struct conn.refs", "use-after-close");
	assert_title(FINDING_USE, FINDING_INIT, "data race on struct conn.refs", "");
}

/* If two threads take a lock and no unlock is shown between them, the report says that unlocks are
 * omitted. */
static void left_out(void **state)
{
	struct schedule s;

	(void)state;
	schedule_init(&s);
	fixture_op(&s, "T_0_0", 1, "mutex-lock", "a");
	fixture_op(&s, "T_0_1", 1, "mutex-lock", "b");
	assert_null(word_left_out(&s));
	fixture_op(&s, "T_0_1", 2, "mutex-lock", "a");
	assert_non_null(word_left_out(&s));
	schedule_release(&s);
	schedule_init(&s);
	fixture_op(&s, "T_0_0", 1, "mutex-lock", "a");
	fixture_op(&s, "T_0_0", 2, "mutex-unlock", "a");
	fixture_op(&s, "T_0_1", 1, "mutex-lock", "a");
	assert_null(word_left_out(&s));
	schedule_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(odd_bytes),
		cmocka_unit_test(long_lines),
		cmocka_unit_test(missing_files),
		cmocka_unit_test(quoted_in_report),
		cmocka_unit_test(library_frames),
		cmocka_unit_test(near_files),
		cmocka_unit_test(kinds_of_races),
		cmocka_unit_test(left_out),
	};
	if (!mkdtemp(directory))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rd_remove_tree(directory);
	return failed;
}
