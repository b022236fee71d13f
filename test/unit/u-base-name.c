// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of names.  Thread names: the reader accepts exactly what the writer writes.  Object
 * names: the stable part is the same in every run.  Fields: escaping and unescaping returns the
 * original text.
 */
#include "base/alloc.h"
#include "base/field.h"
#include "base/name.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static uint64_t seed = 88172645463325252ull;

static uint64_t rnd(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

/* Returns the name of a random thread, and its path of creation numbers. */
static char *random_thread(uint32_t *path, int *depth)
{
	char *name = rd_thread_name(NULL, 0);

	*depth = (int)rnd(8);
	for (int i = 0; i < *depth; i++) {
		char *creator = name;

		path[i] = (uint32_t)rnd(i % 2 ? 4 : 1000000000);
		name = rd_thread_name(creator, path[i]);
		free(creator);
	}
	return name;
}

static void threads_are_read_as_written(void **state)
{
	(void)state;
	for (int round = 0; round < 20000; round++) {
		uint32_t path[8], got[8], index;
		size_t creator;
		int depth;
		char *name = random_thread(path, &depth);
		size_t length = strlen(name);

		assert_int_equal(rd_thread_path(name, length, got, 8), depth);
		assert_memory_equal(path, got, (size_t)depth * sizeof *path);
		if (depth)
			assert_int_equal(rd_thread_path(name, length, got, depth - 1), -1);
		assert_int_equal(rd_thread_split(name, length, &creator, &index), depth > 0);
		if (depth) {
			assert_int_equal(index, path[depth - 1]);
			assert_int_equal(name[creator], '_');
			assert_int_equal(rd_thread_path(name, creator, got, 8), depth - 1);
		}
		free(name);
	}
}

static void other_names_are_refused(void **state)
{
	static const char *const bad[] = {
		"",	  "T",	  "T_",	 "T_1",	   "T_1_0", "T_0_", "T_0__1",	      "T_0_01", "T_0_x",
		"T_0_-1", "T_?7", "t_0", "T_0_1_", "T_00",  "T_0 ", "T_0_1234567890", "0_1",	"_1"};
	uint32_t path[8];

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(rd_thread_path(bad[i], strlen(bad[i]), path, 8), -1);
	/* Only the bytes within the given length are read. */
	assert_int_equal(rd_thread_path("T_0_1:x", 5, path, 8), 1);
}

static void roots_are_told(void **state)
{
	static const char *const bad[] = {"", "T", "T_", "T_01", "T_0_1", "T_?7", "TT_1", "U_1", "_1"};
	uint32_t index = 0;

	(void)state;
	assert_true(rd_thread_root("T_0", 3, &index) && index == 0);
	assert_true(rd_thread_root("T_17", 4, &index) && index == 17);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(rd_thread_root(bad[i], strlen(bad[i]), &index));
}

static void threads_have_an_order(void **state)
{
	(void)state;
	assert_true(rd_thread_compare("T_0", "T_0_2") < 0);
	assert_true(rd_thread_compare("T_0_2", "T_0_10") < 0);
	assert_true(rd_thread_compare("T_0_2_9", "T_0_10") < 0);
	assert_int_equal(rd_thread_compare("T_0_2", "T_0_2"), 0);
}

static void lost_threads_have_a_number(void **state)
{
	char *name = rd_thread_unknown(7);

	(void)state;
	assert_string_equal(name, "T_?7");
	free(name);
}

static void expect_maker(const struct rd_maker *m, const char *expected)
{
	struct rd_buf b = RD_BUF_INIT;

	rd_name_maker(&b, m);
	assert_string_equal(b.data, expected);
	rd_buf_release(&b);
}

static void makers_say_where(void **state)
{
	(void)state;
	expect_maker(
		&(struct rd_maker){
			.thread = "T_0_1", .file = "/src/queue.c", .line = 14, .site = 9, .number = 3},
		"T_0_1 (queue.c:14)#3");
	expect_maker(&(struct rd_maker){.thread = "T_0", .site = 9}, "T_0 (site 9)#0");
	expect_maker(&(struct rd_maker){.thread = "T_0", .number = 12}, "T_0#12");
}

static void expect_normal(const char *name, const char *expected)
{
	struct rd_buf b = RD_BUF_INIT;

	rd_name_normal(&b, name);
	assert_string_equal(b.data ? b.data : "", expected);
	rd_buf_release(&b);
}

/* The normal form of a name must stay as older releases wrote it, because the ids of findings
 * depend on it.  Names occur with and without a place. */
static void normal_names_stay(void **state)
{
	(void)state;
	expect_normal("heap T_0_1 (queue.c:14)#3+8", "heap T_#+8");
	expect_normal("heap T_0#4+8", "heap T_#+8");
	expect_normal("mmap T_0 (site 12)#3", "mmap T_#");
	expect_normal("table[3].lock", "table[].lock");
	expect_normal("f (x) + y", "f (x) + y");
	expect_normal("stack T_0-0x40", "stack T_-0x40");
	expect_normal("memory 0x7f12a0+0x8", "memory +0x8");
	expect_normal("", "");
}

static void expect_root(const char *name, const char *expected)
{
	struct rd_buf b = RD_BUF_INIT;

	rd_name_root(&b, name);
	assert_string_equal(b.data, expected);
	rd_buf_release(&b);
}

static void roots_are_variables(void **state)
{
	(void)state;
	expect_root("hits", "hits");
	expect_root("table[3].lock", "table");
	expect_root("state.count", "state");
	expect_root("heap T_0_1 (queue.c:14)#3+8", "heap T_#");
	expect_root("stack T_0_3-0x40", "stack T_");
	expect_root("memory 0x7f12a0+0x8", "memory ");
	expect_root("", "");
}

static void fields_come_back(void **state)
{
	static const char letters[] = "a-\t\n\\tn";

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char text[8] = "";
		struct rd_buf b = RD_BUF_INIT;

		for (uint64_t i = 0, n = rnd(sizeof text); i < n; i++)
			text[i] = letters[rnd(sizeof letters - 1)];
		rd_field_add(&b, text);
		assert_int_equal(b.data[0], '\t');
		assert_null(strpbrk(b.data + 1, "\t\n"));
		assert_true(b.length > 1);
		assert_true(rd_field_undo(b.data + 1));
		assert_string_equal(b.data + 1, text);
		rd_buf_release(&b);
	}
}

static void bad_escapes_are_refused(void **state)
{
	static const char *const bad[] = {"\\", "a\\", "\\x", "a\\0b", "\\\\\\"};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char *copy = rd_xstrdup(bad[i]);

		assert_false(rd_field_undo(copy));
		free(copy);
	}
}

static void absent_is_empty(void **state)
{
	struct rd_buf b = RD_BUF_INIT;

	(void)state;
	rd_field_add(&b, NULL);
	rd_field_add(&b, "");
	rd_field_add(&b, "-");
	assert_string_equal(b.data, "\t-\t-\t\\-");
	rd_buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_are_read_as_written),
		cmocka_unit_test(other_names_are_refused),
		cmocka_unit_test(roots_are_told),
		cmocka_unit_test(threads_have_an_order),
		cmocka_unit_test(lost_threads_have_a_number),
		cmocka_unit_test(makers_say_where),
		cmocka_unit_test(normal_names_stay),
		cmocka_unit_test(roots_are_variables),
		cmocka_unit_test(fields_come_back),
		cmocka_unit_test(bad_escapes_are_refused),
		cmocka_unit_test(absent_is_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
