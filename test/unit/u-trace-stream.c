// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of streams.  Random records pass through encoder, writer and reader, and are compared
 * with a slow, obvious decoder.  Then a small stream is damaged in every way; each damage must be
 * reported, and none may crash the reader.
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

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t seed = 1;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Returns random numbers of all lengths. */
static uint64_t rnd_number(void)
{
	return rnd() >> (rnd() % 64);
}

/* The twin reads one byte at a time.  It has no fast path and no tables except event.inc. */
struct twin {
	const uint8_t *p, *end;
	int64_t site;
	uint64_t q, t, a, slots[RADDLE_SITE_SLOTS];
	uint32_t stack[4096];
	size_t depth;
};

static uint64_t twin_number(struct twin *w)
{
	uint64_t value = 0, factor = 1;
	for (;;) {
		uint8_t byte = *w->p++;
		value += (byte & 127) * factor;
		factor *= 128;
		if (byte < 128)
			return value;
	}
}

static uint64_t twin_signed(struct twin *w)
{
	uint64_t v = twin_number(w);
	return v % 2 ? -(v / 2) - 1 : v / 2;
}

#define RADDLE_EVENT(code, constant, name, class, role, manner, counts, operands, ...)                       \
	case code: return operands;

static const char *twin_operands(unsigned code)
{
	switch (code) {
#include "raddle/event.inc"
	case RADDLE_RANGE: return "sxu";
	case RADDLE_ATOMIC: return "qsxu";
	case RADDLE_FENCE: return "qs";
	case RADDLE_LEFT_OUT: return "su";
	}
	fail();
	return "";
}

static uint64_t twin_slot(struct twin *w)
{
	w->slots[w->site % RADDLE_SITE_SLOTS] += twin_signed(w);
	return w->slots[w->site % RADDLE_SITE_SLOTS];
}

static void twin_stack(struct twin *w)
{
	w->depth = twin_number(w);
	uint64_t count = twin_number(w), site = 0;
	while (count-- > 0)
		w->stack[w->depth++] = (uint32_t)(site += twin_signed(w));
}

static void twin_row(struct twin *w, struct trace_event *e)
{
	const char *operands = twin_operands(e->kind);
	for (int i = 0; operands[i]; i++) {
		switch (operands[i]) {
		case 'q': e->values[i] = e->q = w->q += twin_signed(w); break;
		case 't': e->values[i] = e->t = w->t += twin_signed(w); break;
		case 'a': e->values[i] = w->a += twin_signed(w); break;
		case 's':
			w->site += (int64_t)twin_signed(w);
			e->values[i] = e->site = (uint32_t)w->site;
			break;
		case 'x': e->values[i] = e->address = twin_slot(w); break;
		case 'b':
			e->values[i] = e->length = twin_number(w);
			e->bytes = (const char *)w->p;
			w->p += e->length;
			break;
		default: e->values[i] = twin_number(w);
		}
	}
}

static bool twin_next(struct twin *w, struct trace_event *e)
{
	while (w->p < w->end) {
		uint8_t code = *w->p++;
		memset(e, 0, sizeof *e);
		if (code == RADDLE_RESET) {
			w->site = 0;
			w->q = w->t = w->a = w->depth = 0;
			memset(w->slots, 0, sizeof w->slots);
		} else if (code == RADDLE_STACK) {
			twin_stack(w);
		} else if (code >= RADDLE_ACCESS_FLAG) {
			uint64_t z = code - RADDLE_ACCESS_FLAG;
			if (z == RADDLE_ACCESS_ESCAPE)
				z = twin_number(w);
			w->site += z % 2 ? -(int64_t)(z / 2) - 1 : (int64_t)(z / 2);
			e->kind = RADDLE_ACCESS;
			e->site = (uint32_t)w->site;
			e->address = twin_slot(w);
			return true;
		} else {
			e->kind = code;
			twin_row(w, e);
			return true;
		}
	}
	return false;
}

static void encode_random_row(struct trace_encoder *e, enum raddle_event kind)
{
	static const char text[] = "some \t bytes\0 with all sorts";
	uint64_t values[RADDLE_MAX_OPERANDS] = {0};
	const char *letters = trace_kind(kind)->operands;
	for (unsigned i = 0; letters[i]; i++) {
		values[i] = letters[i] == 's'	? rnd() % 3 ? rnd() % 4096 : rnd_number() & RADDLE_SITE_MAX
			    : letters[i] == 'b' ? rnd() % sizeof text
						: rnd_number();
	}
	trace_encode_row(e, kind, values, text);
}

