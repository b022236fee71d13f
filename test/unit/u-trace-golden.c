// SPDX-License-Identifier: Apache-2.0
/*
 * test/trace/v1-every has every kind of event of format version 1.  The same records are made here
 * and compared with what the reader finds in the file, so neither encoder nor decoder can drift
 * from the format on disk.  With RADDLE_GOLDEN=DIR in the environment the trace is written there
 * instead.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "trace/encode-int.h"
#include "trace/reader.h"
#include "trace/writer.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define THREADS 3
#define PROGRAM 0x555555554000
#define HEAP 0x555555580000
#define SITE(n) (3u << RADDLE_SITE_LOCAL_BITS | (n))

static const char table[] = "raddle-sites\t1\n"
			    "U\t3\t1\tevery.c\n"
			    "F\t0\t/src/every.c\n"
			    "F\t1\t/src/inline.h\n"
			    "S\t1\tr\t4\t-\t0\t10\t3\tread_it\tcount\tint\n"
			    "S\t2\tw\t8\tv\t0\t11\t3\tworker\ttable[].sum\tlong\n"
			    "S\t3\trr\t0\t-\t1\t5\t9\tcopy\t*from\tchar\t0\t12\tworker\n"
			    "S\t4\trw\t0\t-\t1\t5\t2\tcopy\t*to\tchar\t0\t12\tworker\n"
			    "S\t5\tal\t4\ta\t0\t13\t3\tworker\tflag\tint\n"
			    "S\t6\tas\t4\tr\t0\t14\t3\tworker\tflag\tint\n"
			    "S\t7\tax\t4\tS\t0\t15\t3\tworker\tflag\tint\n"
			    "S\t8\tac\t4\tq\t0\t16\t3\tworker\tflag\tint\n"
			    "S\t9\tf\t0\tS\t0\t17\t3\tworker\t-\t-\n"
			    "S\t10\tc\t0\t-\t0\t20\t3\tmain\tworker\t-\n"
			    "S\t11\tc\t0\t-\t0\t18\t3\tworker\t-\t-\n"
			    "G\tcount\tcount\t4\t0\t1\tint\n"
			    "G\tflag\tflag\t4\t0\t2\tint\n"
			    "G\ttable\ttable\t64\t0\t3\tstruct row[4]\n"
			    "G\tlock\tlock\t40\t0\t4\tpthread_mutex_t\n"
			    "T\tstruct row\t16\tsum\t0\t8\tlong\n"
			    "T\tstruct row\t16\tname\t8\t8\tchar *\n"
			    "A\t/bin/every\t16384\t4\tcount\n"
			    "A\t/bin/every\t16388\t4\tflag\n"
			    "A\t/bin/every\t16448\t64\ttable\n"
			    "A\t/bin/every\t16512\t40\tlock\n";
#define TABLE_RECORDS 24

/* Returns operand values with which each kind of event means something. */
static uint64_t operand(const char *name, uint32_t thread)
{
	static const struct {
		const char *name;
		uint64_t value;
	} values[] = {
		{"address", HEAP},	    {"size", 48},	    {"base", PROGRAM},
		{"bias", PROGRAM},	    {"thread", 1},	    {"count", 3},
		{"cond", HEAP + 8},	    {"barrier", HEAP + 16}, {"sem", PROGRAM + 16448},
		{"once", PROGRAM + 16464},  {"rwlock", HEAP},	    {"spin", PROGRAM + 16384},
		{"mutex", PROGRAM + 16512}, {"pid", 4711},	    {"channel", RADDLE_CHANNELS + 32},
	};
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		if (strcmp(values[i].name, name) == 0)
			return values[i].value;
	}
	if (strcmp(name, "stack") == 0)
		return 0x7f0000000000 + thread * 0x100000;
	if (strcmp(name, "stack_size") == 0)
		return 0x10000;
	if (strcmp(name, "tid") == 0)
		return 1000 + thread;
	if (strcmp(name, "index") == 0)
		return thread ? thread - 1 : 0;
	return 0;
}

static void put(struct trace_encoder *e, enum raddle_event kind, uint32_t thread, uint64_t *q)
{
	const struct trace_kind *row = trace_kind(kind);
	uint64_t values[RADDLE_MAX_OPERANDS];
	const char *text = kind == RADDLE_MODULE ? "/bin/every" : "some text";
	for (unsigned i = 0; row->operands[i]; i++) {
		char name[TRACE_OPERAND_NAME];
		trace_operand_name(row, i, name);
		values[i] = row->operands[i] == 'q'   ? (*q)++
			    : row->operands[i] == 't' ? 1000000000 + *q * 1500
			    : row->operands[i] == 'b' ? strlen(text)
						      : operand(name, thread);
	}
	if (kind == RADDLE_MODULE)
		values[1] = 0x8000;
	trace_encode_row(e, kind, values, text);
}

/* Adds every kind of event except those that begin and end a thread. */
static void put_all(struct trace_encoder *e, uint32_t thread, uint64_t *q)
{
	for (unsigned kind = RADDLE_THREAD_CREATE; kind < RADDLE_ACCESS; kind++) {
		uint32_t place = SITE(11);
		if (!trace_kind(kind)->name)
			continue;
		if (kind == RADDLE_MUTEX_LOCK)
			trace_encode_stack(e, 1, &place, 1);
		if (kind == RADDLE_ALLOC)
			trace_encode_stack(e, 1, NULL, 0);
		put(e, kind, thread, q);
	}
}

