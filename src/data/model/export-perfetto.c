/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns a trace into a Perfetto trace, which consists of protobuf packets with track events
 * (doc/format/perfetto.md).
 *
 * Each thread has a track with its lifetime, its waits and its instant events.  Tracks below it
 * show the times during which it held locks.  Slices of a track must nest, but locks need not be
 * released in reverse order.  So all spans are collected first, and a hold is put on its thread's
 * first lock track on which it nests.
 *
 * A flow arrow runs from the end of one slice to the beginning of another, so flows belong to
 * spans.  There are flows from a hold to the next hold of that lock in another thread, from a
 * signal to the wake, from a creation to the lifetime of the new thread, and from the lifetime of a
 * thread to the join.
 */
#include "model/export.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/map.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

/* Field numbers of Perfetto's messages. */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_TRACK_DESCRIPTOR = 60,
	DESCRIPTOR_UUID = 1,
	DESCRIPTOR_NAME = 2,
	DESCRIPTOR_PROCESS = 3,
	DESCRIPTOR_THREAD = 4,
	DESCRIPTOR_PARENT = 5,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	EVENT_FLOW = 47,
	EVENT_FLOW_END = 48,
	ANNOTATION_STRING = 6,
	ANNOTATION_NAME = 10,
};
/* The event types of Perfetto, and the wire types of protobuf. */
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3 };
enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

/* The largest number of lock tracks of a thread.  A track shows the periods in which the thread
 * holds locks.  If such a period does not nest on any track, it is left out.  Set by hand. */
#define LOCK_TRACKS 16
#define PROCESS_UUID 1
#define SEQUENCE 1

enum span_kind { SPAN_LIFE, SPAN_WAIT, SPAN_HOLD, SPAN_INSTANT };

struct span {
	uint64_t begin, end;
	uint64_t flow_in, flow_out; /* identifiers of flows; 0 for no flow */
	uint32_t thread;
	uint32_t name; /* index in `names` */
	uint32_t site;
	uint8_t kind;
};

/* An unfinished hold of a lock or other synchronisation object, or an unfinished wait for it. */
struct open_span {
	uint32_t sync;
	size_t span;
	uint32_t depth; /* recursion depth */
};

struct thread_state {
	struct open_span *open;
	size_t count, capacity;
	size_t life; /* 1 + the index of the span of the thread's lifetime */
	uint64_t create_flow;
};

struct sync_state {
	size_t last_hold; /* 1 + the span of the last hold that ended */
	size_t signal;	  /* 1 + the span of the last signal that has not woken a thread yet */
	bool broadcast;
};

struct perfetto_export {
	struct model *model;
	FILE *out;
	struct span *spans;
	size_t span_count, span_capacity;
	struct rd_names names;
	struct thread_state *threads;
	struct sync_state *syncs;
	uint64_t flows;
	struct rd_buf packet, event, inner;
};

/* --- protobuf --- */

static void put_varint(struct rd_buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		rd_buf_addc(b, (char)(v | 0x80));
	rd_buf_addc(b, (char)v);
}

static void put_number(struct rd_buf *b, unsigned field, uint64_t v)
{
	RD_ASSERT(field > 0);
	put_varint(b, field << 3 | WIRE_VARINT);
	put_varint(b, v);
}

static void put_bytes(struct rd_buf *b, unsigned field, const void *data, size_t length)
{
	put_varint(b, field << 3 | WIRE_BYTES);
	put_varint(b, length);
	rd_buf_add(b, data, length);
}

static void put_string(struct rd_buf *b, unsigned field, const char *s)
{
	put_bytes(b, field, s, strlen(s));
}

static void put_fixed64(struct rd_buf *b, unsigned field, uint64_t v)
{
	put_varint(b, field << 3 | WIRE_FIXED64);
	for (int i = 0; i < 8; i++)
		rd_buf_addc(b, (char)(v >> (8 * i)));
}

static void write_packet(struct perfetto_export *x)
{
	struct rd_buf *head = &x->inner;
	rd_buf_clear(head);
	put_bytes(head, TRACE_PACKET, x->packet.data, x->packet.length);
	fwrite(head->data, 1, head->length, x->out);
	rd_buf_clear(&x->packet);
}

/* --- tracks --- */

static uint64_t thread_track(uint32_t thread)
{
	return 2 + (uint64_t)thread * (LOCK_TRACKS + 1);
}

