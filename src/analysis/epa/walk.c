// SPDX-License-Identifier: Apache-2.0
/*
 * Merges the threads of a full trace.
 *
 * A lane is the reader of one thread.  Records of the current lane are read directly into the
 * caller's record, until one has a q (a position in the total order).  That record then waits in
 * the lane, and the lane with the smallest q becomes current.  So a record without q costs only a
 * call and a test.
 */
#include "epa/walk.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct raw_buffer {
	const void *data;
	size_t length;
	const void *from; /* start of the file's mapping; NULL if the buffer is not mapped */
};

struct walk_memory_thread {
	uint32_t number;
	struct raw_buffer *buffers;
	size_t count, capacity;
};

struct epa_source {
	struct trace *trace; /* NULL if the buffers are in memory */
	const struct trace_layout *layout;
	struct trace_layout *own_layout;
	const struct trace_sites *sites;
	struct walk_memory_thread *threads;
	size_t thread_count, thread_capacity;
};

struct walk_lane {
	struct trace_full *reader;
	const struct walk_memory_thread *memory;
	size_t next_buffer;
	struct trace_record waiting; /* the next record with a q, while the lane is in the heap */
	struct trace_event start;
	bool started; /* true if `start` is valid */
	bool cut;     /* the file ended too early, and the reader is closed */
	bool parked;  /* the reader is closed until the waiting record has been read */
	uint64_t key; /* the largest q of the lane so far */
	uint32_t number;
	char *name;
};

struct epa_walk {
	struct epa_source *source;
	struct walk_lane *lanes;
	size_t lane_count;
	/* A heap of the lanes with a waiting record; the first in the order has index 0. */
	uint32_t *heap;
	size_t heap_count;
	struct walk_lane *current; /* the lane that is read next; NULL if the heap decides */
	size_t place;
	struct rd_umap by_number; /* maps the number of a thread to its place */
	char *lost;		  /* the name that was last made for a missing thread */
	int err;
};

/* --- sources ----------------------------------------------------------------------------- */

int epa_source_open(struct epa_source **out, const char *directory)
{
	struct epa_source *s = rd_xcalloc(1, sizeof *s);
	int err = trace_open(&s->trace, directory, false);
	if (!err && !trace_is_full(s->trace))
		err = rd_fail(RD_EUSAGE,
			      "%s: not a full trace: record one with `raddle record --flavour full`",
			      directory);
	if (!err && !trace_get_sites(s->trace))
		err = rd_fail(RD_ENOTFOUND, "%s: a full trace cannot be read without its site table",
			      directory);
	if (!err)
		err = trace_layout_new(&s->own_layout, trace_get_sites(s->trace));
	if (err) {
		epa_source_close(s);
		return err;
	}
	s->layout = s->own_layout;
	s->sites = trace_get_sites(s->trace);
	*out = s;
	return RD_OK;
}

void epa_source_of_memory(struct epa_source **out, const struct trace_layout *layout,
			  const struct trace_sites *sites)
{
	struct epa_source *s = rd_xcalloc(1, sizeof *s);
	s->layout = layout;
	s->sites = sites;
	*out = s;
}

/* Finds a thread.  Threads are stored in ascending order, and the last one is requested most
 * often. */
static struct walk_memory_thread *memory_thread(struct epa_source *s, uint32_t number)
{
	size_t at = s->thread_count;
	while (at > 0 && s->threads[at - 1].number > number)
		at--;
	if (at > 0 && s->threads[at - 1].number == number)
		return &s->threads[at - 1];
	RD_GROW(s->threads, s->thread_capacity, s->thread_count + 1);
	for (size_t i = s->thread_count++; i > at; i--)
		s->threads[i] = s->threads[i - 1];
	s->threads[at] = (struct walk_memory_thread){.number = number};
	return &s->threads[at];
}

void epa_source_close(struct epa_source *s)
{
	if (!s)
		return;
	RD_FREE_EACH(s->threads, s->thread_count, .buffers);
	free(s->threads);
	trace_layout_free(s->own_layout);
	trace_close(s->trace);
	free(s);
}

static void add_raw(struct epa_source *s, uint32_t thread, struct raw_buffer raw)
{
	struct walk_memory_thread *t = memory_thread(s, thread);
	RD_GROW(t->buffers, t->capacity, t->count + 1);
	t->buffers[t->count++] = raw;
}

void epa_source_add(struct epa_source *s, uint32_t thread, const void *raw, size_t length)
{
	add_raw(s, thread, (struct raw_buffer){raw, length, NULL});
}

