// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of input from outside (trace/world.h).  What was written is read back, piece by piece.
 * Damage of any kind is noticed and ends reading. doc/format/world.md lists the rows of
 * raddle/world.inc.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "trace/world.h"
#include "trace/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static char directory[] = "/tmp/u-trace-world-XXXXXX";

static const struct {
	uint32_t thread;
	const char *bytes;
	size_t length;
} pieces[] = {
	/* The initial thread: the monotonic time is 100, then 7 more; o=5 receives "hi" from
	 * connection 1, o=6 receives its end. */
	{0, "\x01\x00\x02\x01\xc8\x01\x02\x01\x0e\x07\x0a\x01\x02hi\x07\x02\x01\x00", 19},
	/* The second child of the initial thread: the monotonic time is 1, since each piece counts
	 * from 0; the random bytes "abc"; three records were lost. */
	{3,
	 "\x01\x01\x01\x02\x01\x02\x03\x03"
	 "abc\x0c\x03",
	 13},
};

static char *write_file(void)
{
	struct trace_writer *w;
	struct rd_buf chunk = RD_BUF_INIT;

	assert_int_equal(trace_writer_open(&w, directory), 0);
	for (size_t i = 0; i < 2; i++) {
		trace_world_begin_piece(&chunk, pieces[i].thread, pieces[i].length);
		rd_buf_add(&chunk, pieces[i].bytes, pieces[i].length);
	}
	assert_int_equal(trace_writer_world(w, chunk.data, chunk.length), 0);
	assert_int_equal(trace_writer_world(w, chunk.data, chunk.length), 0);
	assert_int_equal(trace_writer_threads(w), 0);
	assert_int_equal(trace_writer_close(w), 0);
	rd_buf_release(&chunk);
	return rd_xasprintf("%s/world", directory);
}

static void expect(struct trace_world *w, uint32_t thread, enum raddle_world_record kind, uint64_t order,
		   uint64_t first, uint64_t second, const char *bytes)
{
	struct trace_world_record r;

	assert_int_equal(trace_world_next(w, &r), 1);
	assert_int_equal(r.thread, thread);
	assert_int_equal(r.kind, kind);
	assert_int_equal(r.order, order);
	assert_int_equal(r.operand[0], first);
	assert_int_equal(r.operand[1], second);
	assert_int_equal(r.length, strlen(bytes));
	assert_memory_equal(r.length ? r.bytes : (const uint8_t *)"", bytes, r.length);
}

static void it_is_read_as_it_was_written(void **state)
{
	struct trace_world w;
	struct trace_world_record r;
	char *path = write_file();

	(void)state;
	assert_int_equal(trace_world_open(&w, path), 0);
	for (int chunk = 0; chunk < 2; chunk++) {
		expect(&w, 0, RADDLE_WORLD_THREAD, 0, 0, 0, "");
		expect(&w, 0, RADDLE_WORLD_VALUE, 0, RADDLE_SOURCE_MONOTONIC, 100, "");
		expect(&w, 0, RADDLE_WORLD_VALUE, 0, RADDLE_SOURCE_MONOTONIC, 107, "");
		expect(&w, 0, RADDLE_WORLD_RECEIVE, 5, 1, 0, "hi");
		expect(&w, 0, RADDLE_WORLD_RECEIVE, 6, 1, 0, "");
		expect(&w, 3, RADDLE_WORLD_THREAD, 0, 0, 0, "\1");
		expect(&w, 3, RADDLE_WORLD_VALUE, 0, RADDLE_SOURCE_MONOTONIC, 1, "");
		expect(&w, 3, RADDLE_WORLD_RANDOM, 0, 0, 0, "abc");
		expect(&w, 3, RADDLE_WORLD_LOST, 0, 3, 0, "");
	}
	assert_int_equal(trace_world_next(&w, &r), 0);
	trace_world_close(&w);
	free(path);
}

/* Returns how many records can be read.  Stores the error that ended reading, or 0, in *err. */
static size_t count(const void *data, size_t length, int *err)
{
	struct trace_world_record r;
	struct trace_world w;
	size_t n = 0;

	*err = trace_world_open_bytes(&w, data, length, "bytes");
	if (*err)
		return 0;
	while ((*err = trace_world_next(&w, &r)) > 0)
		n++;
	assert_int_equal(trace_world_next(&w, &r), 0);
	trace_world_close(&w);
	return n;
}