static void encode_random(struct trace_encoder *e, size_t *depth)
{
	unsigned kind = (unsigned)(rnd() % 160);
	uint32_t sites[16];
	if (kind == RADDLE_STACK) {
		size_t keep = rnd() % (*depth + 1), count = rnd() % 16;
		keep = keep > 64 ? 64 : keep;
		for (size_t i = 0; i < count; i++)
			sites[i] = (uint32_t)rnd_number() & RADDLE_SITE_MAX;
		trace_encode_stack(e, keep, sites, count);
		*depth = keep + count;
	} else if (kind < RADDLE_ACCESS && kind > RADDLE_STACK && trace_kind(kind)->name) {
		encode_random_row(e, kind);
	} else {
		uint32_t site = rnd() % 8 ? e->site + (uint32_t)(rnd() % 60) - 30 : (uint32_t)rnd_number();
		trace_encode_access(e, site & RADDLE_SITE_MAX,
				    rnd() % 4 ? rnd_number() : 0x7f0000001000 + rnd() % 64);
	}
}

static void assert_same(const struct trace_event *a, const struct trace_event *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->site, b->site);
	if (a->kind == RADDLE_ACCESS || a->kind == RADDLE_RANGE || a->kind == RADDLE_ATOMIC)
		assert_true(a->address == b->address);
	if (a->kind == RADDLE_ACCESS)
		return;
	if (a->kind == RADDLE_RANGE)
		assert_true(a->size == b->values[2]);
	assert_true(a->q == b->q && a->t == b->t);
	for (unsigned i = 0; trace_kind(a->kind)->operands[i]; i++)
		assert_true(a->values[i] == b->values[i]);
	assert_int_equal(a->length, b->length);
	assert_memory_equal(a->bytes, b->length ? b->bytes : "", b->length);
}

static void test_decoder_equals_twin(void **state)
{
	(void)state;
	for (int round = 0; round < 300; round++) {
		struct trace_encoder e = {0};
		struct trace_decoder d = {0};
		struct trace_event event, expected;
		struct twin w = {0};
		size_t depth = 0, count = rnd() % 400;
		trace_encode_reset(&e);
		while (count-- > 0)
			encode_random(&e, &depth);
		w.p = (const uint8_t *)e.out.data;
		w.end = w.p + e.out.length;
		trace_decoder_start(&d, e.out.data, e.out.length);
		while (twin_next(&w, &expected)) {
			assert_int_equal(trace_decode(&d, &event), 1);
			assert_same(&event, &expected);
			assert_int_equal(d.depth, w.depth);
			if (w.depth > 0)
				assert_memory_equal(d.stack, w.stack, w.depth * sizeof *w.stack);
		}
		assert_int_equal(trace_decode(&d, &event), 0);
		trace_decoder_release(&d);
		rd_buf_release(&e.out);
	}
}

/* Each test has its own directory. */
static char directory[] = "/tmp/u-trace-XXXXXX";

static int make_directory(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/u-trace-XXXXXX");
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	(void)state;
	return rd_remove_tree(directory);
}

/* Writes two chunks of thread 3, with `accesses` accesses each. */
static void write_stream(struct rd_buf *bytes, unsigned accesses)
{
	struct trace_writer *w = NULL;
	struct trace_encoder e = {0};
	char *path = rd_xasprintf("%s/t", directory);
	assert_int_equal(trace_writer_open(&w, path), RD_OK);
	for (unsigned chunk = 0; chunk < 2; chunk++) {
		trace_encode_reset(&e);
		trace_encode_row(&e, RADDLE_ORDER, (uint64_t[]){chunk + 1}, NULL);
		for (unsigned i = 0; i < accesses; i++)
			trace_encode_access(&e, 65537 + i % 3, 4096 + i * 8);
		assert_int_equal(trace_writer_chunk(w, 3, e.out.data, e.out.length), RD_OK);
	}
	assert_int_equal(trace_writer_close(w), RD_OK);
	char *stream = rd_xasprintf("%s/thread-3", path);
	assert_int_equal(rd_file_read(stream, bytes), RD_OK);
	rd_buf_release(&e.out);
	free(stream);
	free(path);
}

/* The last message, and how many there were. */
static char message[512];
static unsigned messages;

static void keep_message(void *context, enum rd_level level, const char *text)
{
	(void)context;
	(void)level;
	messages++;
	snprintf(message, sizeof message, "%s", text);
}

