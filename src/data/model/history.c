/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the history of each thread, which consists of an array of its operations (events with q),
 * and an array of the accesses to shared bytes that it made between them.  Analyses walk over these
 * arrays, because the rest of the trace cannot affect a race or a deadlock.
 *
 * The arrays may cover only a part of the run.  Then operations before the part are left out if
 * they no longer have an effect (prefix.c).
 *
 * Schedules count all records of a site.  These include accesses to unshared memory, which are not
 * in the arrays, so model_locate() reads the stream again to count them.
 */
#include "model/model-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* The largest number of bytes in a range.  No program copies more at once. */
#define RANGE_MAX (1ull << 30)
/* The number of intervals of q in which items are counted when the run is cut into parts. */
#define BUCKETS 65536
/* The largest number of items (operations and accesses) in the first and in the last part of a run
 * that is analysed in parts.  It is small, so that findings are reported early. */
#define EDGE_PART (1 << 20)

struct history_scan {
	struct model *model;
	struct model_cache *cache;
	struct model_history *history;
	struct model_path path;
	size_t operation_capacity, access_capacity;
	/* True if there are once controls or guards of C++ statics. */
	bool guards;
	uint64_t q;	     /* the largest q so far */
	uint64_t operations; /* number of operations so far, including those that are left out */
	uint64_t ended;	     /* number of the latest operation that ends a segment */
	/* All accesses before operation number `skip` are certainly outside the part. */
	uint64_t skip;
	uint32_t counted;
	struct model_spin spin;
	size_t stream;
	uint32_t chunks; /* number of chunks of the stream that have begun so far */
	/* The number of items in each bucket of q; NULL if items are kept, not counted. */
	uint64_t *sizes;
	uint64_t *segment; /* the entry of `sizes` that counts the items of the current segment */
};

static void add_access(struct history_scan *s, const struct model_access *a)
{
	struct model_history *h = s->history;

	if (s->sizes) {
		++*s->segment;
		return;
	}
	RD_GROW(h->accesses, s->access_capacity, h->access_count + 1);
	h->accesses[h->access_count++] = *a;
}

/* The pieces of shared memory that a record touches, one for each object. */
struct pieces {
	const struct model *model;
	struct model_cache *cache;
	uint64_t address, size, q; /* the part of the record that is not yet processed */
	struct model_access access;
};

static struct pieces pieces_of(const struct model *m, struct model_cache *cache, const struct trace_event *e,
			       const struct trace_stream *in)
{
	const struct trace_site *site = model_find_site(m, cache, e->site);
	struct pieces p = {.model = m, .cache = cache, .address = e->address, .q = in->last_q};

	p.size = e->kind == RADDLE_RANGE ? e->size : site && site->size > 0 ? site->size : 1;
	if (p.size > RANGE_MAX)
		p.size = RANGE_MAX;
	p.access.site = e->site;
	p.access.write = e->kind == RADDLE_ATOMIC ? e->values[3] & 1 : site && trace_site_writes(site);
	return p;
}

/* Advances to the next piece, p->access.  Returns false if there are no more. */
static bool next_piece(struct pieces *p)
{
	struct model_access *a = &p->access;

	while (p->size > 0) {
		a->object = model_find_cached(p->model, p->cache, p->address, p->q);
		if (a->object == MODEL_NONE)
			return false;
		const struct model_object *o = &p->model->objects[a->object];
		a->offset = p->address - o->base;
		a->size =
			(uint32_t)(p->size < o->size - a->offset ? p->size : o->size - a->offset) & INT32_MAX;
		p->address += a->size;
		p->size -= a->size;
		if (model_is_shared(p->model, a->object, a->offset, a->size))
			return true;
	}
	return false;
}

static void note_access(struct history_scan *s, const struct trace_event *e, const struct trace_stream *in)
{
	struct pieces p = pieces_of(s->model, s->cache, e, in);

	while (next_piece(&p)) {
		if (!s->sizes)
			p.access.stack = model_stack_intern(s->model, &s->path, &in->decoder);
		add_access(s, &p.access);
	}
}

