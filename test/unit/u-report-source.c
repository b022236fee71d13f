// SPDX-License-Identifier: Apache-2.0
/* Unit tests of report/source.c: files that cannot be shown, lines by number, and text as HTML. */
#include "report/source-int.h"

#include "base/alloc.h"
#include "base/file.h"
#include "report/html-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char top[32], *path;

static int set_up(void **state)
{
	(void)state;
	strcpy(top, "/tmp/u-source-XXXXXX");
	if (!mkdtemp(top))
		return -1;
	path = rd_xasprintf("%s/a.c", top);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(path);
	return rd_remove_tree(top);
}

/* ---- files that can be read as source ---- */

static bool reads(const char *name, size_t max, const char *expected)
{
	struct rd_buf text = RD_BUF_INIT;
	bool read = source_read(name, max, &text);

	if (read && expected)
		assert_string_equal(text.data, expected);
	rd_buf_release(&text);
	return read;
}

static void ordinary_files_are_read(void **state)
{
	(void)state;
	assert_int_equal(rd_file_write(path, "one\ntwo\n", 8), 0);
	assert_true(reads(path, 8, "one\ntwo\n"));
	assert_true(reads(path, 1000, "one\ntwo\n"));
}

static void others_are_not(void **state)
{
	char *fifo = rd_xasprintf("%s/fifo", top), *absent = rd_xasprintf("%s/absent", top);

	(void)state;
	assert_int_equal(rd_file_write(path, "one\ntwo\n", 8), 0);
	assert_false(reads(path, 7, NULL)); /* too large */
	assert_int_equal(rd_file_write(path, "a\0b", 3), 0);
	assert_false(reads(path, 1000, NULL)); /* not a text */
	assert_int_equal(rd_file_write(path, "", 0), 0);
	assert_false(reads(path, 1000, NULL)); /* empty */
	assert_false(reads(top, 1000, NULL));
	assert_false(reads(absent, 1000, NULL));
	assert_false(reads("/dev/zero", 1000, NULL));
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_false(reads(fifo, 1000, NULL)); /* without waiting for a writer */
	free(fifo);
	free(absent);
}

static void names_are_below_the_root(void **state)
{
	struct finding_frame place = {.file = "a.c", .line = 1}, whole = {.file = path, .line = 1},
			     none = {.line = 1}, nowhere = {.file = "a.c"};
	struct rd_buf text = RD_BUF_INIT;

	(void)state;
	assert_int_equal(rd_file_write(path, "x\n", 2), 0);
	assert_true(source_of(&place, top, &text));
	rd_buf_clear(&text);
	/* an absolute path does not depend on the root */
	assert_true(source_of(&whole, "/nowhere", &text));
	rd_buf_clear(&text);
	assert_false(source_of(&none, top, &text));
	assert_false(source_of(&nowhere, top, &text)); /* the line is unknown */
	rd_buf_release(&text);
}

/* ---- lines by number ---- */

/* The twin of the search for a line: counts newlines from the beginning. */
static bool twin_line(const char *text, size_t number, char *line)
{
	size_t at = 1, length = 0;
	bool any = false;

	for (const char *p = text; *p; p++) {
		if (at == number && *p != '\n')
			line[length++] = *p;
		any |= at == number;
		at += *p == '\n';
	}
	line[length] = '\0';
	return any;
}

static void lines_are_counted(void **state)
{
	static const char letters[] = "ab\n\n ";

	(void)state;
	srand(21);
	for (int round = 0; round < 3000; round++) {
		char text[60], expected[60];
		size_t length = (size_t)rand() % 50;

		for (size_t i = 0; i < length; i++)
			text[i] = letters[rand() % 5];
		text[length] = '\0';
		for (size_t number = 0; number < 20; number++) {
			const char *line = source_line(text, number);

			if (!number || !twin_line(text, number, expected)) {
				assert_null(line);
				continue;
			}
			assert_non_null(line);
			assert_int_equal(strcspn(line, "\n"), strlen(expected));
			assert_memory_equal(line, expected, strlen(expected));
		}
	}
}

/* ---- text as HTML ---- */

static char *html_of(const char *text)
{
	char *data = NULL;
	size_t length;
	FILE *out = open_memstream(&data, &length);

	assert_non_null(out);
	html_text(out, text);
	assert_int_equal(fclose(out), 0);
	return data;
}

static void check_html(const char *text, const char *expected)
{
	char *html = html_of(text);

	assert_string_equal(html, expected);
	free(html);
}

#define BAD "\xef\xbf\xbd"

static void text_is_escaped(void **state)
{
	(void)state;
	check_html(NULL, "");
	check_html("a < b && c > \"d\"", "a &lt; b &amp;&amp; c &gt; &quot;d&quot;");
	check_html("it's", "it&#39;s");
	check_html("tab\tnewline\n", "tab\tnewline\n");
	check_html("\x1b[31mred\x07", BAD "[31mred" BAD);
	check_html("\x7f", BAD);
	check_html("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
	check_html("\xc3", BAD);		 /* incomplete sequence */
	check_html("\xff\xfe", BAD BAD);	 /* bytes that UTF-8 never has */
	check_html("\xc0\xbc", BAD BAD);	 /* overlong form of '<' */
	check_html("\xed\xa0\x80", BAD BAD BAD); /* half of a surrogate pair */
}

/* Whatever bytes a name has, the result contains no markup and no control character. */
static void nothing_gets_through(void **state)
{
	(void)state;
	srand(22);
	for (int round = 0; round < 20000; round++) {
		char text[16], *html;

		for (size_t i = 0; i < sizeof text - 1; i++)
			text[i] = (char)(1 + rand() % 255);
		text[sizeof text - 1] = '\0';
		html = html_of(text);
		for (const char *p = html; *p; p++) {
			unsigned char c = (unsigned char)*p;

			assert_true(c != '<' && c != '>' && c != '"' && c != '\'' && c != 0x7f);
			assert_true(c >= 0x20 || c == '\t' || c == '\n');
		}
		free(html);
	}
}

static void excerpts_show_the_line_and_those_around(void **state)
{
	static const char text[] = "1\n2\n3\n4\n<5>\n6\n7\n8\n9\n";
	struct finding_frame place = {.file = path, .line = 5}, behind = {.file = path, .line = 10};
	char *data = NULL;
	size_t length;
	FILE *out = open_memstream(&data, &length);

	(void)state;
	assert_int_equal(rd_file_write(path, text, sizeof text - 1), 0);
	assert_true(html_excerpt(out, &place, NULL));
	assert_false(html_excerpt(out, &behind, NULL)); /* the file has no such line */
	assert_int_equal(fclose(out), 0);
	assert_non_null(strstr(data, "class=\"ln here\" data-n=\"5\">&lt;5&gt;\n"));
	assert_non_null(strstr(data, "data-n=\"2\""));
	assert_non_null(strstr(data, "data-n=\"8\""));
	assert_null(strstr(data, "data-n=\"1\""));
	assert_null(strstr(data, "data-n=\"9\""));
	free(data);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ordinary_files_are_read),
		TEST(others_are_not),
		TEST(names_are_below_the_root),
		TEST(lines_are_counted),
		TEST(text_is_escaped),
		TEST(nothing_gets_through),
		TEST(excerpts_show_the_line_and_those_around),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
