// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the Perfetto export.  A small protobuf reader checks what trace_processor requires:
 * packets parse, events are on described tracks, slices nest, times on a track do not decrease, and
 * flows begin before they end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "model/export.h"
#include "trace/encode-int.h"
#include "trace/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
	const uint8_t *p, *end;
};

/* One field of a message. */
struct field {
	unsigned number, wire;
	uint64_t value; /* varint or fixed64 */
	struct bytes bytes;
};

static uint64_t varint(struct bytes *b)
{
	uint64_t v = 0;
	for (unsigned shift = 0;; shift += 7) {
		assert_true(b->p < b->end && shift < 64);
		uint8_t byte = *b->p++;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
}

static bool next_field(struct bytes *b, struct field *f)
{
	if (b->p == b->end)
		return false;
	uint64_t key = varint(b);
	memset(f, 0, sizeof *f);
	f->number = (unsigned)(key >> 3);
	f->wire = key & 7;
	if (f->wire == 0) {
		f->value = varint(b);
	} else if (f->wire == 1) {
		assert_true(b->end - b->p >= 8);
		memcpy(&f->value, b->p, 8);
		b->p += 8;
	} else {
		assert_int_equal(f->wire, 2);
		uint64_t n = varint(b);
		assert_true(n <= (uint64_t)(b->end - b->p));
		f->bytes = (struct bytes){b->p, b->p + n};
		b->p += n;
	}
	return true;
}

#define TRACKS 512
#define DEPTH 64

struct checker {
	struct {
		bool described;
		uint64_t parent, last;
		unsigned depth;
		char names[DEPTH][48];
	} tracks[TRACKS];
	struct rd_umap flow_begin; /* maps an id to time + 1 */
	unsigned processes, threads, begins, ends, instants, flows, flow_ends;
	struct rd_buf log; /* lines "begin TRACK NAME TIME" for the tests */
};

static void check_descriptor(struct checker *c, struct bytes b)
{
	struct field f;
	uint64_t uuid = 0, parent = 0;
	while (next_field(&b, &f)) {
		if (f.number == 1)
			uuid = f.value;
		else if (f.number == 5)
			parent = f.value;
		else if (f.number == 3)
			c->processes++;
		else if (f.number == 4)
			c->threads++;
		else
			assert_int_equal(f.number, 2);
	}
	assert_true(uuid > 0 && uuid < TRACKS && !c->tracks[uuid].described);
	assert_true(parent == 0 || c->tracks[parent].described);
	c->tracks[uuid].described = true;
	c->tracks[uuid].parent = parent;
}

struct event {
	uint64_t type, track, flow, flow_end;
	char name[48];
	bool category;
};

static struct event parse_event(struct bytes b)
{
	struct event e = {0};
	struct field f;
	while (next_field(&b, &f)) {
		if (f.number == 9)
			e.type = f.value;
		else if (f.number == 11)
			e.track = f.value;
		else if (f.number == 22)
			e.category = true;
		else if (f.number == 23)
			snprintf(e.name, sizeof e.name, "%.*s", (int)(f.bytes.end - f.bytes.p), f.bytes.p);
		else if (f.number == 47)
			e.flow = f.value;
		else if (f.number == 48)
			e.flow_end = f.value;
		else
			assert_int_equal(f.number, 4);
		assert_true((f.number != 47 && f.number != 48) || f.wire == 1);
	}
	return e;
}

static void check_event(struct checker *c, struct bytes b, uint64_t t)
{
	struct event e = parse_event(b);
	assert_true(e.track > 0 && e.track < TRACKS && c->tracks[e.track].described);
	assert_true(t >= c->tracks[e.track].last);
	c->tracks[e.track].last = t;
	unsigned *depth = &c->tracks[e.track].depth;
	if (e.type == 1) {
		assert_true(*depth < DEPTH && e.name[0] && e.category);
		strcpy(c->tracks[e.track].names[(*depth)++], e.name);
		c->begins++;
	} else if (e.type == 2) {
		assert_true(*depth > 0);
		strcpy(e.name, c->tracks[e.track].names[--*depth]);
		c->ends++;
	} else {
		assert_int_equal(e.type, 3);
		c->instants++;
	}
	rd_buf_addf(&c->log, "%s %llu %s %llu\n",
		    e.type == 1	  ? "begin"
		    : e.type == 2 ? "end"
				  : "instant",
		    (unsigned long long)e.track, e.name, (unsigned long long)t);
	if (e.flow) {
		*rd_umap_put(&c->flow_begin, e.flow, NULL) = t + 1;
		c->flows++;
	}
	c->flow_ends += e.flow_end != 0;
}

/* Flows are checked in a second pass, because the packets are sorted by thread. */
static void check_flow_end(struct checker *c, struct bytes b, uint64_t t)
{
	struct event e = parse_event(b);
	if (!e.flow_end)
		return;
	uint64_t *begin = rd_umap_get(&c->flow_begin, e.flow_end);
	assert_non_null(begin);
	assert_true(*begin - 1 <= t);
}

static void each_packet(struct checker *c, struct bytes trace, bool flows)
{
	struct field packet, f;
	while (next_field(&trace, &packet)) {
		uint64_t t = 0, sequence = 0;
		struct bytes event = {0};
		assert_int_equal(packet.number, 1);
		assert_int_equal(packet.wire, 2);
		while (next_field(&packet.bytes, &f)) {
			if (f.number == 8)
				t = f.value;
			else if (f.number == 10)
				sequence = f.value;
			else if (f.number == 11)
				event = f.bytes;
			else if (f.number == 60 && !flows)
				check_descriptor(c, f.bytes);
			else
				assert_int_equal(f.number, 60);
		}
		assert_true(sequence > 0);
		if (event.p && flows)
			check_flow_end(c, event, t);
		else if (event.p)
			check_event(c, event, t);
	}
}

static void check_export(struct checker *c, const char *path)
{
	struct trace *trace = NULL;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	memset(c, 0, sizeof *c);
	c->log = (struct rd_buf)RD_BUF_INIT;
	assert_int_equal(trace_open(&trace, path, true), RD_OK);
	assert_int_equal(model_export_perfetto(trace, out), RD_OK);
	fclose(out);
	struct bytes all = {(const uint8_t *)text, (const uint8_t *)text + length};
	each_packet(c, all, false);
	each_packet(c, all, true);
	for (unsigned i = 0; i < TRACKS; i++)
		assert_int_equal(c->tracks[i].depth, 0);
	assert_int_equal(c->begins, c->ends);
	assert_int_equal(c->processes, 1);
	rd_umap_release(&c->flow_begin);
	trace_close(trace);
	free(text);
}

static void test_golden_traces(void **state)
{
	static const char *const names[] = {"v1-bank", "v1-every"};
	const char *root = getenv("ROOT");
	struct checker *c = rd_xmalloc(sizeof *c);
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		char *path = rd_xasprintf("%s/test/trace/%s", root ? root : ".", names[i]);
		check_export(c, path);
		assert_int_equal(c->threads, i == 0 ? 5 : 3);
		assert_true(c->flows > 0 && c->flow_ends > 0);
		rd_buf_release(&c->log);
		free(path);
	}
	free(c);
}