/* Makes an access for the release of an object, which is treated as a write of the whole object.
 * Returns false if no other thread touched the object. */
static bool free_piece(const struct model *m, struct model_cache *cache, const struct trace_event *e,
		       struct model_access *a)
{
	uint32_t object = model_freed(m, cache, e);

	if (object == MODEL_NONE || !(m->objects[object].flags & MODEL_SHARED))
		return false;
	uint64_t size = m->objects[object].size;
	*a = (struct model_access){.object = object, .write = 1};
	a->size = (uint32_t)(size < INT32_MAX ? size : INT32_MAX) & INT32_MAX;
	return true;
}

/* Adds an access for the release of an object.  The site of this access is the call that releases
 * the memory, and its stack consists of the callers. */
static void note_free(struct history_scan *s, const struct trace_event *e, const struct trace_stream *in)
{
	uint32_t call = model_stack_intern(s->model, &s->path, &in->decoder);
	struct model_access a;

	if (!call || !free_piece(s->model, s->cache, e, &a))
		return;
	a.site = s->model->stacks[call].site;
	a.stack = s->model->stacks[call].parent;
	add_access(s, &a);
}

/* Makes an access that represents the effect of an operation on the bytes of its object, such as a
 * lock.  Returns false if only one thread touches these bytes, or if the operation has no
 * effect. */
static bool handled_piece(const struct model *m, struct model_cache *cache, const struct trace_event *e,
			  const struct trace_decoder *d, struct model_access *a)
{
	enum raddle_handling handling = model_handling(m, e, d);

	if (handling == RADDLE_HANDLES_NOT)
		return false;
	*a = (struct model_access){.object = model_find_cached(m, cache, e->address, e->q)};
	if (a->object == MODEL_NONE)
		return false;
	const struct model_object *o = &m->objects[a->object];
	uint64_t room = o->size - (e->address - o->base);
	a->offset = e->address - o->base;
	a->size = (uint32_t)(raddle_object_size(e->kind) < room ? raddle_object_size(e->kind) : room) &
		  INT32_MAX;
	a->write = handling != RADDLE_USES;
	return model_is_shared(m, a->object, a->offset, a->size);
}

/* Adds an access that handled_piece() made.  The site of the access is the call of the
 * operation. */
static void note_handling(struct history_scan *s, const struct trace_event *e, const struct trace_stream *in)
{
	struct model_access a;

	if (!handled_piece(s->model, s->cache, e, &in->decoder, &a))
		return;
	uint32_t call = model_stack_intern(s->model, &s->path, &in->decoder);
	a.site = s->model->stacks[call].site;
	a.stack = s->model->stacks[call].parent;
	add_access(s, &a);
}

static uint32_t last_operand(const struct trace_event *e)
{
	unsigned last = raddle_event_row(e->kind)->last;
	return trace_kind(e->kind)->operands[last] == 'u' ? (uint32_t)e->values[last] : 0;
}

/* Returns true if the event orders two threads.  Creations and joins do, but a detach does not. */
static bool has_other_thread(enum raddle_event kind)
{
	enum raddle_role role = raddle_role(kind);

	return raddle_class(kind) == RADDLE_CLASS_THREAD &&
	       (role == RADDLE_ROLE_CREATE || role == RADDLE_ROLE_JOIN || role == RADDLE_ROLE_REQUEST);
}