/* Reads a stream from memory to its end.  Returns the number of events, or the error. */
static int read_all(const void *data, size_t length, enum trace_damage *damage)
{
	struct trace_inflater *inflater = trace_inflater_new();
	struct trace_stream s;
	struct trace_event e;
	int count = 0, got;
	void *copy = rd_xmalloc(length + 1);
	memcpy(copy, data, length);
	*damage = TRACE_BROKEN;
	messages = 0;
	got = trace_stream_open(&s, inflater, copy, length, "thread-3", false);
	if (got == RD_OK) {
		for (got = trace_stream_next(&s, &e); got > 0; got = trace_stream_next(&s, &e))
			count++;
		*damage = s.damage;
		assert_int_equal(trace_stream_next(&s, &e), 0);
		trace_stream_close(&s);
	}
	trace_inflater_free(inflater);
	free(copy);
	return got < 0 ? got : count;
}

static void test_truncation_everywhere(void **state)
{
	struct rd_buf bytes = RD_BUF_INIT;
	enum trace_damage damage;
	(void)state;
	write_stream(&bytes, 20);
	rd_log_set(keep_message, NULL);
	assert_int_equal(read_all(bytes.data, bytes.length, &damage), 42);
	assert_int_equal(damage, TRACE_SOUND);
	size_t whole = 0;
	for (size_t length = 0; length < bytes.length; length++) {
		int got = read_all(bytes.data, length, &damage);
		if (length < 16) {
			assert_true(got < 0);
		} else if (messages == 0) {
			assert_true(got == 0 || got == 21);
			whole++;
		} else {
			assert_true(got == 0 || got == 21);
			assert_int_equal(damage, TRACE_TRUNCATED);
			assert_non_null(strstr(message, "chunk"));
		}
		if (length < 16 || messages)
			assert_non_null(strstr(message, "thread-3"));
	}
	assert_int_equal(whole, 2); /* the header alone, and the header with one chunk */
	rd_log_set(NULL, NULL);
	rd_buf_release(&bytes);
}

static void test_every_bit_flip_is_noticed(void **state)
{
	struct rd_buf bytes = RD_BUF_INIT;
	enum trace_damage damage;
	(void)state;
	write_stream(&bytes, 20);
	rd_log_set(keep_message, NULL);
	for (size_t bit = 0; bit < bytes.length * 8; bit++) {
		if (bit / 8 >= 12 && bit / 8 < 16)
			/* the thread number, which the reader of the directory compares */
			continue;
		bytes.data[bit / 8] ^= (char)(1 << bit % 8);
		int got = read_all(bytes.data, bytes.length, &damage);
		/* A larger stored length looks like a file that ends too early. */
		assert_true(got < 0 || (damage == TRACE_TRUNCATED && got <= 21));
		assert_int_equal(messages, 1);
		assert_non_null(strstr(message, "thread-3"));
		bytes.data[bit / 8] ^= (char)(1 << bit % 8);
	}
	rd_log_set(NULL, NULL);
	rd_buf_release(&bytes);
}

static void test_bad_records_are_named(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		const char *expected;
	} cases[] = {
		{"\x01\x09", 2, "unknown event code"},
		{"\x01\x7f", 2, "unknown event code"},
		{"\x01\x80", 2, "ends too early"},
		{"\x01\xff", 2, "ends too early"},
		{"\x01\x81\x02", 3, "site number is out of range"},
		{"\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x00", 13, "longer than 64 bits"},
		{"\x01\x02\x01\x00", 4, "keeps more entries"},
		{"\x01\x02\x00\x05\x02", 5, "more entries than bytes"},
		{"\x01\x75\x05"
		 "ab",
		 5, "longer than the chunk"},
		{"\x01\x76", 2, "ends too early"},
		{"\x01\x07\x02\x02\x02\x00\x01", 7, "ranges without a length"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct trace_decoder d = {0};
		struct trace_event e;
		trace_decoder_start(&d, cases[i].bytes, cases[i].length);
		assert_int_equal(trace_decode(&d, &e), -1);
		assert_non_null(strstr(d.error, cases[i].expected));
		assert_ptr_equal(d.p, cases[i].bytes + 1);
		trace_decoder_release(&d);
	}
}

static void test_random_bytes_never_crash(void **state)
{
	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct trace_decoder d = {0};
		struct trace_event e;
		size_t length = rnd() % 64;
		uint8_t *bytes = rd_xmalloc(length + 1); /* of exactly this length, for ASan */
		for (size_t i = 0; i < length; i++)
			bytes[i] = (uint8_t)(rnd() % 4 ? rnd() : rnd() % 0x12);
		trace_decoder_start(&d, bytes, length);
		while (trace_decode(&d, &e) > 0)
			;
		trace_decoder_release(&d);
		free(bytes);
	}
}

