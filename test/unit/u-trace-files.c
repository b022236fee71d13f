// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of meta.json and the site table.  What is written is read back, and errors are
 * reported precisely.  Also tests which chunks the writer compresses, and the writer on a full
 * disk.
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
#include "trace/format-int.h"
#include "trace/reader.h"
#include "trace/writer.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static char directory[32];
static char message[512];

static void keep_message(void *context, enum rd_level level, const char *text)
{
	(void)context;
	(void)level;
	snprintf(message, sizeof message, "%s", text);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/u-files-XXXXXX");
	message[0] = '\0';
	rd_log_set(keep_message, NULL);
	return mkdtemp(directory) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	rd_log_set(NULL, NULL);
	return rd_remove_tree(directory);
}

static void test_meta_comes_back(void **state)
{
	char *argv[] = {(char[]){"prog"}, (char[]){"\xff\"\n"}, (char[]){""}};
	struct trace_meta out = {.program = argv[0],
				 .argv = argv,
				 .argc = 3,
				 .pid = 42,
				 .forked = true,
				 .parent_pid = 41,
				 .fork_index = 3,
				 .start_ns = 5,
				 .end_ns = UINT64_MAX >> 1,
				 .end = TRACE_SIGNALLED,
				 .code = 11,
				 .core = true,
				 .stood = true,
				 .complete = true,
				 .stopped = (char[]){"disk full"},
				 .events = 7,
				 .mode = (char[]){"fast"}};
	struct trace_meta in;
	char *path = rd_xasprintf("%s/meta.json", directory);
	(void)state;
	assert_int_equal(trace_meta_write(&out, path), RD_OK);
	assert_int_equal(trace_meta_read(&in, path), RD_OK);
	assert_string_equal(in.program, "prog");
	assert_int_equal(in.argc, 3);
	assert_string_equal(in.argv[1], "\xef\xbf\xbd\"\n"); /* the original was not valid UTF-8 */
	assert_string_equal(in.argv[2], "");
	assert_null(in.cwd);
	assert_true(in.forked && in.parent_pid == 41 && in.fork_index == 3);
	assert_true(in.end_ns == UINT64_MAX >> 1);
	assert_true(in.end == TRACE_SIGNALLED && in.code == 11 && in.core && in.stood && in.complete);
	assert_string_equal(in.stopped, "disk full");
	assert_string_equal(in.mode, "fast");
	assert_string_equal(in.raddle, RADDLE_VERSION);
	trace_meta_release(&in);
	free(path);
}

static void test_bad_meta_is_named(void **state)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{"", "m:"},
		{"{", "m:"},
		{"[]", "\"format\""},
		{"{\"format\":\"other\",\"version\":1}", "\"format\""},
		{"{\"format\":\"raddle-trace\",\"version\":9}", "version 9"},
		{"{\"format\":\"raddle-trace\",\"version\":1,\"pid\":\"x\"}", "\"pid\""},
		{"{\"format\":\"raddle-trace\",\"version\":1,\"argv\":[1]}", "\"argv\" has element 0"},
		{"{\"format\":\"raddle-trace\",\"version\":1,\"status\":3}", "\"status\""},
		{"{\"format\":\"raddle-trace\",\"version\":1,\"complete\":1}", "\"complete\""},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct trace_meta m;
		assert_true(trace_meta_parse(&m, cases[i].text, strlen(cases[i].text), "m") < 0);
		assert_non_null(strstr(message, cases[i].expected));
	}
}

static void test_time_format(void **state)
{
	char out[TRACE_TIME_SIZE];
	(void)state;
	trace_meta_time(out, 1700000000000000042);
	assert_string_equal(out, "2023-11-14T22:13:20.000000042Z");
}

/* Makes a table with this body, and with a correct first and last line. */
static char *make_table(const char *body)
{
	size_t lines = 0;
	for (const char *p = body; *p; p++)
		lines += *p == '\n';
	char *text = rd_xasprintf("raddle-sites\t1\n%s", body);
	char *whole = rd_xasprintf("%send\t%zu\t%016llx\n", text, lines,
				   (unsigned long long)XXH64(text, strlen(text), 0));
	free(text);
	return whole;
}

#define UNIT "U\t2\t1\ta.c\nF\t0\t/src/a.c\n"