static void note_operation(struct history_scan *s, const struct trace_event *e, const struct trace_stream *in)
{
	struct model *m = s->model;
	struct model_history *h = s->history;
	enum raddle_class class = raddle_class(e->kind);
	struct model_operation op = {.q = e->q,
				     .t = e->t,
				     .access = h->access_count,
				     .sync = MODEL_NONE,
				     .second = MODEL_NONE,
				     .counted = s->counted,
				     .kind = (uint8_t)e->kind};
	op.stack = model_stack_intern(m, &s->path, &in->decoder);
	op.value = e->kind == RADDLE_FENCE ? e->site : last_operand(e);
	if (raddle_is_sync(e->kind))
		op.sync = model_sync_intern(m, s->cache, class, (uint64_t[]){e->address, e->q});
	else if (s->guards && e->kind == RADDLE_ATOMIC && !(e->values[3] & 1))
		op.sync = model_sync(m, RADDLE_CLASS_ONCE, e->address, e->q);
	if (raddle_is_cond_wait(e->kind))
		op.second =
			model_sync_intern(m, s->cache, RADDLE_CLASS_MUTEX, (uint64_t[]){e->values[3], e->q});
	if (has_other_thread(e->kind))
		op.second = model_thread(m, (uint32_t)e->values[2]);
	RD_GROW(h->operations, s->operation_capacity, h->operation_count + 1);
	h->operations[h->operation_count++] = op;
}

/* Records where the thread was when its stream ended, for threads that failed. */
static void note_end(struct history_scan *s, const struct trace_event *last, const struct trace_stream *in)
{
	s->history->end_site = last->site;
	s->history->end_address = last->address;
	s->history->end_stack = model_stack_intern(s->model, &s->path, &in->decoder);
}

/* Handles an operation before the part of the run that the history covers.  If the operation ends
 * a segment, the accesses before the operation are left out.  Otherwise these accesses are kept,
 * because they represent later accesses that the runtime did not record. */
static void leave_out(struct history_scan *s, bool ends)
{
	RD_ASSERT(s->history != NULL);
	struct model_history *h = s->history;
	const struct model_operation *last =
		h->operation_count ? &h->operations[h->operation_count - 1] : NULL;

	if (ends) {
		h->access_count = 0;
		h->skipped = s->operations;
		model_prefix_trim(h);
	} else if (last && !raddle_ends_segment(last->kind, last->value) && last->access == h->access_count) {
		h->operation_count--;
	}
}

/* Continues with the segment after the event.  Returns false if the part ends there. */
static bool enter_segment(struct history_scan *s, const struct trace_event *e)
{
	const struct model *m = s->model;
	bool ends = raddle_ends_segment(e->kind, last_operand(e));

	s->operations++;
	s->counted += raddle_is_counted(e->kind);
	model_mark_pass(s->model, s->stream, s->operations, e);
	s->q = e->q > s->q ? e->q : s->q;
	if (s->q >= m->part.to)
		return false;
	if (ends)
		s->ended = s->operations;
	if (s->sizes)
		s->segment = &s->sizes[s->q / (m->last_q / BUCKETS + 1)];
	else if (s->q < m->part.from)
		leave_out(s, ends);
	return true;
}

/* Handles a thread that reads the same value again while it waits in a loop.  Only the last such
 * read is kept.  Returns false if the part of the run that the history covers ends before the
 * read. */
static bool repeat_read(struct history_scan *s, const struct trace_event *e)
{
	struct model_history *h = s->history;

	if (e->q >= s->model->part.to)
		return false;
	s->ended = ++s->operations;
	s->q = e->q > s->q ? e->q : s->q;
	if (s->sizes)
		return true;
	RD_ASSERT(h->operation_count && h->operations[h->operation_count - 1].kind == RADDLE_ATOMIC);
	h->operations[h->operation_count - 1].q = e->q;
	h->operations[h->operation_count - 1].t = e->t;
	return true;
}

static bool scan_event(struct history_scan *s, const struct trace_event *e, const struct trace_stream *in)
{
	enum raddle_handling handling = raddle_handling(e->kind);

	if (model_spins(s->model, &s->spin, e))
		return repeat_read(s, e);
	if (handling == RADDLE_USES && s->operations >= s->skip)
		note_handling(s, e, in);
	if (raddle_has_q(e->kind)) {
		if (!enter_segment(s, e))
			return false;
		if (s->sizes)
			++*s->segment;
		else
			note_operation(s, e, in);
	}
	if (s->operations < s->skip)
		return true;
	if (raddle_is_access(e->kind))
		note_access(s, e, in);
	else if (e->kind == RADDLE_FREE)
		note_free(s, e, in);
	else if (handling > RADDLE_USES)
		note_handling(s, e, in);
	return true;
}

