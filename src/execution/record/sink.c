// SPDX-License-Identifier: Apache-2.0
/*
 * Gathers buffers.  Every buffer starts with RESET, so the buffers of a thread can be
 * concatenated.  A chunk is written when the next buffer would make it longer than CHUNK_SIZE.
 * After a write has failed, and the writer has reported that, only meta.json is written.
 */
#include "record/sink.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "trace/pack.h"
#include "trace/world.h"
#include "trace/writer.h"

#include <stdlib.h>
#include <time.h>

/* The number of raw bytes in a chunk.  Chosen by hand: a small chunk compresses badly, but every
 * thread needs memory for one chunk.  A full trace has few threads at a time, and its patterns
 * repeat over longer distances, so its chunks are larger. */
#define CHUNK_SIZE (128u << 10)
#define FULL_CHUNK_SIZE (512u << 10)
/* The number of threads that one call of record_sink_flush_some() handles.  Each may create a
 * file.  Chosen by hand, so that the collector gets back to its buffers in time. */
#define THREADS_FLUSHED_AT_ONCE 64

struct record_sink {
	struct trace_writer *writer;
	struct trace_meta meta;
	struct rd_buf *threads; /* the gathered records of each thread, by thread number */
	size_t count, capacity;
	const struct trace_layout *layout; /* for a full trace; else NULL */
	/* The packer of each thread's records, by thread number.  Used instead of `threads` for a
	 * full trace. */
	struct trace_packer **packers;
	size_t packer_count, packer_capacity;
	/* The packer of a thread that has ended, for the next new thread. */
	struct trace_packer *spare;
	struct rd_buf world; /* gathered input from outside */
	/* The number of gathered bytes, and the number of the thread to be written next. */
	size_t pending, at;
	uint64_t events;
	bool failed;
};

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int record_sink_open(struct record_sink **sink, const char *directory, const struct trace_meta *meta,
		     const char *sites)
{
	struct trace_writer *writer = NULL;
	struct record_sink *s;
	int r = trace_writer_open(&writer, directory);

	if (!r)
		r = trace_writer_meta(writer, meta);
	if (!r && sites)
		r = trace_writer_sites(writer, sites);
	if (r) {
		trace_writer_close(writer);
		return r;
	}
	s = rd_xcalloc(1, sizeof *s);
	s->writer = writer;
	s->world = (struct rd_buf)RD_BUF_INIT;
	s->meta = *meta;
	*sink = s;
	return 0;
}

void record_sink_full(struct record_sink *s, const struct trace_layout *layout)
{
	RD_ASSERT(s->count == 0 && layout != NULL);
	s->layout = layout;
	trace_writer_full(s->writer);
}

int record_sink_started(struct record_sink *s, int64_t pid)
{
	s->meta.pid = pid;
	return trace_writer_meta(s->writer, &s->meta);
}

static int write_thread(struct record_sink *s, size_t thread)
{
	struct rd_buf *b = &s->threads[thread];
	int r = 0;

	if (!s->failed && b->length) {
		r = trace_writer_chunk(s->writer, (uint32_t)thread, b->data, b->length);
		s->failed = r != 0;
	}
	s->pending -= b->length;
	rd_buf_clear(b);
	return r;
}

static void need_thread(struct record_sink *s, uint32_t thread)
{
	RD_GROW(s->threads, s->capacity, (size_t)thread + 1);
	for (; s->count <= thread; s->count++)
		s->threads[s->count] = (struct rd_buf)RD_BUF_INIT;
}

/* ---- packing of full traces ---- */

static int write_packed(struct record_sink *s, uint32_t thread)
{
	struct trace_packer *p = s->packers[thread];
	size_t raw = p ? trace_packed_raw(p) : 0, length;
	const void *packed;
	int r = 0;

	if (!raw)
		return 0;
	packed = trace_packed_take(p, &length);
	s->pending -= raw;
	if (!s->failed) {
		r = trace_writer_packed(s->writer, thread, packed, length, raw);
		s->failed = r != 0;
	}
	return r;
}

/* Keeps the packer of a thread that has ended, for use by another thread.  Thread numbers are not
 * reused. */
static void retire(struct record_sink *s, struct trace_packer **p)
{
	RD_ASSERT(*p != NULL && *p != s->spare);
	if (s->spare) {
		trace_packer_free(*p);
	} else {
		trace_packer_reset(*p);
		s->spare = *p;
	}
	*p = NULL;
}

static int add_packed(struct record_sink *s, uint32_t thread, const void *raw, size_t length)
{
	struct trace_packer **p;
	size_t before;
	int r;

	RD_GROW(s->packers, s->packer_capacity, (size_t)thread + 1);
	while (s->packer_count <= thread)
		s->packers[s->packer_count++] = NULL;
	p = &s->packers[thread];
	if (!*p) {
		*p = s->spare ? s->spare : trace_packer_new(s->layout);
		s->spare = NULL;
	}
	before = trace_packed_raw(*p);
	s->events += trace_pack(*p, raw, length);
	s->pending += trace_packed_raw(*p) - before;
	if (trace_packed_raw(*p) < FULL_CHUNK_SIZE && !trace_packed_end(*p))
		return 0;
	r = write_packed(s, thread);
	if (trace_packed_end(*p))
		retire(s, p);
	return r;
}

