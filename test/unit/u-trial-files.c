// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of trial/files.c: the streams with what a run wrote to files and what it sent.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "trial/files-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/raddle-files-XXXXXX";
static struct rd_arena *arena;

static int make_directory(void **state)
{
	(void)state;
	arena = rd_arena_new();
	return !mkdtemp(directory) || chdir(directory);
}

static int remove_directory(void **state)
{
	(void)state;
	rd_arena_free(arena);
	return chdir("/") || rmdir(directory);
}

static struct replay_written file(const char *name, uint64_t from)
{
	char *path = rd_xasprintf("%s/%s", directory, name);
	struct replay_written w = {
		.file = true, .name = rd_arena_strndup(arena, path, strlen(path)), .from = from};

	free(path);
	return w;
}

static void write_file(const char *name, const void *bytes, size_t length)
{
	assert_int_equal(rd_file_write(name, bytes, length), RD_OK);
}

static struct trial read_files(struct replay_written *written, size_t count)
{
	struct replay_result r = {.written = written, .written_count = count};
	struct trial t = {0};

	files_read(&r, &t, arena);
	return t;
}

static void assert_text(const struct trial_text *t, const char *bytes, size_t length)
{
	assert_int_equal(t->length, length);
	assert_memory_equal(t->data, bytes, length);
}

/* Files are sorted by name; each line belongs to one of them. */
static void test_order(void **state)
{
	struct replay_written written[] = {file("b", 0), file("a", 0)};
	struct trial t;

	(void)state;
	write_file("a", "one\ntwo", 7);
	write_file("b", "three\n", 6);
	t = read_files(written, 2);
	assert_text(&t.text[TRIAL_FILES], "a:\none\ntwo\nb:\nthree\n", 20);
	assert_int_equal(t.file_count, 2);
	assert_string_equal(t.files[0].name, "a");
	assert_int_equal(t.files[0].line, 0);
	assert_string_equal(t.files[1].name, "b");
	assert_int_equal(t.files[1].line, 3);
	unlink("a");
	unlink("b");
}

/* If the run appended to a file, only what it appended counts.  A removed file does not appear.  Bytes
 * of any value are kept. */
static void test_parts(void **state)
{
	struct replay_written written[] = {file("log", 4), file("gone", 0), file("short", 9)};
	struct trial t;

	(void)state;
	write_file("log", "old\nn\0w\n", 8);
	write_file("short", "x\n", 2);
	t = read_files(written, 3);
	assert_text(&t.text[TRIAL_FILES], "log:\nn\0w\nshort:\n", 16);
	assert_int_equal(t.file_count, 2);
	unlink("log");
	unlink("short");
}

/* Of a large file, the beginning and a digest of the rest are kept. */
static void test_large(void **state)
{
	enum { SIZE = 3 << 20 };
	struct replay_written written[] = {file("large", 0)};
	char *bytes = rd_xmalloc(SIZE);
	struct trial a, b, c;

	(void)state;
	memset(bytes, 'x', SIZE);
	write_file("large", bytes, SIZE);
	a = read_files(written, 1);
	b = read_files(written, 1);
	bytes[SIZE - 1] = 'y';
	write_file("large", bytes, SIZE);
	c = read_files(written, 1);
	assert_true(a.text[TRIAL_FILES].length < SIZE / 2);
	assert_text(&a.text[TRIAL_FILES], b.text[TRIAL_FILES].data, b.text[TRIAL_FILES].length);
	assert_int_equal(a.text[TRIAL_FILES].length, c.text[TRIAL_FILES].length);
	assert_memory_not_equal(a.text[TRIAL_FILES].data, c.text[TRIAL_FILES].data,
				a.text[TRIAL_FILES].length);
	free(bytes);
	unlink("large");
}

/* What was sent through connections comes first. */
static void test_sent(void **state)
{
	struct replay_written written[] = {
		{.name = "10.0.0.1 port 53", .sent = "a\0b", .sent_length = 3},
		{.file = true, .name = "/nowhere"},
		{.name = "10.0.0.1 port 53", .sent = "c\n", .sent_length = 2},
	};
	struct replay_result r = {.written = written,
				  .written_count = 3,
				  .outside = {.sent = "to connection 1:\nhello", .sent_length = 22}};
	struct trial t = {0};

	(void)state;
	files_read_sent(&r, &t, arena);
	assert_text(&t.text[TRIAL_SENT],
		    "to connection 1:\nhello\nto 10.0.0.1 port 53:\na\0b\nto 10.0.0.1 port 53:\nc\n", 71);
	assert_true(files_are_written(&r));
	r.written_count = 1;
	assert_false(files_are_written(&r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_sent),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
