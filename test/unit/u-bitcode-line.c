// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the link information in a program (bitcode/line.h) and of archives
 * (bitcode/archive-int.h).  What is written is read back, and truncated data is rejected.
 * Whichever bytes are changed, nothing outside the data is read.  The system's ar reads our
 * archives, and we read its archives.
 */
#include "base/buf.h"
#include "base/file.h"
#include "base/process.h"
#include "base/scratch.h"
#include "bitcode/archive-int.h"
#include "bitcode/line-int.h"
#include "bitcode/line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ITEMS = 6, RUNS = 200 };

static uint64_t seed = 3;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* ---- link lines ---- */

struct written {
	struct bitcode_item items[ITEMS];
	char texts[ITEMS][40];
	uint8_t data[ITEMS][64];
	size_t count;
};

static void add_text(struct rd_buf *out, enum bitcode_item_kind kind, const char *text)
{
	bitcode_line_add(out, &(struct bitcode_item){.kind = kind, .text = text});
}

/* Makes a link line with its three required parts and some items. */
static void random_line(struct rd_buf *out, struct written *w)
{
	static const char kinds[] = "awicnprmf";

	bitcode_line_begin(out);
	add_text(out, BITCODE_LINE_DIRECTORY, "/work/some where");
	w->count = below(ITEMS + 1);
	for (size_t i = 0; i < w->count; i++) {
		size_t length = below(40), bytes = below(64);
		for (size_t k = 0; k < length; k++)
			w->texts[i][k] = (char)(1 + below(255));
		w->texts[i][length] = 0;
		for (size_t k = 0; k < bytes; k++)
			w->data[i][k] = (uint8_t)below(256);
		w->items[i] = (struct bitcode_item){.kind = (enum bitcode_item_kind)kinds[below(9)],
						    .text = w->texts[i],
						    .data = w->data[i],
						    .length = bytes};
		bitcode_line_add(out, &w->items[i]);
	}
	add_text(out, BITCODE_LINE_DRIVER, "clang-19");
	add_text(out, BITCODE_LINE_OUTPUT, "/work/a.out");
	bitcode_line_end(out);
}

static void test_line_round_trip(void **state)
{
	(void)state;
	for (int run = 0; run < RUNS; run++) {
		struct rd_buf b = RD_BUF_INIT;
		struct bitcode_line line;
		struct written w;
		random_line(&b, &w);
		assert_true(bitcode_line_parse(&line, (uint8_t *)b.data, b.length));
		assert_string_equal(line.directory, "/work/some where");
		assert_string_equal(line.driver, "clang-19");
		assert_string_equal(line.output, "/work/a.out");
		assert_int_equal(line.count, w.count);
		for (size_t i = 0; i < w.count; i++) {
			assert_int_equal(line.items[i].kind, w.items[i].kind);
			assert_string_equal(line.items[i].text, w.items[i].text);
			assert_int_equal(line.items[i].length, w.items[i].length);
			if (w.items[i].length)
				assert_memory_equal(line.items[i].data, w.items[i].data, w.items[i].length);
		}
		bitcode_line_release(&line);
		/* Padding at the end of the section does not matter. */
		rd_buf_add(&b, "\0\0\0\0\0\0\0", 7);
		assert_true(bitcode_line_parse(&line, (uint8_t *)b.data, b.length));
		assert_int_equal(line.count, w.count);
		bitcode_line_release(&line);
		rd_buf_release(&b);
	}
}

/* Parses a copy of exactly this length, so that a sanitizer detects reads after its end. */
static bool parse_copy(const char *data, size_t length, struct bitcode_line *line, uint8_t **copy)
{
	*copy = malloc(length + !length);
	assert_non_null(*copy);
	memcpy(*copy, data, length);
	return bitcode_line_parse(line, *copy, length);
}

static void test_line_cut_off(void **state)
{
	(void)state;
	for (int run = 0; run < 20; run++) {
		struct rd_buf b = RD_BUF_INIT;
		struct written w;
		random_line(&b, &w);
		for (size_t length = 0; length < b.length; length++) {
			struct bitcode_line line;
			uint8_t *copy;
			assert_false(parse_copy(b.data, length, &line, &copy));
			assert_int_equal(line.count, 0);
			free(copy);
		}
		rd_buf_release(&b);
	}
}

static bool is_inside(const uint8_t *from, size_t length, const void *p, size_t n)
{
	return (const uint8_t *)p >= from && (const uint8_t *)p + n <= from + length;
}