int record_sink_add(struct record_sink *s, uint32_t thread, const void *records, size_t length,
		    uint64_t events)
{
	RD_ASSERT(records != NULL && length > 0);
	int r = 0;

	if (s->layout)
		return s->failed ? 0 : add_packed(s, thread, records, length);
	need_thread(s, thread);
	if (s->threads[thread].length + length > CHUNK_SIZE)
		r = write_thread(s, thread);
	if (s->failed)
		return r;
	rd_buf_add(&s->threads[thread], records, length);
	s->pending += length;
	s->events += events;
	return r;
}

void record_sink_left_out(struct record_sink *s, uint64_t accesses, uint64_t from)
{
	RD_ASSERT(from != 0);
	s->meta.left_out += accesses;
	s->meta.left_from = from;
}

static int write_world(struct record_sink *s)
{
	RD_ASSERT(s->pending >= s->world.length);
	int r = 0;

	if (!s->failed) {
		r = trace_writer_world(s->writer, s->world.data, s->world.length);
		s->failed = r != 0;
	}
	s->pending -= s->world.length;
	rd_buf_clear(&s->world);
	return r;
}

int record_sink_add_world(struct record_sink *s, uint32_t thread, const void *records, size_t length)
{
	RD_ASSERT(records != NULL && length > 0);
	size_t before;
	int r = 0;

	if (s->world.length + length > CHUNK_SIZE)
		r = write_world(s);
	if (s->failed)
		return r;
	before = s->world.length;
	trace_world_begin_piece(&s->world, thread, length);
	rd_buf_add(&s->world, records, length);
	s->pending += s->world.length - before;
	return r;
}

/* Writes the records of the threads from `from` to `to` - 1.  Returns the first error. */
static int flush_threads(struct record_sink *s, size_t from, size_t to)
{
	RD_ASSERT(from <= to);
	int first = 0;

	for (size_t i = from; i < to; i++) {
		int packed = i < s->packer_count ? write_packed(s, (uint32_t)i) : 0;
		int plain = i < s->count ? write_thread(s, i) : 0;
		if (i < s->count)
			rd_buf_release(&s->threads[i]);
		if (!first)
			first = packed ? packed : plain;
	}
	return first;
}

static size_t all_threads(const struct record_sink *s)
{
	return s->layout ? s->packer_count : s->count;
}

int record_sink_flush(struct record_sink *s)
{
	int r = flush_threads(s, 0, all_threads(s)), world = write_world(s);

	s->at = 0;
	return r ? r : world;
}

int record_sink_flush_some(struct record_sink *s, bool *more)
{
	size_t all = all_threads(s),
	       to = all - s->at > THREADS_FLUSHED_AT_ONCE ? s->at + THREADS_FLUSHED_AT_ONCE : all;
	int r = flush_threads(s, s->at, to), world = 0;

	*more = to < all;
	s->at = *more ? to : 0;
	if (!*more)
		world = write_world(s);
	return r ? r : world;
}

int record_sink_preview(struct record_sink *s, uint32_t thread, const void *records, size_t length)
{
	int r = 0;

	if (!s->failed) {
		r = trace_writer_preview(s->writer, thread, records, length);
		s->failed = r != 0;
	}
	return r;
}

size_t record_sink_pending(const struct record_sink *s)
{
	return s->pending;
}

uint64_t record_sink_events(const struct record_sink *sink)
{
	return sink->events;
}

uint64_t record_sink_bytes(const struct record_sink *s)
{
	return trace_writer_bytes(s->writer);
}

void record_sink_status(struct record_sink *s, enum trace_end end, int code, bool core)
{
	s->meta.end = end;
	s->meta.code = code;
	s->meta.core = core;
}

void record_sink_set_hung(struct record_sink *s)
{
	s->meta.stood = true;
}

static void free_sink(struct record_sink *s)
{
	for (size_t i = 0; i < s->packer_count; i++)
		trace_packer_free(s->packers[i]);
	trace_packer_free(s->spare);
	rd_buf_release(&s->world);
	for (size_t i = 0; i < s->count; i++)
		rd_buf_release(&s->threads[i]);
	RD_FREE(s->packers, s->threads, s);
}

void record_sink_abandon(struct record_sink *s)
{
	trace_writer_abandon(s->writer);
	free_sink(s);
}

int record_sink_close(struct record_sink *s, const char *stopped, struct trace_meta *last)
{
	int r = record_sink_flush(s), meta, end;

	s->meta.end_ns = monotonic_ns();
	s->meta.complete = !stopped && !s->failed;
	s->meta.stopped = (char *)stopped;
	s->meta.threads = trace_writer_threads(s->writer);
	s->meta.bytes = trace_writer_bytes(s->writer);
	s->meta.events = s->events;
	meta = trace_writer_meta(s->writer, &s->meta);
	end = trace_writer_close(s->writer);
	if (last)
		*last = s->meta;
	free_sink(s);
	return r ? r : meta ? meta : end;
}