#define A 0x1000
#define B 0x2000
#define C 0x3000

/* Thread 0 holds A and B and releases A first.  Thread 1 waits for B, then for the condition C,
 * which thread 0 signals. */
static void write_crossing(const char *directory)
{
	struct trace_writer *w = NULL;
	struct trace_encoder e[2] = {0};
	struct trace_meta meta = {.complete = true};
	trace_encode_reset(&e[0]);
	trace_encode_reset(&e[1]);
	trace_encode_row(&e[0], RADDLE_THREAD_START, (uint64_t[]){0, 100, 0, 0, 0, 0, 7}, NULL);
	trace_encode_row(&e[0], RADDLE_THREAD_CREATE, (uint64_t[]){1, 110, 1, 0, 0}, NULL);
	trace_encode_row(&e[0], RADDLE_MUTEX_LOCK, (uint64_t[]){2, 120, A, 0}, NULL);
	trace_encode_row(&e[0], RADDLE_MUTEX_LOCK, (uint64_t[]){3, 130, B, 0}, NULL);
	trace_encode_row(&e[1], RADDLE_THREAD_START, (uint64_t[]){4, 140, 0, 0, 0, 0, 8}, NULL);
	trace_encode_row(&e[1], RADDLE_MUTEX_REQUEST, (uint64_t[]){5, 150, B}, NULL);
	trace_encode_row(&e[0], RADDLE_MUTEX_UNLOCK, (uint64_t[]){6, 160, A, 0}, NULL);
	trace_encode_row(&e[0], RADDLE_MUTEX_UNLOCK, (uint64_t[]){7, 170, B, 0}, NULL);
	trace_encode_row(&e[1], RADDLE_MUTEX_LOCK, (uint64_t[]){8, 180, B, 0}, NULL);
	trace_encode_row(&e[1], RADDLE_COND_WAIT, (uint64_t[]){9, 190, C, B, 0}, NULL);
	trace_encode_row(&e[0], RADDLE_COND_SIGNAL, (uint64_t[]){10, 200, C}, NULL);
	trace_encode_row(&e[1], RADDLE_COND_WAKE, (uint64_t[]){11, 210, C, B, 0}, NULL);
	trace_encode_row(&e[1], RADDLE_MUTEX_UNLOCK, (uint64_t[]){12, 220, B, 0}, NULL);
	trace_encode_row(&e[1], RADDLE_THREAD_END, (uint64_t[]){13, 230}, NULL);
	trace_encode_row(&e[0], RADDLE_THREAD_JOIN, (uint64_t[]){14, 240, 1, 0}, NULL);
	trace_encode_row(&e[0], RADDLE_EXIT, (uint64_t[]){15, 250, 0}, NULL);
	assert_int_equal(trace_writer_open(&w, directory), RD_OK);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(trace_writer_chunk(w, i, e[i].out.data, e[i].out.length), RD_OK);
		rd_buf_release(&e[i].out);
	}
	assert_int_equal(trace_writer_meta(w, &meta), RD_OK);
	assert_int_equal(trace_writer_close(w), RD_OK);
}