static void damage_is_noticed(void **state)
{
	struct rd_buf file = RD_BUF_INIT;
	char *path = rd_xasprintf("%s/world", directory);
	int err;

	(void)state;
	rd_log_set(rd_log_discard, NULL);
	assert_int_equal(rd_file_read(path, &file), 0);
	assert_int_equal(count(file.data, file.length, &err), 18);
	assert_int_equal(err, 0);
	for (size_t i = 0; i < file.length; i++) {
		size_t n = count(file.data, i, &err);

		assert_true(n == 0 || n == 9); /* complete chunks only */
		if (i >= 12 && i < 16)
			continue; /* the number in the header has no meaning */
		file.data[i] ^= 0x10;
		n = count(file.data, file.length, &err);
		assert_true(err < 0 || (n < 18 && i > 16));
		file.data[i] ^= 0x10;
	}
	rd_log_set(NULL, NULL);
	rd_buf_release(&file);
	free(path);
}

/* The chunks are complete, but their bytes are not valid records. */
static void nonsense_is_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
	} bad[] = {{"\x00\x02\x7f\x00", 4},	/* no such record */
		   {"\x00\x03\x02\x7f\x00", 5}, /* no such source */
		   {"\x00\x02\x02\x00", 4},	/* an operand is missing */
		   {"\x00\x04\x03\x05"
		    "ab",
		    6},					/* bytes are missing */
		   {"\x00\x09\x01\x00", 4},		/* the piece is longer than the chunk */
		   {"\xff\xff\xff\xff\xff\x01\x00", 7}, /* no thread can have this number */
		   {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02\x00", 11}}; /* not a valid number */

	(void)state;
	rd_log_set(rd_log_discard, NULL);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char *name = rd_xasprintf("%s/bad-%zu", directory, i), *path = rd_xasprintf("%s/world", name);
		struct rd_buf file = RD_BUF_INIT;
		struct trace_writer *w;
		int err;

		assert_int_equal(trace_writer_open(&w, name), 0);
		assert_int_equal(trace_writer_world(w, bad[i].bytes, bad[i].length), 0);
		assert_int_equal(trace_writer_close(w), 0);
		assert_int_equal(rd_file_read(path, &file), 0);
		assert_int_equal(count(file.data, file.length, &err), 0);
		assert_int_equal(err, RD_EFORMAT);
		rd_buf_release(&file);
		free(path);
		free(name);
	}
	rd_log_set(NULL, NULL);
}

static void the_page_lists_the_same(void **state)
{
	const char *root = getenv("ROOT");
	char *path = rd_xasprintf("%s/doc/format/world.md", root ? root : ".");
	struct rd_buf page = RD_BUF_INIT;
	char line[300];
	unsigned source = 0;

	(void)state;
	assert_int_equal(rd_file_read(path, &page), 0);
#define RADDLE_WORLD(code, constant, name, operands, names, meaning)                                         \
	snprintf(line, sizeof line, "| 0x%02x | `%s` | %s | %s |\n", code, name, names, meaning);            \
	if (!strstr(page.data, line))                                                                        \
		fail_msg("world.md lacks: %s", line);
#define RADDLE_SOURCE(constant, name, unit, meaning)                                                         \
	snprintf(line, sizeof line, "| %u `%s` | %s | %s |\n", source++, name, unit, meaning);               \
	if (!strstr(page.data, line))                                                                        \
		fail_msg("world.md lacks: %s", line);
#include "raddle/world.inc"
	rd_buf_release(&page);
	free(path);
}

/* The checksum does not depend on how a stream of bytes is divided. */
static void the_sum_knows_no_pieces(void **state)
{
	(void)state;
	assert_int_equal(raddle_world_sum(raddle_world_sum(0, "ab", 2), "cd", 2),
			 raddle_world_sum(0, "abcd", 4));
	assert_int_not_equal(raddle_world_sum(0, "ab", 2), raddle_world_sum(0, "ba", 2));
	assert_int_not_equal(raddle_world_sum(0, "", 0), raddle_world_sum(0, "\0", 1));
}

static int begin(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	return rd_remove_tree(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_read_as_it_was_written), cmocka_unit_test(damage_is_noticed),
		cmocka_unit_test(nonsense_is_refused),		cmocka_unit_test(the_page_lists_the_same),
		cmocka_unit_test(the_sum_knows_no_pieces),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