static uint64_t lock_track(uint32_t thread, unsigned lane)
{
	return thread_track(thread) + 1 + lane;
}

static void write_descriptor(struct perfetto_export *x)
{
	put_bytes(&x->packet, PACKET_TRACK_DESCRIPTOR, x->event.data, x->event.length);
	put_number(&x->packet, PACKET_SEQUENCE, SEQUENCE);
	write_packet(x);
	rd_buf_clear(&x->event);
}

static void write_process(struct perfetto_export *x)
{
	const struct trace_meta *meta = trace_get_meta(x->model->trace);
	const char *name = meta->program ? meta->program : "program";
	put_number(&x->event, DESCRIPTOR_UUID, PROCESS_UUID);
	rd_buf_clear(&x->inner);
	put_number(&x->inner, PROCESS_PID, meta->pid > 0 ? (uint64_t)meta->pid : 1);
	put_string(&x->inner, PROCESS_NAME, name);
	put_bytes(&x->event, DESCRIPTOR_PROCESS, x->inner.data, x->inner.length);
	write_descriptor(x);
}

static void write_thread(struct perfetto_export *x, uint32_t thread)
{
	const struct trace_meta *meta = trace_get_meta(x->model->trace);
	const struct model_thread *t = &x->model->threads[thread];
	char *name = t->label ? rd_xasprintf("%s %s", t->name, t->label) : rd_xstrdup(t->name);
	put_number(&x->event, DESCRIPTOR_UUID, thread_track(thread));
	put_number(&x->event, DESCRIPTOR_PARENT, PROCESS_UUID);
	rd_buf_clear(&x->inner);
	put_number(&x->inner, THREAD_PID, meta->pid > 0 ? (uint64_t)meta->pid : 1);
	put_number(&x->inner, THREAD_TID, t->tid ? t->tid : thread + 1);
	put_string(&x->inner, THREAD_NAME, name);
	put_bytes(&x->event, DESCRIPTOR_THREAD, x->inner.data, x->inner.length);
	write_descriptor(x);
	free(name);
}

static void write_lock_track(struct perfetto_export *x, uint32_t thread, unsigned lane)
{
	RD_ASSERT(lane < LOCK_TRACKS);
	put_number(&x->event, DESCRIPTOR_UUID, lock_track(thread, lane));
	put_string(&x->event, DESCRIPTOR_NAME, "locks held");
	put_number(&x->event, DESCRIPTOR_PARENT, thread_track(thread));
	write_descriptor(x);
}

/* --- collecting spans --- */

static size_t add_span(struct perfetto_export *x, enum span_kind kind, uint32_t thread,
		       const struct trace_lane *lane)
{
	const struct trace_decoder *d = &lane->stream.decoder;
	RD_GROW(x->spans, x->span_capacity, x->span_count + 1);
	x->spans[x->span_count] = (struct span){.kind = (uint8_t)kind,
						.thread = thread,
						.begin = lane->event.t,
						.end = UINT64_MAX,
						.site = d->depth > 0 ? d->stack[d->depth - 1] : 0};
	return x->span_count++;
}

static void name_span(struct perfetto_export *x, size_t span, const char *prefix, uint32_t sync)
{
	struct rd_buf b = RD_BUF_INIT;
	rd_buf_adds(&b, prefix);
	if (sync != MODEL_NONE)
		model_name_sync(x->model, sync, &b);
	x->spans[span].name = rd_names_put(&x->names, b.data, b.length);
	rd_buf_release(&b);
}

static struct open_span *find_open(struct perfetto_export *x, uint32_t thread, uint32_t sync,
				   enum span_kind kind)
{
	RD_ASSERT(thread < x->model->thread_count);
	struct thread_state *t = &x->threads[thread];
	for (size_t i = t->count; i-- > 0;) {
		if (t->open[i].sync == sync && x->spans[t->open[i].span].kind == kind)
			return &t->open[i];
	}
	return NULL;
}

static void open_span(struct perfetto_export *x, uint32_t thread, uint32_t sync, size_t span)
{
	struct thread_state *t = &x->threads[thread];
	RD_GROW(t->open, t->capacity, t->count + 1);
	t->open[t->count++] = (struct open_span){.sync = sync, .span = span, .depth = 1};
}

