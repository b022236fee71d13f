// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the collector's sink, which makes chunks of a trace from the buffers of several
 * threads.  However the buffers were cut, the trace must read back as the same events in the same
 * order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/file.h"
#include "record/sink.h"
#include "rt/core/buffer/encode.h"
#include "trace/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Buffer i is of thread i * i modulo 5, so only the threads 0, 1 and 4 are used. */
enum { THREADS = 5, THREADS_USED = 3, BUFFERS = 400, RECORDS = 700 };

static char *directory;

static int make_directory(void **state)
{
	char name[] = "/tmp/raddle-sink-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(name));
	directory = rd_xasprintf("%s/trace", name);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	*strrchr(directory, '/') = 0;
	rd_remove_tree(directory);
	free(directory);
	return 0;
}

/* Fills one buffer.  The addresses of a thread count up. */
static size_t fill(uint8_t *bytes, uint64_t *next)
{
	struct rt_encoder *e = calloc(1, sizeof *e);
	uint8_t *p = rt_put_reset(e, bytes);

	for (int i = 0; i < RECORDS; i++)
		p = rt_put_access(e, p, 0x10001, 8 * (*next)++);
	free(e);
	return (size_t)(p - bytes);
}

/* The addresses of every thread must be read back in order and without a gap. */
static void read_back(const uint64_t *counts)
{
	struct trace_event event;
	struct trace *trace;

	assert_int_equal(trace_open(&trace, directory, true), 0);
	assert_int_equal(trace_thread_count(trace), THREADS_USED);
	for (size_t i = 0; i < trace_thread_count(trace); i++) {
		uint64_t count = counts[trace_thread_number(trace, i)];
		struct trace_stream s;
		assert_int_equal(trace_open_thread(trace, i, &s), 0);
		for (uint64_t k = 0; k < count; k++) {
			assert_int_equal(trace_stream_next(&s, &event), 1);
			assert_int_equal(event.address, 8 * k);
		}
		assert_int_equal(trace_stream_next(&s, &event), 0);
		trace_stream_close(&s);
	}
	trace_close(trace);
}

/* A reader sees records that the thread has not handed over yet.  The next flush, or the end,
 * replaces them. */
static void show(struct record_sink *sink, uint32_t thread, const uint64_t *next)
{
	static uint8_t bytes[RECORDS * 16 + 1];
	uint64_t at = *next;
	size_t length = fill(bytes, &at);
	struct trace_stream s;
	struct trace_event event;
	struct trace *trace;

	assert_int_equal(record_sink_flush(sink), 0);
	assert_int_equal(record_sink_preview(sink, thread, bytes, length), 0);
	assert_int_equal(trace_open(&trace, directory, true), 0);
	for (size_t i = 0; i < trace_thread_count(trace); i++) {
		uint64_t count = 0;
		if (trace_thread_number(trace, i) != thread)
			continue;
		assert_int_equal(trace_open_thread(trace, i, &s), 0);
		for (; trace_stream_next(&s, &event) == 1; count++)
			assert_int_equal(event.address, 8 * count);
		assert_int_equal(count, at);
		trace_stream_close(&s);
	}
	trace_close(trace);
}

static void gathers(void **state)
{
	static uint8_t bytes[RECORDS * 16 + 1];
	uint64_t next[THREADS] = {0};
	struct trace_meta meta = {.program = (char *)"test", .pid = 7}, last;
	struct record_sink *sink = NULL;

	(void)state;
	assert_int_equal(record_sink_open(&sink, directory, &meta, NULL), 0);
	for (int i = 0; i < BUFFERS; i++) {
		uint32_t thread = (uint32_t)(i * i % THREADS);
		size_t length = fill(bytes, &next[thread]);
		assert_int_equal(record_sink_add(sink, thread, bytes, length, RECORDS), 0);
		if (i % 97 == 0)
			show(sink, thread, &next[thread]);
	}
	record_sink_status(sink, TRACE_EXITED, 3, false);
	assert_int_equal(record_sink_close(sink, NULL, &last), 0);
	assert_int_equal(last.events, (uint64_t)BUFFERS * RECORDS);
	assert_true(last.complete);
	assert_int_equal(last.code, 3);
	assert_true(last.bytes > 0);
	read_back(next);
}

/* Many threads are written in several rounds, each thread once, also threads that arrive between
 * two rounds. */
static void takes_turns(void **state)
{
	enum { MANY = 1000, LATE = 50 };
	static uint8_t bytes[RECORDS * 16 + 1];
	struct trace_meta meta = {.program = (char *)"test", .pid = 7}, last;
	struct record_sink *sink = NULL;
	unsigned turns = 0;
	bool more = true;

	(void)state;
	assert_int_equal(record_sink_open(&sink, directory, &meta, NULL), 0);
	for (uint32_t i = 0; i < MANY; i++) {
		uint64_t next = 0;
		assert_int_equal(record_sink_add(sink, i, bytes, fill(bytes, &next), RECORDS), 0);
	}
	for (; more; turns++) {
		uint64_t next = 0;
		if (turns < LATE)
			record_sink_add(sink, MANY + turns, bytes, fill(bytes, &next), RECORDS);
		assert_int_equal(record_sink_flush_some(sink, &more), 0);
	}
	assert_in_range(turns, 2, MANY / 2);
	assert_int_equal(record_sink_pending(sink), 0);
	assert_int_equal(record_sink_close(sink, NULL, &last), 0);
	assert_int_equal(last.threads, MANY + (turns < LATE ? turns : LATE));
	assert_int_equal(last.events, last.threads * RECORDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(gathers, make_directory, remove_directory),
		cmocka_unit_test_setup_teardown(takes_turns, make_directory, remove_directory)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