static void test_crossing_holds_and_waits(void **state)
{
	static const char expected[] = "begin 2 T_0 100\n"
				       "instant 2 create 110\n"
				       "begin 3 memory 0x1000+0x0 120\n"
				       "begin 4 memory 0x2000+0x0 130\n"
				       "instant 2 signal memory 0x3000+0x0 200\n"
				       "instant 2 join 240\n"
				       "end 2 T_0 250\n"
				       "end 3 memory 0x1000+0x0 160\n"
				       "end 4 memory 0x2000+0x0 170\n"
				       "begin 19 T_0_0 140\n"
				       "begin 19 wait for memory 0x2000+0x0 150\n"
				       "begin 20 memory 0x2000+0x0 180\n"
				       "end 19 wait for memory 0x2000+0x0 180\n"
				       "begin 19 wait for memory 0x3000+0x0 190\n"
				       "end 20 memory 0x2000+0x0 190\n"
				       "begin 20 memory 0x2000+0x0 210\n"
				       "end 19 wait for memory 0x3000+0x0 210\n"
				       "instant 19 woken by memory 0x3000+0x0 210\n"
				       "end 19 T_0_0 230\n"
				       "end 20 memory 0x2000+0x0 220\n";
	char directory[] = "/tmp/u-perfetto-XXXXXX";
	struct checker *c = rd_xmalloc(sizeof *c);
	(void)state;
	assert_non_null(mkdtemp(directory));
	write_crossing(directory);
	check_export(c, directory);
	assert_string_equal(c->log.data, expected);
	/* the flows: create to start, unlock of B to thread 1, signal to wake, end to join */
	assert_int_equal(c->flows, 4);
	assert_int_equal(c->flow_ends, 4);
	rd_buf_release(&c->log);
	rd_remove_tree(directory);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden_traces),
		cmocka_unit_test(test_crossing_holds_and_waits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