static void test_line_damaged(void **state)
{
	size_t refused = 0, accepted = 0;

	(void)state;
	for (int run = 0; run < 2000; run++) {
		struct rd_buf b = RD_BUF_INIT;
		struct bitcode_line line;
		struct written w;
		uint8_t *copy;
		random_line(&b, &w);
		for (uint32_t k = 1 + below(3); k > 0; k--)
			b.data[below((uint32_t)b.length)] = (char)below(256);
		if (parse_copy(b.data, b.length, &line, &copy)) {
			for (size_t i = 0; i < line.count; i++) {
				assert_true(is_inside(copy, b.length, line.items[i].text,
						      strlen(line.items[i].text) + 1));
				assert_true(
					is_inside(copy, b.length, line.items[i].data, line.items[i].length));
			}
			bitcode_line_release(&line);
			accepted++;
		} else {
			refused++;
		}
		free(copy);
		rd_buf_release(&b);
	}
	assert_true(refused > 100 && accepted > 100);
}

/* A line without one of its three required parts is invalid. */
static void test_line_incomplete(void **state)
{
	static const enum bitcode_item_kind parts[] = {BITCODE_LINE_DIRECTORY, BITCODE_LINE_DRIVER,
						       BITCODE_LINE_OUTPUT};

	(void)state;
	for (unsigned without = 0; without <= 3; without++) {
		struct rd_buf b = RD_BUF_INIT;
		struct bitcode_line line;
		bitcode_line_begin(&b);
		for (unsigned i = 0; i < 3; i++)
			if (i != without)
				add_text(&b, parts[i], "x");
		bitcode_line_end(&b);
		assert_int_equal(bitcode_line_parse(&line, (uint8_t *)b.data, b.length), without == 3);
		bitcode_line_release(&line);
		rd_buf_release(&b);
	}
}

/* ---- archives ---- */

struct member {
	char name[80];
	char data[50];
	size_t length;
};

static void random_members(struct member *members, size_t count, uint32_t longest)
{
	for (size_t i = 0; i < count; i++) {
		size_t name = 1 + below(longest - 4);
		for (size_t k = 0; k < name; k++)
			members[i].name[k] = (char)('a' + below(26));
		/* All names are different. */
		snprintf(members[i].name + name, 12, "%zu.o", i % 1000000);
		members[i].length = below(50);
		for (size_t k = 0; k < members[i].length; k++)
			members[i].data[k] = (char)below(256);
	}
}

static void check_members(const void *data, size_t length, const struct member *members, size_t count)
{
	struct bitcode_archive a;
	struct bitcode_member m;

	assert_true(bitcode_archive_parse(&a, data, length));
	assert_false(a.thin);
	for (size_t i = 0; i < count; i++) {
		assert_true(bitcode_archive_next(&a, &m));
		assert_string_equal(m.name, members[i].name);
		assert_int_equal(m.length, members[i].length);
		if (m.length)
			assert_memory_equal(m.data, members[i].data, m.length);
	}
	assert_false(bitcode_archive_next(&a, &m));
}

static void test_archive_round_trip(void **state)
{
	(void)state;
	for (int run = 0; run < RUNS; run++) {
		struct rd_buf b = RD_BUF_INIT;
		struct member members[5];
		size_t count = below(6);
		random_members(members, count, 15);
		bitcode_archive_begin(&b);
		for (size_t i = 0; i < count; i++)
			bitcode_archive_add(&b, members[i].name, members[i].data, members[i].length);
		check_members(b.data, b.length, members, count);
		rd_buf_release(&b);
	}
}

/* The system's ar lists and prints an archive that we wrote, and we read an archive that it
 * wrote. */