void epa_source_add_mapped(struct epa_source *s, uint32_t thread, const void *raw, size_t length,
			   const void *from)
{
	add_raw(s, thread, (struct raw_buffer){raw, length, from});
}

/* Releases the buffer that a lane has just finished. */
static void release_buffer(const struct walk_lane *lane)
{
	const struct raw_buffer *b = lane->next_buffer ? &lane->memory->buffers[lane->next_buffer - 1] : NULL;
	if (b && b->from)
		rd_drop_pages(b->from, (size_t)((const char *)b->data - (const char *)b->from) + b->length);
}

const struct trace_sites *epa_source_sites(const struct epa_source *s)
{
	return s->sites;
}

const struct trace_layout *epa_source_layout(const struct epa_source *s)
{
	return s->layout;
}

const char *epa_source_name(const struct epa_source *s)
{
	return s->trace ? trace_path(s->trace) : "memory";
}

/* --- lanes ------------------------------------------------------------------------------- */

/* Reads the next record of a lane, across buffers. */
static int read_record(struct epa_walk *w, struct walk_lane *lane, struct trace_record *r)
{
	for (;;) {
		int got = trace_full_next(lane->reader, r);
		if (got > 0)
			return 1;
		if (got < 0 && !w->err)
			w->err = got;
		if (got < 0 || !lane->memory || lane->next_buffer > lane->memory->count)
			return 0;
		release_buffer(lane);
		if (lane->next_buffer++ == lane->memory->count) {
			/* The reader may have held back a branch, because more bytes might follow.
			 * An empty buffer tells it that there are none. */
			trace_full_feed(lane->reader, NULL, 0);
			continue;
		}
		const struct raw_buffer *b = &lane->memory->buffers[lane->next_buffer - 1];
		trace_full_feed(lane->reader, b->data, b->length);
	}
}

static bool lane_before(const void *walk, uint32_t a, uint32_t b)
{
	const struct epa_walk *w = walk;

	if (w->lanes[a].key != w->lanes[b].key)
		return w->lanes[a].key < w->lanes[b].key;
	return a < b;
}

static void note_key(struct walk_lane *lane, const struct trace_record *r)
{
	if (r->q > lane->key)
		lane->key = r->q;
}

static int open_reader(struct epa_walk *w, size_t place)
{
	struct epa_source *s = w->source;
	struct walk_lane *lane = &w->lanes[place];
	if (s->trace)
		return trace_full_open(&lane->reader, s->trace, s->layout, place, false);
	lane->memory = &s->threads[place];
	trace_full_open_raw(&lane->reader, s->layout, lane->number, false);
	return RD_OK;
}

static void close_reader(struct walk_lane *lane)
{
	lane->cut |= lane->reader && trace_full_is_cut(lane->reader);
	trace_full_close(lane->reader);
	lane->reader = NULL;
}

/* Closes the reader of a thread until the thread starts, because an unpacker is large and there may
 * be many threads. */
static void park(struct epa_walk *w, struct walk_lane *lane)
{
	if (!w->source->trace)
		return;
	lane->waiting.event = &lane->start;
	lane->parked = true;
	close_reader(lane);
}

/* Opens the reader again, after the first record. */
static void unpark(struct epa_walk *w, size_t place)
{
	struct walk_lane *lane = &w->lanes[place];
	struct trace_record first;
	int err;
	if (!lane->parked)
		return;
	lane->parked = false;
	err = open_reader(w, place);
	if (!err)
		read_record(w, lane, &first);
	else if (!w->err)
		w->err = err;
}

static int open_lane(struct epa_walk *w, size_t place)
{
	RD_ASSERT(place < w->lane_count);
	struct epa_source *s = w->source;
	struct walk_lane *lane = &w->lanes[place];
	int err;
	lane->number = s->trace ? trace_thread_number(s->trace, place) : s->threads[place].number;
	err = open_reader(w, place);
	*rd_umap_put(&w->by_number, lane->number, NULL) = place;
	if (err || !read_record(w, lane, &lane->waiting))
		return err;
	note_key(lane, &lane->waiting);
	if (lane->waiting.kind == TRACE_FULL_EVENT && lane->waiting.event->kind == RADDLE_THREAD_START) {
		lane->start = *lane->waiting.event;
		lane->started = true;
		park(w, lane);
	}
	rd_heap_push(w->heap, &w->heap_count, (uint32_t)place, lane_before, w);
	return RD_OK;
}

