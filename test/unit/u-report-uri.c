// SPDX-License-Identifier: Apache-2.0
/* Unit tests of report/uri-int.h: decoding the URI of a random path returns the path, without "."
 * and "..". */
#include "report/uri-int.h"

#include "base/alloc.h"
#include "base/file.h"

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

static char *uri_of(const char *root, const char *path, bool *below)
{
	struct rd_buf out = RD_BUF_INIT;
	struct uri_root r;

	uri_root_find(&r, root);
	*below = uri_add(&out, &r, path);
	uri_root_release(&r);
	return rd_buf_detach(&out);
}

static void check(const char *root, const char *path, const char *expected, bool expected_below)
{
	bool below;
	char *uri = uri_of(root, path, &below);

	assert_string_equal(uri, expected);
	assert_int_equal(below, expected_below);
	free(uri);
}

static void names_below_the_root_are_relative(void **state)
{
	(void)state;
	check("/src/x", "/src/x/a.c", "a.c", true);
	check("/src/x", "a.c", "a.c", true);
	check("/src/x/", "./lib/../a.c", "a.c", true);
	check("/src/x", "lib//b.c", "lib/b.c", true);
	check("/src/./y/../x", "/src/x/lib/b.c", "lib/b.c", true);
}

static void others_are_absolute(void **state)
{
	(void)state;
	check("/src/x", "/usr/include/stdio.h", "file:///usr/include/stdio.h", false);
	check("/src/x", "../y/a.c", "file:///src/y/a.c", false);
	/* /src/xy is not below /src/x */
	check("/src/x", "/src/xy/a.c", "file:///src/xy/a.c", false);
	check("/src/x", "../../../../../etc/a.c", "file:///etc/a.c", false);
}

static void odd_letters_are_escaped(void **state)
{
	(void)state;
	check("/s", "a b.c", "a%20b.c", true);
	check("/s", "100%.c", "100%25.c", true);
	check("/s", "what?#1.c", "what%3F%231.c", true);
	check("/s", "\xc3\xa4.c", "%C3%A4.c", true);
	check("/s", "c:a.c", "./c:a.c", true); /* without ./ the letter c would be a scheme */
	check("/s", "/t/c:a.c", "file:///t/c:a.c", false);
}

/* ---- comparison with a twin ---- */

/* The twin keeps the parts of an absolute path in a list. */
static char *twin(const char *here, const char *path)
{
	char parts[64][8], *whole = rd_xasprintf("%s/%s", *path == '/' ? "" : here, path), *rest = whole,
			   *part;
	struct rd_buf out = RD_BUF_INIT;
	size_t count = 0;

	while ((part = strsep(&rest, "/"))) {
		if (strcmp(part, "..") == 0)
			count -= count > 0;
		else if (*part && strcmp(part, ".") != 0)
			snprintf(parts[count++], sizeof parts[0], "%s", part);
	}
	for (size_t i = 0; i < count; i++)
		rd_buf_addf(&out, "/%s", parts[i]);
	if (!count)
		rd_buf_addc(&out, '/');
	free(whole);
	return rd_buf_detach(&out);
}

static char *decode(const char *uri)
{
	struct rd_buf out = RD_BUF_INIT;

	for (; *uri; uri++) {
		if (*uri == '%') {
			char digits[3] = {uri[1], uri[2], '\0'};

			rd_buf_addc(&out, (char)strtoul(digits, NULL, 16));
			uri += 2;
		} else {
			rd_buf_addc(&out, *uri);
		}
	}
	return rd_buf_detach(&out);
}

static void random_path(char *path)
{
	static const char *const parts[] = {"src", "x", "a.c", "..", ".", "", "a b", "%41", "q?"};
	int count = 1 + rand() % 6;

	path[0] = '\0';
	if (rand() % 2)
		strcpy(path, rand() % 2 ? "/src/x/" : "/");
	for (int i = 0; i < count; i++) {
		strcat(path, parts[rand() % 9]);
		strcat(path, "/");
	}
	strcat(path, "f.c");
}

static void random_paths_come_back(void **state)
{
	(void)state;
	srand(10);
	for (int round = 0; round < 5000; round++) {
		char path[128], *expected, *uri, *decoded, *whole;
		bool below;

		random_path(path);
		expected = twin("/src/x", path);
		uri = uri_of("/src/x", path, &below);
		decoded = decode(uri);
		whole = below ? rd_xasprintf("/src/x/%s", decoded) : rd_xstrdup(decoded + strlen("file://"));
		assert_string_equal(whole, expected);
		assert_int_equal(below, strncmp(expected, "/src/x/", 7) == 0);
		for (const char *p = uri; *p; p++)
			assert_true(*p > ' ' && *p < 0x7f && *p != '?' && *p != '#');
		free(expected);
		free(uri);
		free(decoded);
		free(whole);
	}
}

/* If no root is given, the repository around the working directory is used. */
static void the_repository_is_found(void **state)
{
	char top[] = "/tmp/u-uri-XXXXXX", *git, *below, *before = getcwd(NULL, 0), *file;
	bool is_below;

	(void)state;
	assert_non_null(before);
	assert_non_null(mkdtemp(top));
	git = rd_xasprintf("%s/.git", top);
	below = rd_xasprintf("%s/a/b", top);
	assert_int_equal(rd_mkdirs(git), 0);
	assert_int_equal(rd_mkdirs(below), 0);
	assert_int_equal(chdir(below), 0);
	file = uri_of(NULL, "c.c", &is_below);
	assert_true(is_below);
	assert_string_equal(file, "a/b/c.c");
	assert_int_equal(chdir(before), 0);
	rd_remove_tree(top);
	free(git);
	free(below);
	free(before);
	free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_below_the_root_are_relative), cmocka_unit_test(others_are_absolute),
		cmocka_unit_test(odd_letters_are_escaped),	     cmocka_unit_test(random_paths_come_back),
		cmocka_unit_test(the_repository_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