static void test_table_is_understood(void **state)
{
	char *text =
		make_table(UNIT "S\t1\tr\t4\tvls\t0\t7\t9\tf\ta\\tb\\\\c\tint\t0\t20\tmain\t-1\t3\touter\n"
				"S\t5\tax\t8\tS\t-1\t0\t0\t-\t\\-\t-\n"
				"G\tn\t_n\t8\t0\t3\tlong\n"
				"T\tstruct s\t8\ta\t0\t4\tint\nT\tstruct s\t8\tb\t4\t4\tint\n"
				"U\t9\t2\tb.c\nF\t0\t/src/b.c\n"
				"S\t65537\tc\t0\t-\t0\t1\t1\tg\tf\t-\n"
				"T\tstruct s\t99\tz\t0\t4\tint\n"
				"A\tprog\t64\t8\t_n\n");
	char compressed[4096];
	size_t length = ZSTD_compress(compressed, sizeof compressed, text, strlen(text), 3);
	(void)state;
	for (int round = 0; round < 2; round++) {
		struct trace_sites *s = NULL;
		size_t first;
		assert_int_equal(
			trace_sites_parse(&s, round ? compressed : text, round ? length : strlen(text), "x"),
			RD_OK);
		const struct trace_site *site = trace_sites_find(s, 2 << 16 | 1);
		assert_non_null(site);
		assert_true(site->kind == TRACE_SITE_READ && site->size == 4 && site->line == 7);
		assert_int_equal(site->flags, TRACE_SITE_VOLATILE | TRACE_SITE_WAIT_LOOP | TRACE_SITE_STACK);
		assert_string_equal(site->what, "a\tb\\c");
		assert_int_equal(site->chain_length, 2);
		assert_string_equal(s->chains[site->chain].function, "main");
		assert_string_equal(trace_sites_file(s, s->chains[site->chain + 1].file), "");
		site = trace_sites_find(s, 2 << 16 | 5);
		assert_true(site && site->order == 'S' && site->file == TRACE_NO_FILE);
		assert_string_equal(site->what, "-");
		assert_string_equal(site->type, "");
		assert_null(trace_sites_find(s, 2 << 16 | 2));
		assert_null(trace_sites_find(s, 3 << 16 | 1));
		site = trace_sites_find(s, 10 << 16 | 1); /* b.c is also in a second slot */
		assert_true(site && site->kind == TRACE_SITE_CALL);
		assert_string_equal(trace_sites_file(s, site->file), "/src/b.c");
		/* that of the first definition */
		assert_int_equal(trace_sites_members(s, "struct s", &first), 2);
		assert_string_equal(s->members[first + 1].name, "b");
		assert_string_equal(trace_sites_global(s, "_n")->name, "n");
		assert_null(trace_sites_global(s, "n"));
		trace_sites_free(s);
	}
	free(text);
}

static void test_bad_tables_are_named(void **state)
{
	static const struct {
		const char *body, *expected;
	} cases[] = {
		{"X\t1\n", "line 2: unknown record"},
		{"S\t1\tr\t4\t-\t-1\t1\t1\tf\t-\t-\n", "line 2: no U record"},
		{"U\t1\t1\n", "line 2: wrong number of fields"},
		{"U\t40000\t1\ta\n", "line 2: a number is too large"},
		{"U\t1\t1\ta\nU\t1\t1\tb\n", "line 3: two units own slot"},
		{UNIT "F\t2\tx\n", "line 4: file numbers"},
		{UNIT "S\t1\tzz\t4\t-\t0\t1\t1\tf\t-\t-\n", "line 4: unknown kind"},
		{UNIT "S\t1\tr\t4\t?\t0\t1\t1\tf\t-\t-\n", "line 4: unknown flag"},
		{UNIT "S\t1\tr\t4\t-\t1\t1\t1\tf\t-\t-\n", "line 4: the unit has no file"},
		{UNIT "S\t0\tr\t4\t-\t0\t1\t1\tf\t-\t-\n", "line 4: the unit's slots have no site"},
		{UNIT "S\t65536\tr\t4\t-\t0\t1\t1\tf\t-\t-\n", "line 4: the unit's slots have no site"},
		{UNIT "S\t2\tr\t4\t-\t0\t1\t1\tf\t-\t-\nS\t2\tr\t4\t-\t0\t1\t1\tf\t-\t-\n",
		 "line 5: site numbers"},
		{UNIT "S\t1\tr\t4\t-\t0\t1\t1\tf\t-\t-\t0\t1\n", "line 4: the chain"},
		{UNIT "S\t1\tr\t\t-\t0\t1\t1\tf\t-\t-\n", "line 4: a number is missing"},
		{"U\t1\t1\ta\\x\n", "line 2: bad escape"},
	};
	struct trace_sites *s = NULL;
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = make_table(cases[i].body);
		assert_int_equal(trace_sites_parse(&s, text, strlen(text), "x"), RD_EFORMAT);
		if (!strstr(message, cases[i].expected))
			fail_msg("%s: %s", cases[i].expected, message);
		free(text);
	}
	char *text = make_table(UNIT);
	for (size_t length = 0; length < strlen(text); length++)
		assert_int_equal(trace_sites_parse(&s, text, length, "x"), RD_EFORMAT);
	free(text);
}