/* Notes that a chunk of the stream begins with the next event.  If all events so far are before
 * the part of the run that the history covers, later scans can start at this chunk. */
static void note_chunk(struct history_scan *s, const struct trace_stream *in)
{
	const struct model_history *h = s->history;

	s->chunks = in->chunks;
	if (s->sizes || s->q >= s->model->part.from ||
	    !model_mark_wanted(s->model, s->stream, trace_stream_place(in)))
		return;
	model_mark_add(s->model, s->stream,
		       &(struct model_mark){.place = trace_stream_place(in),
					    .q = s->q,
					    .operations = s->operations,
					    .ended = s->ended,
					    .counted = s->counted,
					    .prefix = h->operations,
					    .prefix_count = h->operation_count});
}

/* Starts the scan as late in the stream as marks allow. */
static void start_at_mark(struct history_scan *s, struct trace_stream *in)
{
	const struct model_mark *mark =
		s->sizes ? NULL : model_mark_before(s->model, s->stream, s->model->part.from);
	struct model_history *h = s->history;

	if (!mark)
		return;
	trace_stream_seek(in, mark->place, mark->q);
	s->q = mark->q;
	s->operations = mark->operations;
	s->ended = mark->ended;
	s->counted = mark->counted;
	RD_GROW(h->operations, s->operation_capacity, mark->prefix_count + 1);
	if (mark->prefix_count)
		memcpy(h->operations, mark->prefix, mark->prefix_count * sizeof *h->operations);
	h->operation_count = mark->prefix_count;
}

static void scan_stream(struct history_scan *s)
{
	struct trace_event e = {0};
	struct trace_stream in;
	int more;

	if (trace_open_thread(s->model->trace, s->stream, &in) != RD_OK)
		return;
	start_at_mark(s, &in);
	while ((more = trace_stream_next(&in, &e)) > 0) {
		if (in.chunks != s->chunks)
			note_chunk(s, &in);
		if (!scan_event(s, &e, &in))
			break;
	}
	if (more <= 0 && !s->sizes)
		note_end(s, &e, &in);
	trace_stream_close(&in);
}

/* Scans all streams.  If `sizes` is not NULL, only counts items.  Stores the position of each
 * thread at the end of the part, so that the scan of the next part can begin there. */
static void scan_all(struct model *m, uint64_t *sizes)
{
	struct model_cache *cache = rd_xcalloc(1, sizeof *cache);
	struct model_private *x = m->private;
	bool guards = false, next = x->reached && x->reached_q == m->part.from;

	if (!x->reached)
		x->reached = rd_xcalloc(trace_thread_count(m->trace) + 1, sizeof *x->reached);

	for (size_t i = 0; i < m->sync_count; i++)
		guards |= m->syncs[i].class == RADDLE_CLASS_ONCE;
	for (size_t i = 0; i < trace_thread_count(m->trace); i++) {
		struct history_scan s = {
			.model = m, .cache = cache, .guards = guards, .sizes = sizes, .segment = sizes};
		s.stream = i;
		s.history = &m->histories[model_thread_of_stream(m, i)];
		s.skip = next ? x->reached[i] : 0;
		scan_stream(&s);
		if (m->part.to != UINT64_MAX) /* there is no part after the last one */
			x->reached[i] = s.ended;
		model_path_release(&s.path);
	}
	if (m->part.to != UINT64_MAX)
		x->reached_q = m->part.to;
	free(cache);
}

void model_unload(struct model *m)
{
	for (size_t i = 0; m->histories && i < m->thread_count; i++) {
		free(m->histories[i].operations);
		free(m->histories[i].accesses);
	}
	free(m->histories);
	m->histories = NULL;
}

