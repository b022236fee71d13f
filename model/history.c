/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each thread did, as arrays: its operations (events that carry q) and,
 * between two of them, its accesses of shared bytes.  This is what an analysis
 * walks over; all else of the trace cannot matter to a race or a deadlock.
 */
#include "model/model-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>

#define RANGE_MAX (1ull << 30)

struct scan {
	struct model *model;
	struct model_cache *cache;
	struct model_history *history;
	struct model_path path;
	size_t operation_capacity, access_capacity;
};

static void add_access(struct scan *s, const struct model_access *a)
{
	struct model_history *h = s->history;
	RD_GROW(h->accesses, s->access_capacity, h->access_count + 1);
	h->accesses[h->access_count++] = *a;
}

static void note_access(struct scan *s, const struct trace_event *e, const struct trace_stream *in)
{
	struct model *m = s->model;
	const struct trace_site *site = trace_sites_find(m->sites, e->site);
	uint64_t size = e->kind == RADDLE_RANGE ? e->size : site && site->size > 0 ? site->size : 1;
	uint64_t address = e->address;
	struct model_access a = {.site = e->site};
	a.write = e->kind == RADDLE_ATOMIC ? e->values[3] & 1 : site && trace_site_writes(site);
	if (size > RANGE_MAX)
		size = RANGE_MAX;
	while (size > 0) {
		a.object = model_find_cached(m, s->cache, address, in->last_q);
		if (a.object == MODEL_NONE)
			return;
		const struct model_object *o = &m->objects[a.object];
		a.offset = address - o->base;
		a.size = (uint32_t)(size < o->size - a.offset ? size : o->size - a.offset) & INT32_MAX;
		if (model_is_shared(m, a.object, a.offset, a.size)) {
			a.stack = model_stack_intern(m, &s->path, &in->decoder);
			add_access(s, &a);
		}
		address += a.size;
		size -= a.size;
	}
}

static uint32_t last_operand(const struct trace_event *e)
{
	const char *letters = trace_kind(e->kind)->operands;
	unsigned n = 0;
	while (letters[n + 1])
		n++;
	return letters[n] == 'u' ? (uint32_t)e->values[n] : 0;
}

static void note_operation(struct scan *s, const struct trace_event *e, const struct trace_stream *in)
{
	struct model *m = s->model;
	struct model_history *h = s->history;
	enum model_sync_class class = model_sync_class(e->kind);
	struct model_operation op = {.q = e->q,
				     .t = e->t,
				     .access = h->access_count,
				     .sync = MODEL_NONE,
				     .second = MODEL_NONE,
				     .kind = (uint8_t)e->kind};
	op.stack = model_stack_intern(m, &s->path, &in->decoder);
	op.value = last_operand(e);
	if (class != MODEL_SYNC_CLASSES)
		op.sync = model_sync_intern(m, s->cache, class, (uint64_t[]){e->address, e->q});
	if (e->kind == RADDLE_COND_WAIT || e->kind == RADDLE_COND_WAKE)
		op.second = model_sync_intern(m, s->cache, MODEL_MUTEX, (uint64_t[]){e->values[3], e->q});
	if (e->kind == RADDLE_THREAD_CREATE || e->kind == RADDLE_THREAD_JOIN)
		op.second = model_thread(m, (uint32_t)e->values[2]);
	RD_GROW(h->operations, s->operation_capacity, h->operation_count + 1);
	h->operations[h->operation_count++] = op;
}

static void scan_stream(struct scan *s, size_t stream)
{
	struct trace_stream in;
	struct trace_event e;
	if (trace_open_thread(s->model->trace, stream, &in) != RD_OK)
		return;
	while (trace_stream_next(&in, &e) > 0) {
		if (e.kind != RADDLE_ACCESS && e.kind != RADDLE_RANGE && trace_kind_has_q(e.kind))
			note_operation(s, &e, &in);
		if (e.kind == RADDLE_ACCESS || e.kind == RADDLE_RANGE || e.kind == RADDLE_ATOMIC)
			note_access(s, &e, &in);
	}
	trace_stream_close(&in);
}

int model_scan_histories(struct model *m)
{
	struct model_cache *cache = rd_xcalloc(1, sizeof *cache);
	m->histories = rd_xcalloc(m->thread_count + 1, sizeof *m->histories);
	for (size_t i = 0; i < trace_thread_count(m->trace); i++) {
		struct scan s = {.model = m, .cache = cache};
		s.history = &m->histories[model_thread_of_stream(m, i)];
		scan_stream(&s, i);
		model_path_release(&s.path);
	}
	free(cache);
	return RD_OK;
}