static void add_chunk(struct trace_encoder *e)
{
	trace_encode_reset(e);
	for (uint64_t i = 0; i < 5000; i++)
		trace_encode_access(e, 1, i * i * 7919 * 104729); /* does not compress well */
}

/* RLIMIT_FSIZE makes a write stop in the middle, as on a full disk. */
static void test_full_disk_leaves_whole_chunks(void **state)
{
	struct rlimit old, small;
	struct trace_writer *w = NULL;
	struct trace_encoder e = {0};
	struct trace *t = NULL;
	struct trace_stream s;
	struct trace_event event;
	uint64_t written = 0, count = 0;
	char *path = rd_xasprintf("%s/t", directory);
	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(trace_writer_open(&w, path), RD_OK);
	add_chunk(&e);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = e.out.length * 5 / 2;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	while (trace_writer_chunk(w, 0, e.out.data, e.out.length) == RD_OK)
		written++;
	int error = errno;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(error, EFBIG);
	assert_non_null(strstr(message, "thread-0"));
	assert_true(written >= 2);
	assert_int_equal(trace_writer_close(w), RD_OK);
	assert_int_equal(trace_open(&t, path, true), RD_OK);
	assert_int_equal(trace_open_thread(t, 0, &s), RD_OK);
	while (trace_stream_next(&s, &event) > 0)
		count++;
	assert_int_equal(s.damage, TRACE_SOUND);
	assert_int_equal(count, written * 5000);
	trace_stream_close(&s);
	trace_close(t);
	rd_buf_release(&e.out);
	free(path);
}

/* Returns the codec of a chunk of 8 KiB whose first `random` bytes are random. */
static uint32_t codec_of(struct trace_writer *w, size_t random)
{
	static uint8_t records[8 << 10];
	static uint64_t seed = 1;
	struct rd_buf b = RD_BUF_INIT;
	char *path = rd_xasprintf("%s/t/thread-0", directory);
	uint64_t before = trace_writer_bytes(w);
	uint32_t codec;
	for (size_t i = 0; i < sizeof records; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		records[i] = i < random ? (uint8_t)(seed >> 56) : 0;
	}
	assert_int_equal(trace_writer_chunk(w, 0, records, sizeof records), RD_OK);
	assert_int_equal(rd_file_read(path, &b), RD_OK);
	before = before ? before : TRACE_STREAM_HEADER;
	memcpy(&codec, b.data + before + 16, sizeof codec);
	if (codec == TRACE_CODEC_RAW)
		assert_memory_equal(b.data + before + TRACE_CHUNK_HEADER, records, sizeof records);
	assert_true(b.length - before <= TRACE_CHUNK_HEADER + sizeof records);
	rd_buf_release(&b);
	free(path);
	return codec;
}

/* Chunks that hardly compress are compressed in only two of sixteen attempts.  Chunks that do
 * compress are always compressed. */
static void test_packing_that_gains_nothing_is_rare(void **state)
{
	struct trace_writer *w = NULL;
	char *path = rd_xasprintf("%s/t", directory);
	unsigned packed = 0;
	(void)state;
	assert_int_equal(trace_writer_open(&w, path), RD_OK);
	for (int i = 0; i < 40; i++)
		assert_int_equal(codec_of(w, 0), TRACE_CODEC_ZSTD);
	for (int i = 0; i < 160; i++) /* only a sixteenth of each chunk compresses */
		packed += codec_of(w, 15 << 9) == TRACE_CODEC_ZSTD;
	assert_true(packed <= 20);
	for (int i = 0; i < 16; i++) /* until the writer tries again */
		codec_of(w, 0);
	for (int i = 0; i < 40; i++)
		assert_int_equal(codec_of(w, 0), TRACE_CODEC_ZSTD);
	assert_int_equal(trace_writer_close(w), RD_OK);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_packing_that_gains_nothing_is_rare, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_meta_comes_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bad_meta_is_named, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_time_format, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_table_is_understood, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bad_tables_are_named, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_full_disk_leaves_whole_chunks, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