int model_load(struct model *m, struct model_part part)
{
	RD_ASSERT(part.from <= part.to);
	model_unload(m);
	m->part = part;
	m->histories = rd_xcalloc(m->thread_count + 1, sizeof *m->histories);
	scan_all(m, NULL);
	return RD_OK;
}

/* Returns the bucket at which the last part of the run begins, so that this part has about
 * EDGE_PART items.  Returns BUCKETS if `each`, the usual size of a part, is smaller than
 * EDGE_PART. */
static size_t first_of_last(const uint64_t *sizes, uint64_t each)
{
	RD_ASSERT(each > 0);
	size_t last = BUCKETS;
	uint64_t size = 0;

	while (last > 0 && size < EDGE_PART)
		size += sizes[--last];
	return each < EDGE_PART ? BUCKETS : last;
}

size_t model_cut(struct model *m, uint64_t most, struct model_part **parts)
{
	uint64_t *sizes = rd_xcalloc(BUCKETS + 1, sizeof *sizes), total = 0, size = 0;
	uint64_t width = m->last_q / BUCKETS + 1, from = 0;
	size_t count = 0, capacity = 0;

	RD_ASSERT(most);
	model_unload(m);
	m->part = MODEL_WHOLE;
	m->histories = rd_xcalloc(m->thread_count + 1, sizeof *m->histories);
	scan_all(m, sizes);
	for (size_t i = 0; i < BUCKETS; i++)
		total += sizes[i];
	uint64_t each = total / ((total + most - 1) / most + !total) + 1;
	size_t last = first_of_last(sizes, each);
	for (size_t i = 0; i < BUCKETS; i++) {
		size += sizes[i];
		if (total <= most || (i + 1 != last && size < (count || each < EDGE_PART ? each : EDGE_PART)))
			continue;
		RD_GROW(*parts, capacity, count + 2);
		(*parts)[count++] = (struct model_part){from, (i + 1) * width};
		from = (i + 1) * width;
		size = 0;
	}
	RD_GROW(*parts, capacity, count + 1);
	if (!count || size)
		(*parts)[count++] = (struct model_part){from, UINT64_MAX};
	(*parts)[count - 1].to = UINT64_MAX;
	free(sizes);
	return count;
}

/* ---- locating accesses in the stream ---- */

/* The occurrences of one requested site so far. */
struct tally {
	uint64_t after;	 /* number of the operation from which occurrences are counted */
	uint64_t n;	 /* number of occurrences since then */
	uint64_t pieces; /* number of pieces of shared memory since the thread's start */
	size_t next;	 /* the next entry in `wanted`, or the number of entries if there is none */
};

/* A requested access, which is the `piece`-th one of its site. */
struct wanted {
	uint64_t piece;
	size_t next; /* the next entry of the same site */
};

struct locator {
	const struct model *model;
	const struct model_history *history;
	const size_t *accesses;
	size_t count, found;
	struct model_spot *spots;
	struct rd_umap sites; /* maps a site to an index in tallies */
	struct tally *tallies;
	struct wanted *wanted;
};

/* Builds the list of each site.  It visits the accesses backwards, so that each list ascends. */
static void list_wanted(struct locator *l)
{
	for (size_t i = l->count; i-- > 0;) {
		size_t number = l->sites.count;
		bool is_new;
		uint64_t *at = rd_umap_put(&l->sites, l->history->accesses[l->accesses[i]].site, &is_new);
		if (is_new) {
			*at = number;
			l->tallies[number].next = l->count;
		}
		l->wanted[i].next = l->tallies[*at].next;
		l->tallies[*at].next = i;
	}
}

static void number_wanted(struct locator *l)
{
	const struct model_access *all = l->history->accesses;

	for (size_t i = 0, next = 0; next < l->count; i++) {
		uint64_t *at = rd_umap_get(&l->sites, all[i].site);
		if (at)
			l->tallies[*at].pieces++;
		for (; next < l->count && l->accesses[next] == i; next++)
			l->wanted[next].piece = l->tallies[*at].pieces;
	}
	for (size_t i = 0; i < l->sites.count; i++)
		l->tallies[i].pieces = 0;
}