static void test_archive_of_others(void **state)
{
	struct rd_buf ours = RD_BUF_INIT, listed = RD_BUF_INIT, names = RD_BUF_INIT, theirs = RD_BUF_INIT;
	struct rd_argv ar = RD_ARGV_INIT;
	struct member members[5];
	char *directory, *path, *other;

	(void)state;
	assert_int_equal(rd_scratch_open(&directory, NULL, "archive"), 0);
	asprintf(&path, "%s/ours.a", directory);
	asprintf(&other, "%s/theirs.a", directory);
	random_members(members, 5, 15);
	bitcode_archive_begin(&ours);
	rd_argv_add(&ar, "ar");
	rd_argv_add(&ar, "qcS");
	rd_argv_add(&ar, other);
	for (size_t i = 0; i < 5; i++) {
		char *file;
		asprintf(&file, "%s/%s", directory, members[i].name);
		bitcode_archive_add(&ours, members[i].name, members[i].data, members[i].length);
		rd_buf_addf(&names, "%s\n", members[i].name);
		assert_int_equal(rd_file_write(file, members[i].data, members[i].length), 0);
		rd_argv_add(&ar, file);
		free(file);
	}
	assert_int_equal(rd_file_write(path, ours.data, ours.length), 0);
	assert_int_equal(rd_run_capture((char *const[]){"ar", "t", path, NULL}, 10000, &listed), 0);
	assert_string_equal(listed.data, names.data);
	for (size_t i = 0; i < 5; i++) {
		struct rd_buf printed = RD_BUF_INIT;
		assert_int_equal(rd_run_capture((char *const[]){"ar", "p", path, members[i].name, NULL},
						10000, &printed),
				 0);
		assert_int_equal(printed.length, members[i].length);
		if (printed.length)
			assert_memory_equal(printed.data, members[i].data, printed.length);
		rd_buf_release(&printed);
	}
	assert_int_equal(rd_run(ar.items), 0);
	assert_int_equal(rd_file_read(other, &theirs), 0);
	check_members(theirs.data, theirs.length, members, 5);
	rd_scratch_close(directory);
	rd_argv_release(&ar);
	rd_buf_release(&ours);
	rd_buf_release(&listed);
	rd_buf_release(&names);
	rd_buf_release(&theirs);
	free(path);
	free(other);
}

/* Names that are too long for the header of a member are in a table. */
static void test_archive_long_names(void **state)
{
	struct rd_buf theirs = RD_BUF_INIT;
	struct rd_argv ar = RD_ARGV_INIT;
	struct member members[5];
	char *directory, *other;

	(void)state;
	assert_int_equal(rd_scratch_open(&directory, NULL, "archive"), 0);
	asprintf(&other, "%s/theirs.a", directory);
	random_members(members, 5, 60);
	rd_argv_add(&ar, "ar");
	rd_argv_add(&ar, "qcS");
	rd_argv_add(&ar, other);
	for (size_t i = 0; i < 5; i++) {
		char *file;
		asprintf(&file, "%s/%s", directory, members[i].name);
		assert_int_equal(rd_file_write(file, members[i].data, members[i].length), 0);
		rd_argv_add(&ar, file);
		free(file);
	}
	assert_int_equal(rd_run(ar.items), 0);
	assert_int_equal(rd_file_read(other, &theirs), 0);
	check_members(theirs.data, theirs.length, members, 5);
	rd_scratch_close(directory);
	rd_argv_release(&ar);
	rd_buf_release(&theirs);
	free(other);
}

static void test_archive_damaged(void **state)
{
	size_t some = 0;

	(void)state;
	for (int run = 0; run < 2000; run++) {
		struct rd_buf b = RD_BUF_INIT;
		struct bitcode_archive a;
		struct bitcode_member m;
		struct member members[3];
		uint8_t *copy;
		random_members(members, 3, 15);
		bitcode_archive_begin(&b);
		for (size_t i = 0; i < 3; i++)
			bitcode_archive_add(&b, members[i].name, members[i].data, members[i].length);
		size_t length = below(2) ? b.length : below((uint32_t)b.length);
		copy = malloc(length + 1);
		assert_non_null(copy);
		memcpy(copy, b.data, length);
		for (uint32_t k = below(4); k > 0 && length; k--)
			copy[below((uint32_t)length)] = (uint8_t)below(256);
		if (bitcode_archive_parse(&a, copy, length))
			while (bitcode_archive_next(&a, &m)) {
				assert_true(m.data == NULL || is_inside(copy, length, m.data, m.length));
				assert_true(strlen(m.name) < sizeof m.name);
				some++;
			}
		free(copy);
		rd_buf_release(&b);
	}
	assert_true(some > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line_round_trip),	   cmocka_unit_test(test_line_cut_off),
		cmocka_unit_test(test_line_damaged),	   cmocka_unit_test(test_line_incomplete),
		cmocka_unit_test(test_archive_round_trip), cmocka_unit_test(test_archive_of_others),
		cmocka_unit_test(test_archive_long_names), cmocka_unit_test(test_archive_damaged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