/* Names a thread.  Parents have smaller numbers than their children. */
static void name_lane(struct epa_walk *w, struct walk_lane *lane)
{
	const uint64_t *parent = NULL;
	if (lane->number == 0) {
		lane->name = rd_thread_name(NULL, 0);
		return;
	}
	if (lane->started && lane->start.values[2] < lane->number)
		parent = rd_umap_get(&w->by_number, lane->start.values[2]);
	if (parent)
		lane->name = rd_thread_name(w->lanes[*parent].name, lane->start.values[3]);
	else
		lane->name = rd_thread_unknown(lane->number);
}

void epa_walk_close(struct epa_walk *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->lane_count; i++) {
		trace_full_close(w->lanes[i].reader);
		free(w->lanes[i].name);
	}
	rd_umap_release(&w->by_number);
	RD_FREE(w->lanes, w->heap, w->lost, w);
}

int epa_walk_open(struct epa_walk **out, struct epa_source *s)
{
	struct epa_walk *w = rd_xcalloc(1, sizeof *w);
	w->source = s;
	w->lane_count = s->trace ? trace_thread_count(s->trace) : s->thread_count;
	w->lanes = rd_xcalloc(w->lane_count + 1, sizeof *w->lanes);
	w->heap = rd_xcalloc(w->lane_count + 1, sizeof *w->heap);
	for (size_t i = 0; i < w->lane_count; i++) {
		int err = open_lane(w, i);
		if (err && !w->err)
			w->err = err;
	}
	for (size_t i = 0; i < w->lane_count; i++)
		name_lane(w, &w->lanes[i]);
	*out = w;
	return RD_OK;
}

/* --- records ----------------------------------------------------------------------------- */

static int next_lane(struct epa_walk *w, struct trace_record *r)
{
	if (w->heap_count == 0)
		return 0;
	w->place = rd_heap_pop(w->heap, &w->heap_count, lane_before, w);
	w->current = &w->lanes[w->place];
	*r = w->current->waiting;
	unpark(w, w->place);
	return 1;
}

int epa_walk_next(struct epa_walk *w, struct trace_record *r)
{
	struct walk_lane *lane = w->current;
	if (!lane)
		return next_lane(w, r);
	if (!lane->reader || !read_record(w, lane, r)) {
		close_reader(lane);
		w->current = NULL;
		return next_lane(w, r);
	}
	if (r->q == 0)
		return 1;
	note_key(lane, r);
	if (w->heap_count == 0 || lane_before(w, (uint32_t)w->place, w->heap[0]))
		return 1;
	lane->waiting = *r;
	rd_heap_push(w->heap, &w->heap_count, (uint32_t)w->place, lane_before, w);
	return next_lane(w, r);
}

int epa_walk_error(const struct epa_walk *w)
{
	return w->err;
}

bool epa_walk_is_whole(const struct epa_walk *w)
{
	if (w->err || (w->source->trace && !trace_get_meta(w->source->trace)->complete))
		return false;
	for (size_t i = 0; i < w->lane_count; i++) {
		const struct walk_lane *lane = &w->lanes[i];
		if (lane->cut || (lane->reader && trace_full_is_cut(lane->reader)))
			return false;
	}
	return true;
}

size_t epa_walk_threads(const struct epa_walk *w)
{
	return w->lane_count;
}

size_t epa_walk_place(const struct epa_walk *w)
{
	return w->place;
}

uint32_t epa_walk_number(const struct epa_walk *w, size_t place)
{
	RD_ASSERT(place < w->lane_count);
	return w->lanes[place].number;
}

const char *epa_walk_name(const struct epa_walk *w, size_t place)
{
	RD_ASSERT(place < w->lane_count);
	return w->lanes[place].name;
}

const char *epa_thread_name(struct epa_walk *w, uint32_t number)
{
	const uint64_t *place = rd_umap_get(&w->by_number, number);
	if (place)
		return w->lanes[*place].name;
	free(w->lost);
	return w->lost = rd_thread_unknown(number);
}

const struct trace_event *epa_walk_start(const struct epa_walk *w, uint32_t number)
{
	const uint64_t *place = rd_umap_get(&w->by_number, number);
	return place && w->lanes[*place].started ? &w->lanes[*place].start : NULL;
}

size_t epa_walk_stack(const struct epa_walk *w, size_t place, uint32_t *sites, size_t max)
{
	return w->lanes[place].reader ? trace_full_stack(w->lanes[place].reader, sites, max) : 0;
}

struct trace_full *epa_walk_reader(const struct epa_walk *w)
{
	return w->current ? w->current->reader : NULL;
}

const struct epa_source *epa_walk_source(const struct epa_walk *w)
{
	return w->source;
}