static void tally_piece(struct locator *l, struct tally *t)
{
	RD_ASSERT(t->next <= l->count);
	t->pieces++;
	for (; t->next < l->count && l->wanted[t->next].piece == t->pieces; l->found++) {
		l->spots[t->next] = (struct model_spot){t->after, t->n};
		t->next = l->wanted[t->next].next;
	}
}

/* Counts `count` accesses of a requested site, after the thread has done `after` counted
 * operations. */
static void tally_accesses(struct tally *t, uint64_t after, uint64_t count)
{
	t->n = t->after == after ? t->n + count : count;
	t->after = after;
}

/* Returns the site for which the record counts as an occurrence, or 0 if there is none. */
static uint32_t counts_for(const struct trace_event *e, const struct trace_decoder *d)
{
	if (e->kind == RADDLE_FREE || raddle_handling(e->kind) != RADDLE_HANDLES_NOT)
		return d->depth > 0 ? d->stack[d->depth - 1] : 0;
	return raddle_is_access(e->kind) || e->kind == RADDLE_LEFT_OUT ? e->site : 0;
}

static void locate_in(struct locator *l, struct trace_stream *in, const struct model_mark *from)
{
	struct model_cache *cache = rd_xcalloc(1, sizeof *cache);
	struct model_spin spin = {0};
	struct trace_event e;
	uint64_t done =
		/* The number of counted operations.  When a record uses a lock, its own operation
		 * is not yet included. */
		from ? from->counted : 0;
	uint64_t operations = from ? from->operations : 0; /* number of all operations */

	for (; l->found < l->count && trace_stream_next(in, &e) > 0; done += raddle_is_counted(e.kind)) {
		bool before = raddle_handling(e.kind) == RADDLE_USES && operations < l->history->skipped;
		bool again = model_spins(l->model, &spin, &e);
		operations += raddle_has_q(e.kind);
		uint32_t site = counts_for(&e, &in->decoder);
		uint64_t *number = site ? rd_umap_get(&l->sites, site) : NULL;
		struct model_access a;
		if (!number)
			continue;
		struct tally *t = &l->tallies[*number];
		tally_accesses(t, done, e.kind == RADDLE_LEFT_OUT ? e.values[1] : 1);
		if (e.kind == RADDLE_LEFT_OUT || again || before || operations < l->history->skipped)
			continue;
		if (raddle_is_access(e.kind)) {
			struct pieces p = pieces_of(l->model, cache, &e, in);
			while (next_piece(&p))
				tally_piece(l, t);
		} else if (e.kind == RADDLE_FREE ? free_piece(l->model, cache, &e, &a)
						 : handled_piece(l->model, cache, &e, &in->decoder, &a)) {
			tally_piece(l, t);
		}
	}
	free(cache);
}

int model_locate(const struct model *m, uint32_t thread, const size_t *accesses, size_t count,
		 struct model_spot *spots)
{
	RD_ASSERT(thread < m->thread_count);
	struct locator l = {.model = m,
			    .history = &m->histories[thread],
			    .accesses = accesses,
			    .count = count,
			    .spots = spots};
	const struct model_mark *from;
	struct trace_stream in;
	int err;

	memset(spots, 0, count * sizeof *spots);
	err = trace_open_thread(m->trace, m->threads[thread].stream, &in);
	if (err)
		return err;
	l.tallies = rd_xcalloc(count + 1, sizeof *l.tallies);
	l.wanted = rd_xcalloc(count + 1, sizeof *l.wanted);
	list_wanted(&l);
	number_wanted(&l);
	from = model_mark_at(m, m->threads[thread].stream, l.history->skipped);
	if (from)
		trace_stream_seek(&in, from->place, from->q);
	locate_in(&l, &in, from);
	trace_stream_close(&in);
	rd_umap_release(&l.sites);
	free(l.tallies);
	free(l.wanted);
	return RD_OK;
}