static void close_span(struct perfetto_export *x, uint32_t thread, struct open_span *o, uint64_t t)
{
	struct thread_state *state = &x->threads[thread];
	struct span *s = &x->spans[o->span];
	s->end = t > s->begin ? t : s->begin;
	*o = state->open[--state->count];
}

static void begin_wait(struct perfetto_export *x, uint32_t thread, uint32_t sync,
		       const struct trace_lane *lane)
{
	size_t span = add_span(x, SPAN_WAIT, thread, lane);
	name_span(x, span, "wait for ", sync);
	open_span(x, thread, sync, span);
}

static void end_wait(struct perfetto_export *x, uint32_t thread, uint32_t sync, uint64_t t)
{
	struct open_span *o = find_open(x, thread, sync, SPAN_WAIT);
	if (o)
		close_span(x, thread, o, t);
}

static void acquire(struct perfetto_export *x, uint32_t thread, uint32_t sync, const struct trace_lane *lane)
{
	struct open_span *held = find_open(x, thread, sync, SPAN_HOLD);
	end_wait(x, thread, sync, lane->event.t);
	if (held) {
		held->depth++;
		return;
	}
	size_t span = add_span(x, SPAN_HOLD, thread, lane);
	name_span(x, span, "", sync);
	open_span(x, thread, sync, span);
	size_t last = x->syncs[sync].last_hold;
	if (last && x->spans[last - 1].thread != thread && !x->spans[last - 1].flow_out)
		x->spans[last - 1].flow_out = x->spans[span].flow_in = ++x->flows;
}

static void release_lock(struct perfetto_export *x, uint32_t thread, uint32_t sync, uint64_t t, bool whole)
{
	struct open_span *held = find_open(x, thread, sync, SPAN_HOLD);
	if (!held || (!whole && --held->depth > 0))
		return;
	x->syncs[sync].last_hold = held->span + 1;
	close_span(x, thread, held, t);
}

static size_t instant(struct perfetto_export *x, uint32_t thread, const char *prefix, uint32_t sync,
		      const struct trace_lane *lane)
{
	size_t span = add_span(x, SPAN_INSTANT, thread, lane);
	name_span(x, span, prefix, sync);
	x->spans[span].end = x->spans[span].begin;
	return span;
}

static void collect_cond(struct perfetto_export *x, uint32_t thread, uint32_t cond,
			 const struct trace_lane *lane)
{
	const struct trace_event *e = &lane->event;
	struct sync_state *c = &x->syncs[cond];
	if (raddle_role(e->kind) == RADDLE_ROLE_NOTIFY) {
		bool all = raddle_manner(e->kind) == RADDLE_MANNER_ALL;
		c->signal = instant(x, thread, all ? "broadcast " : "signal ", cond, lane) + 1;
		c->broadcast = all;
		return;
	}
	uint32_t mutex = model_sync(x->model, RADDLE_CLASS_MUTEX, e->values[3], e->q);
	if (e->kind == RADDLE_COND_WAIT) {
		if (mutex != MODEL_NONE)
			release_lock(x, thread, mutex, e->t, true);
		begin_wait(x, thread, cond, lane);
		return;
	}
	struct open_span *wait = find_open(x, thread, cond, SPAN_WAIT);
	uint64_t since = wait ? x->spans[wait->span].begin : 0;
	if (wait)
		close_span(x, thread, wait, e->t);
	if (e->values[4] == 0 && c->signal && x->spans[c->signal - 1].begin >= since) {
		size_t woken = instant(x, thread, "woken by ", cond, lane);
		struct span *signal = &x->spans[c->signal - 1];
		/* A broadcast is one flow with many ends. */
		if (!signal->flow_out)
			signal->flow_out = ++x->flows;
		x->spans[woken].flow_in = signal->flow_out;
		if (!c->broadcast)
			c->signal = 0;
	}
	if (mutex != MODEL_NONE)
		acquire(x, thread, mutex, lane);
}