static void test_many_threads_few_descriptors(void **state)
{
	struct trace_writer *w = NULL;
	struct trace_encoder e = {0};
	struct trace *t = NULL;
	struct trace_merge m;
	char *path = rd_xasprintf("%s/many", directory);
	uint64_t q = 1, last = 0, count = 0;
	(void)state;
	assert_int_equal(trace_writer_open(&w, path), RD_OK);
	for (int round = 0; round < 3; round++) {
		for (uint32_t thread = 0; thread < 300; thread++) {
			trace_encode_reset(&e);
			trace_encode_row(&e, RADDLE_ORDER, (uint64_t[]){q++}, NULL);
			trace_encode_access(&e, 1, thread);
			assert_int_equal(trace_writer_chunk(w, thread, e.out.data, e.out.length), RD_OK);
		}
	}
	assert_int_equal(trace_writer_threads(w), 300);
	assert_int_equal(trace_writer_close(w), RD_OK);
	assert_int_equal(trace_open(&t, path, true), RD_OK);
	assert_int_equal(trace_thread_count(t), 300);
	assert_int_equal(trace_merge_open(&m, t), RD_OK);
	for (struct trace_lane *lane = trace_merge_next(&m); lane; lane = trace_merge_next(&m), count++) {
		if (lane->event.kind == RADDLE_ORDER)
			assert_true(lane->event.q == ++last);
		else
			assert_true(lane->event.address == (last - 1) % 300);
	}
	assert_int_equal(count, 1800);
	assert_int_equal(m.err, 0);
	trace_merge_close(&m);
	trace_close(t);
	rd_buf_release(&e.out);
	free(path);
}

/* Returns how many accesses are read of a trace with `chunks` chunks of one access each. */
static uint64_t read_until(unsigned chunks, int64_t deadline_ns, bool *late)
{
	struct trace_writer *w = NULL;
	struct trace_encoder e = {0};
	struct trace_stream in;
	struct trace_event event;
	struct trace *t = NULL;
	char *path = rd_xasprintf("%s/late-%u-%d", directory, chunks, deadline_ns != 0);
	uint64_t count = 0;
	assert_int_equal(trace_writer_open(&w, path), RD_OK);
	for (unsigned i = 0; i < chunks; i++) {
		trace_encode_reset(&e);
		trace_encode_access(&e, 1, i);
		assert_int_equal(trace_writer_chunk(w, 0, e.out.data, e.out.length), RD_OK);
	}
	assert_int_equal(trace_writer_close(w), RD_OK);
	assert_int_equal(trace_open(&t, path, true), RD_OK);
	trace_set_deadline(t, deadline_ns);
	assert_int_equal(trace_open_thread(t, 0, &in), RD_OK);
	while (trace_stream_next(&in, &event) > 0)
		count++;
	assert_int_equal(in.damage, TRACE_SOUND);
	*late = trace_is_late(t);
	trace_stream_close(&in);
	trace_close(t);
	rd_buf_release(&e.out);
	free(path);
	return count;
}

static void test_reading_ends_in_time(void **state)
{
	bool late;
	(void)state;
	assert_int_equal(read_until(2 * TRACE_LIMIT_FREE, 0, &late), 2 * TRACE_LIMIT_FREE);
	assert_false(late);
	assert_int_equal(read_until(TRACE_LIMIT_FREE, 1, &late), TRACE_LIMIT_FREE);
	assert_false(late);
	assert_int_equal(read_until(2 * TRACE_LIMIT_FREE, 1, &late), TRACE_LIMIT_FREE);
	assert_true(late);
}

static void test_writer_refuses_a_second_trace(void **state)
{
	struct rd_buf bytes = RD_BUF_INIT;
	struct trace_writer *w = NULL;
	struct trace_meta meta = {0};
	char *path = rd_xasprintf("%s/u", directory);
	(void)state;
	assert_int_equal(trace_writer_open(&w, path), RD_OK);
	assert_int_equal(trace_writer_meta(w, &meta), RD_OK);
	assert_int_equal(trace_writer_close(w), RD_OK);
	rd_log_set(keep_message, NULL);
	assert_int_equal(trace_writer_open(&w, path), RD_EUSAGE);
	rd_log_set(NULL, NULL);
	rd_buf_release(&bytes);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decoder_equals_twin),
		cmocka_unit_test(test_bad_records_are_named),
		cmocka_unit_test(test_random_bytes_never_crash),
		cmocka_unit_test_setup_teardown(test_truncation_everywhere, make_directory, remove_directory),
		cmocka_unit_test_setup_teardown(test_every_bit_flip_is_noticed, make_directory,
						remove_directory),
		cmocka_unit_test_setup_teardown(test_reading_ends_in_time, make_directory, remove_directory),
		cmocka_unit_test_setup_teardown(test_many_threads_few_descriptors, make_directory,
						remove_directory),
		cmocka_unit_test_setup_teardown(test_writer_refuses_a_second_trace, make_directory,
						remove_directory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