static void put_accesses(struct trace_encoder *e, uint32_t thread, uint64_t *q)
{
	trace_encode_access(e, SITE(1), PROGRAM + 16384);
	for (unsigned i = 0; i < 4; i++)
		trace_encode_access(e, SITE(2), PROGRAM + 16448 + 16 * i);
	trace_encode_row(e, RADDLE_RANGE, (uint64_t[]){SITE(3), PROGRAM + 16448, 64}, NULL);
	trace_encode_row(e, RADDLE_RANGE, (uint64_t[]){SITE(4), HEAP + 8, 40}, NULL);
	for (unsigned n = 5; n <= 8; n++) {
		uint64_t stored = n == 6 || n == 7 || (n == 8 && thread == 1);
		trace_encode_row(e, RADDLE_ATOMIC, (uint64_t[]){(*q)++, SITE(n), PROGRAM + 16388, stored},
				 NULL);
	}
	trace_encode_row(e, RADDLE_FENCE, (uint64_t[]){(*q)++, SITE(9)}, NULL);
	trace_encode_row(e, RADDLE_LEFT_OUT, (uint64_t[]){SITE(2), 3}, NULL);
}

/* Makes the whole trace, and passes each chunk to `use`. */
static void make(void (*use)(void *context, uint32_t thread, const struct trace_encoder *e), void *context)
{
	struct trace_encoder e = {0};
	uint64_t q = 0;
	uint32_t call = SITE(10);
	for (uint32_t thread = 0; thread < THREADS; thread++) {
		trace_encode_reset(&e);
		put(&e, RADDLE_THREAD_START, thread, &q);
		trace_encode_stack(&e, 0, &call, 1);
		put_all(&e, thread, &q);
		use(context, thread, &e);
		trace_encode_reset(&e);
		put_accesses(&e, thread, &q);
		if (thread > 0)
			put(&e, RADDLE_THREAD_END, thread, &q);
		use(context, thread, &e);
	}
	rd_buf_release(&e.out);
}

static void write_chunk(void *context, uint32_t thread, const struct trace_encoder *e)
{
	assert_int_equal(trace_writer_chunk(context, thread, e->out.data, e->out.length), RD_OK);
}

static void write_golden(const char *directory)
{
	struct trace_writer *w = NULL;
	char *argv[] = {(char[]){"/bin/every"}, (char[]){"all kinds"}};
	struct trace_meta meta = {.raddle = (char[]){"0.1.0"},
				  .program = argv[0],
				  .argv = argv,
				  .argc = 2,
				  .cwd = (char[]){"/"},
				  .pid = 1000,
				  .start = (char[]){"2026-11-15T21:07:43.000000000Z"},
				  .start_ns = 1000000000,
				  .end_ns = 1001000000,
				  .end = TRACE_EXITED,
				  .complete = true,
				  .threads = THREADS,
				  .flavour = (char[]){"record"},
				  .mode = (char[]){"fast"},
				  .key = (char[]){"0"}};
	char *path = rd_xasprintf("%s/sites", directory);
	char *text = rd_xasprintf("%send\t%d\t%016llx\n", table, TABLE_RECORDS,
				  (unsigned long long)XXH64(table, strlen(table), 0));
	assert_int_equal(trace_writer_open(&w, directory), RD_OK);
	make(write_chunk, w);
	meta.bytes = trace_writer_bytes(w);
	assert_int_equal(trace_writer_meta(w, &meta), RD_OK);
	assert_int_equal(trace_writer_close(w), RD_OK);
	assert_int_equal(rd_file_write(path, text, strlen(text)), RD_OK);
	free(path);
	free(text);
}

struct comparison {
	struct trace *trace;
	struct trace_stream stream;
	uint32_t thread;
	bool open;
	bool seen[RADDLE_ACCESS + 1];
};

static void compare_chunk(void *context, uint32_t thread, const struct trace_encoder *e)
{
	struct comparison *c = context;
	struct trace_decoder d = {0};
	struct trace_event a, b;
	if (c->open && c->thread != thread) {
		assert_int_equal(trace_stream_next(&c->stream, &a), 0);
		trace_stream_close(&c->stream);
		c->open = false;
	}
	if (!c->open)
		assert_int_equal(trace_open_thread(c->trace, thread, &c->stream), RD_OK);
	c->open = true;
	c->thread = thread;
	trace_decoder_start(&d, e->out.data, e->out.length);
	while (trace_decode(&d, &a) > 0) {
		assert_int_equal(trace_stream_next(&c->stream, &b), 1);
		assert_int_equal(a.kind, b.kind);
		assert_int_equal(a.site, b.site);
		assert_true(a.address == b.address && a.size == b.size);
		assert_int_equal(d.depth, c->stream.decoder.depth);
		c->seen[a.kind] = true;
		if (a.kind == RADDLE_ACCESS)
			continue;
		for (unsigned i = 0; trace_kind(a.kind)->operands[i]; i++)
			assert_true(a.values[i] == b.values[i]);
		assert_int_equal(a.length, b.length);
		assert_memory_equal(a.bytes, b.bytes, a.length);
	}
	trace_decoder_release(&d);
}

static void test_every_event(void **state)
{
	struct comparison c = {0};
	const char *root = getenv("ROOT");
	const char *golden = getenv("RADDLE_GOLDEN");
	(void)state;
	if (golden)
		write_golden(golden);
	char *path = golden ? rd_xstrdup(golden) : rd_xasprintf("%s/test/trace/v1-every", root ? root : ".");
	assert_int_equal(trace_open(&c.trace, path, false), RD_OK);
	assert_int_equal(trace_thread_count(c.trace), THREADS);
	make(compare_chunk, &c);
	trace_stream_close(&c.stream);
	for (unsigned kind = RADDLE_RANGE; kind <= RADDLE_ACCESS; kind++)
		assert_true(c.seen[kind] || !trace_kind(kind)->name);
	trace_close(c.trace);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_event)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