static void collect_sync(struct perfetto_export *x, uint32_t thread, const struct trace_lane *lane)
{
	const struct trace_event *e = &lane->event;
	enum raddle_class class = raddle_class(e->kind);
	enum raddle_role role = raddle_role(e->kind);
	uint32_t sync = model_sync(x->model, class, e->address, e->q);
	int change = trace_lock_change(e);
	if (sync == MODEL_NONE)
		return;
	if (change > 0)
		acquire(x, thread, sync, lane);
	else if (change < 0)
		release_lock(x, thread, sync, e->t, false);
	else if (raddle_is_cond_wait(e->kind) || role == RADDLE_ROLE_NOTIFY)
		collect_cond(x, thread, sync, lane);
	else if ((role == RADDLE_ROLE_REQUEST && class != RADDLE_CLASS_ONCE) || role == RADDLE_ROLE_WAIT)
		begin_wait(x, thread, sync, lane);
	else if (class == RADDLE_CLASS_SEM && role == RADDLE_ROLE_RELEASE)
		instant(x, thread, "post ", sync, lane);
	else
		end_wait(x, thread, sync, e->t); /* even if the lock could not be acquired */
}

static void collect_thread(struct perfetto_export *x, uint32_t thread, const struct trace_lane *lane)
{
	const struct trace_event *e = &lane->event;
	struct thread_state *t = &x->threads[thread];
	uint32_t other = model_thread(x->model, (uint32_t)e->values[2]);
	size_t span;
	switch (raddle_role(e->kind)) {
	case RADDLE_ROLE_START:
		span = add_span(x, SPAN_LIFE, thread, lane);
		name_span(x, span, x->model->threads[thread].name, MODEL_NONE);
		x->spans[span].flow_in = t->create_flow;
		t->life = span + 1;
		break;
	case RADDLE_ROLE_END:
		if (t->life)
			x->spans[t->life - 1].end = e->t;
		break;
	case RADDLE_ROLE_CREATE:
		span = instant(x, thread, "create", MODEL_NONE, lane);
		if (other != MODEL_NONE && e->values[4] == 0)
			x->spans[span].flow_out = x->threads[other].create_flow = ++x->flows;
		break;
	case RADDLE_ROLE_JOIN:
		span = instant(x, thread, "join", MODEL_NONE, lane);
		if (other != MODEL_NONE && e->values[3] == 0 && x->threads[other].life) {
			struct span *life = &x->spans[x->threads[other].life - 1];
			if (!life->flow_out)
				life->flow_out = ++x->flows;
			x->spans[span].flow_in = life->flow_out;
		}
		break;
	default: break;
	}
}

static void collect(void *context, const struct trace_lane *lane)
{
	struct perfetto_export *x = context;
	enum raddle_event kind = lane->event.kind;
	uint32_t thread = model_thread_of_stream(x->model, lane->index);
	if (raddle_is_access(kind) || lane->event.t == 0)
		return;
	if (raddle_is_sync(kind))
		collect_sync(x, thread, lane);
	else
		collect_thread(x, thread, lane);
}

/* --- writing --- */

static void put_place(struct perfetto_export *x, uint32_t number)
{
	const struct trace_sites *sites = x->model->sites;
	const struct trace_site *site = trace_sites_find(sites, number);
	if (!site)
		return;
	char *place =
		rd_xasprintf("%s:%u %s", trace_sites_file(sites, site->file), site->line, site->function);
	rd_buf_clear(&x->inner);
	put_string(&x->inner, ANNOTATION_NAME, "at");
	put_string(&x->inner, ANNOTATION_STRING, place);
	put_bytes(&x->event, EVENT_ANNOTATION, x->inner.data, x->inner.length);
	free(place);
}

static void write_event(struct perfetto_export *x, uint64_t track, uint64_t t, unsigned type,
			const struct span *s)
{
	static const char *const categories[] = {"thread", "wait", "lock", "sync"};
	put_number(&x->event, EVENT_TYPE, type);
	put_number(&x->event, EVENT_TRACK, track);
	if (type != SLICE_END) {
		put_string(&x->event, EVENT_CATEGORY, categories[s->kind]);
		put_string(&x->event, EVENT_NAME, x->names.items[s->name]);
		if (s->flow_out)
			put_fixed64(&x->event, EVENT_FLOW, s->flow_out);
		if (s->flow_in)
			put_fixed64(&x->event, EVENT_FLOW_END, s->flow_in);
		put_place(x, s->site);
	}
	put_number(&x->packet, PACKET_TIMESTAMP, t);
	put_number(&x->packet, PACKET_SEQUENCE, SEQUENCE);
	put_bytes(&x->packet, PACKET_TRACK_EVENT, x->event.data, x->event.length);
	rd_buf_clear(&x->event);
	write_packet(x);
}

/* The open slices of one Perfetto track; the innermost is the last. */
struct perfetto_track {
	uint64_t id;
	uint64_t *ends;
	size_t count, capacity;
};

static void end_slices(struct perfetto_export *x, struct perfetto_track *k, uint64_t t)
{
	while (k->count > 0 && k->ends[k->count - 1] <= t) {
		k->count--;
		write_event(x, k->id, k->ends[k->count], SLICE_END, NULL);
	}
}

static bool nests(const struct perfetto_track *k, const struct span *s)
{
	size_t n = k->count;
	while (n > 0 && k->ends[n - 1] <= s->begin)
		n--;
	return n == 0 || s->end <= k->ends[n - 1];
}

static void write_span(struct perfetto_export *x, struct perfetto_track *k, const struct span *s)
{
	end_slices(x, k, s->begin);
	if (s->kind == SPAN_INSTANT) {
		write_event(x, k->id, s->begin, INSTANT, s);
		return;
	}
	/* If a slice was left open because of damage or a dying thread, it ends with the slice
	 * around it. */
	uint64_t limit = k->count > 0 ? k->ends[k->count - 1] : UINT64_MAX;
	RD_GROW(k->ends, k->capacity, k->count + 1);
	k->ends[k->count++] = s->end < limit ? s->end : limit;
	write_event(x, k->id, s->begin, SLICE_BEGIN, s);
}

/* Writes all spans of one thread.  They must be sorted by their beginnings. */
static void write_spans(struct perfetto_export *x, const struct span *spans, size_t count)
{
	uint32_t thread = spans[0].thread;
	struct perfetto_track tracks[LOCK_TRACKS + 1] = {{.id = thread_track(thread)}};
	unsigned used = 1;
	write_thread(x, thread);
	for (size_t i = 0; i < count; i++) {
		unsigned n = spans[i].kind == SPAN_HOLD ? 1 : 0;
		while (n > 0 && n < used && !nests(&tracks[n], &spans[i]))
			n++;
		if (n > LOCK_TRACKS)
			continue;
		if (n == used) {
			tracks[used++].id = lock_track(thread, n - 1);
			write_lock_track(x, thread, n - 1);
		}
		write_span(x, &tracks[n], &spans[i]);
	}
	for (unsigned n = 0; n < used; n++) {
		end_slices(x, &tracks[n], UINT64_MAX);
		free(tracks[n].ends);
	}
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	RD_BY(x->thread, y->thread);
	RD_BY(x->begin, y->begin);
	RD_BY(x->kind, y->kind);
	return x->end > y->end ? -1 : x->end < y->end;
}

static void write_all(struct perfetto_export *x)
{
	for (size_t i = 0; i < x->span_count; i++) {
		if (x->spans[i].end == UINT64_MAX)
			x->spans[i].end = x->model->last_t;
	}
	if (x->span_count > 0)
		qsort(x->spans, x->span_count, sizeof *x->spans, compare_spans);
	write_process(x);
	for (size_t i = 0, n; i < x->span_count; i += n) {
		for (n = 1; i + n < x->span_count && x->spans[i + n].thread == x->spans[i].thread; n++)
			;
		write_spans(x, x->spans + i, n);
	}
}

static void release(struct perfetto_export *x)
{
	RD_FREE_EACH(x->threads, x->model->thread_count, .open);
	RD_FREE(x->threads, x->syncs, x->spans);
	rd_names_release(&x->names);
	rd_buf_release(&x->packet);
	rd_buf_release(&x->event);
	rd_buf_release(&x->inner);
}

int model_export_perfetto(struct trace *trace, FILE *out)
{
	struct perfetto_export x = {
		.out = out, .packet = RD_BUF_INIT, .event = RD_BUF_INIT, .inner = RD_BUF_INIT};
	int err = model_build(&x.model, trace, MODEL_SHARING);
	if (err)
		return err;
	x.threads = rd_xcalloc(x.model->thread_count + 1, sizeof *x.threads);
	x.syncs = rd_xcalloc(x.model->sync_count + 1, sizeof *x.syncs);
	err = trace_each(trace, collect, &x);
	if (!err) {
		write_all(&x);
		err = x.model->err;
	}
	release(&x);
	model_free(x.model);
	return err;
}
