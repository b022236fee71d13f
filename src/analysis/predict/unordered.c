// SPDX-License-Identifier: Apache-2.0
/*
 * Walks over the merged threads of a trace to find unordered accesses (unordered-int.h).  The
 * result consists of pairs of sites.
 *
 * Every thread has a vector clock, which counts, for each thread, how many of its releases happened
 * before the current point.  A release of a lock or other object stores the thread's clock in the
 * object, and an acquisition joins the stored clock into the clock of its thread.  When a reader
 * releases a read-write lock, its clock is stored separately, and only writers join it.  Atomics
 * that are not relaxed are treated like locks, and so are all atomics of a thread after its first
 * fence.
 *
 * For each unit of eight bytes, the latest access of each thread, site and kind is kept.  That is
 * enough, because if an earlier access is unordered with a new one, so is the latest access of the
 * same site and thread.  A kept access is dropped when an access ordered after it conflicts with
 * everything that it conflicts with.  Accesses of the same thread since its last release are not
 * dropped.  So a read and a write of a variable are reported as two places.  Only the latest CELLS
 * accesses are kept.  When memory is allocated or released, its accesses are forgotten.
 *
 * There are two orders.  The first is the one that predictions use.  The second, `firm`, contains
 * the first and everything else that may have ordered two accesses:
 *   - output to and input from outside the program, treated as one channel;
 *   - every channel, since its other end may be a process;
 *   - atomic updates whose result no thread uses;
 *   - relaxed reads, from the next fence on;
 *   - if the program has memory barriers in assembler: all relaxed atomics, and plain accesses that
 *     race;
 *   - everything that happened before the start of a thread that the program did not create.
 *
 * If even this order leaves two accesses unordered, they are a race that happened, provided that
 * all code that could order threads is in the trace.  In an incomplete trace nothing is firm,
 * because the streams of its threads end at different times.  Nothing is firm either if the run
 * reports that something invisible ordered threads.
 */
#include "predict/unordered-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define UNIT 8	 /* bytes that share a list of cells */
#define PAGE 512 /* number of units in a page */
/* The largest number of accesses that are kept for a unit.  Set by hand, to limit time and
 * memory. */
#define CELLS 64
/* The largest number of bytes of a range that are compared.  Set by hand, to limit the time. */
#define RANGE_MAX (1ull << 18)
/* A run with more threads than this is not walked over, because clocks would be too long.  Set by
 * hand. */
#define THREADS_MAX 1024

enum access_kind { ACCESS_WRITES = 1, ACCESS_ATOMIC = 2 };

/* An access. */
struct cell {
	uint64_t q; /* the q of the latest operation before it */
	uint32_t site, epoch;
	uint32_t next; /* index of the next cell of the same unit; 0 for the last one */
	uint16_t thread;
	uint8_t mask; /* a bit mask of the bytes of the unit that the access touches */
	uint8_t kind;
};

/* The number of releases of a thread that come before a point, in the two orders.  `firm` is never
 * less than `known`. */
struct tick {
	uint32_t known, firm;
};

struct clock {
	struct tick *at; /* indexed by thread; missing entries count as 0 */
	uint32_t count;
};

/* A lock, semaphore, atomic variable or other object. */
struct sync_clocks {
	struct clock all;     /* clocks stored by threads that held the object exclusively */
	struct clock readers; /* clocks stored by threads that shared the object */
	uint32_t writer;      /* 1 + the thread that holds it exclusively; 0 if no thread does */
};

struct page {
	uint64_t number;
	uint32_t units[PAGE]; /* the first cell of each unit; 0 if it has no cell */
};

struct unordered_walk {
	const struct model *m;
	struct model_cache *cache; /* a cache of sites */
	struct predict_unordered_list *out;
	struct clock *clocks; /* the vector clock of each thread */
	/* For each thread, the clocks that its relaxed reads acquired.  The next fence joins
	 * them. */
	struct clock *relaxed;
	struct clock outside; /* clocks stored by threads that sent something outside */
	bool *fenced;	      /* for each thread, true if it has executed a fence */
	uint64_t *q;	      /* the q of each thread's latest operation */
	bool hidden;	      /* the run reports that something without an event ordered threads */
	bool barriers;	      /* the program has memory barriers in assembler, so relaxed atomics may order */
	struct sync_clocks *objects;
	size_t object_count, object_capacity;
	struct rd_pmap object_of; /* maps (class, address) to an index of objects */
	struct rd_umap page_of;	  /* maps the number of a page to an index of pages */
	struct page *pages;	  /* the first page has index 1 */
	size_t page_count, page_capacity;
	uint64_t latest;    /* 1 + the number of the page that was looked up last */
	uint32_t found;	    /* the index of the page that was looked up last */
	uint64_t unit;	    /* the address of the unit that is compared */
	struct cell *cells; /* the first cell has index 1 */
	size_t cell_count, cell_capacity;
	uint32_t unused;      /* head of the list of free cells */
	struct rd_umap pairs; /* maps a pair of sites to 1 + the index of its result */
	struct rd_umap sizes; /* maps the address of a live allocation to its size */
	uint64_t clock_bytes, memory;
};

/* ---- clocks ---- */

static struct tick clock_at(const struct clock *c, uint32_t thread)
{
	return thread < c->count ? c->at[thread] : (struct tick){0, 0};
}

static void clock_grow(struct unordered_walk *w, struct clock *c, uint32_t count)
{
	if (count <= c->count)
		return;
	c->at = rd_xrealloc(c->at, count * sizeof *c->at);
	memset(c->at + c->count, 0, (count - c->count) * sizeof *c->at);
	w->clock_bytes += (count - c->count) * sizeof *c->at;
	c->count = count;
}

static void clock_join_firmly(struct unordered_walk *w, struct clock *into, const struct clock *from)
{
	clock_grow(w, into, from->count);
	for (uint32_t i = 0; i < from->count; i++)
		if (from->at[i].firm > into->at[i].firm)
			into->at[i].firm = from->at[i].firm;
}

static void clock_join(struct unordered_walk *w, struct clock *into, const struct clock *from)
{
	clock_join_firmly(w, into, from);
	for (uint32_t i = 0; i < from->count; i++)
		if (from->at[i].known > into->at[i].known)
			into->at[i].known = from->at[i].known;
}

/* Ends the current period of a thread, whose clock was just stored in an object.  So the stored
 * clock does not cover what the thread does later. */
static void clock_advance(struct clock *c, uint32_t thread)
{
	RD_ASSERT(thread < c->count);
	c->at[thread].known++;
	c->at[thread].firm++;
}

/* ---- synchronisation ---- */

static struct sync_clocks *object_of(struct unordered_walk *w, enum raddle_class class, uint64_t address)
{
	bool is_new;
	uint64_t *index = rd_pmap_put(&w->object_of, class, address, &is_new);

	if (is_new) {
		*index = w->object_count++;
		RD_GROW(w->objects, w->object_capacity, w->object_count);
		w->objects[*index] = (struct sync_clocks){0};
	}
	return &w->objects[*index];
}

static void acquire(struct unordered_walk *w, uint32_t thread, const struct sync_clocks *o)
{
	clock_join(w, &w->clocks[thread], &o->all);
	clock_join(w, &w->clocks[thread], &o->readers);
}

static void release_into(struct unordered_walk *w, uint32_t thread, struct clock *left)
{
	clock_join(w, left, &w->clocks[thread]);
	clock_advance(&w->clocks[thread], thread);
}

static void release(struct unordered_walk *w, uint32_t thread, struct sync_clocks *o)
{
	release_into(w, thread, &o->all);
}

static void release_firmly(struct unordered_walk *w, uint32_t thread, struct clock *left)
{
	clock_join_firmly(w, left, &w->clocks[thread]);
	clock_advance(&w->clocks[thread], thread);
}

/* Handles input from and output to the outside of the program, which is treated as one channel: a
 * reader is ordered after every writer. */
static void change_outside(struct unordered_walk *w, uint32_t thread, const struct trace_event *e)
{
	switch (raddle_role(e->kind)) {
	case RADDLE_ROLE_RELEASE: release_firmly(w, thread, &w->outside); break;
	case RADDLE_ROLE_ACQUIRE: clock_join_firmly(w, &w->clocks[thread], &w->outside); break;
	default: w->hidden = true;
	}
}

static void change_lock(struct unordered_walk *w, uint32_t thread, const struct trace_event *e)
{
	struct sync_clocks *o = object_of(w, raddle_class(e->kind), e->address);
	int change = trace_lock_change(e);

	if (change > 0 && raddle_role(e->kind) == RADDLE_ROLE_SHARE) {
		clock_join(w, &w->clocks[thread], &o->all);
	} else if (change > 0) {
		acquire(w, thread, o);
		o->writer = thread + 1;
	} else if (change < 0 && raddle_class(e->kind) == RADDLE_CLASS_RWLOCK && o->writer != thread + 1) {
		release_into(w, thread, &o->readers);
	} else if (change < 0) {
		release(w, thread, o);
		o->writer = 0;
	}
}

/* Handles operations on conditions.  A wait releases its mutex.  A notification orders nothing
 * beyond what the mutex orders. */
static void change_condition(struct unordered_walk *w, uint32_t thread, const struct trace_event *e)
{
	if (!raddle_is_cond_wait(e->kind))
		return;
	struct sync_clocks *mutex = object_of(w, RADDLE_CLASS_MUTEX, e->values[3]);
	if (e->kind == RADDLE_COND_WAIT)
		release(w, thread, mutex);
	else
		acquire(w, thread, mutex);
}

static void change_other(struct unordered_walk *w, uint32_t thread, const struct trace_event *e)
{
	struct sync_clocks *o = object_of(w, raddle_class(e->kind), e->address);

	switch (raddle_role(e->kind)) {
	case RADDLE_ROLE_RELEASE:
	case RADDLE_ROLE_WAIT: release(w, thread, o); break;
	case RADDLE_ROLE_ACQUIRE:
		if (raddle_class(e->kind) == RADDLE_CLASS_SEM && trace_result(e) != 0)
			break;
		acquire(w, thread, o);
		break;
	case RADDLE_ROLE_PASS:
	case RADDLE_ROLE_WAKE: acquire(w, thread, o); break;
	default: break;
	}
	if (raddle_class(e->kind) == RADDLE_CLASS_CHANNEL)
		change_outside(w, thread, e);
}

static void change_thread(struct unordered_walk *w, uint32_t thread, const struct trace_event *e)
{
	enum raddle_role role = raddle_role(e->kind);
	uint32_t other = role == RADDLE_ROLE_CREATE || role == RADDLE_ROLE_JOIN
				 ? model_thread(w->m, (uint32_t)e->values[2])
				 : MODEL_NONE;

	if (other == MODEL_NONE || other == thread || trace_result(e) != 0)
		return;
	if (role == RADDLE_ROLE_CREATE)
		release_into(w, thread, &w->clocks[other]);
	else
		clock_join(w, &w->clocks[thread], &w->clocks[other]);
}

/* Returns true if the atomic access orders nothing by itself. */
static bool is_relaxed(const struct unordered_walk *w, uint32_t thread, const struct trace_event *e)
{
	const struct trace_site *site = model_find_site(w->m, w->cache, e->site);

	return site && site->order == 'x' && !w->fenced[thread];
}

/* Returns true if the program uses the value that the variable had before the atomic access. */
static bool is_seen(const struct unordered_walk *w, const struct trace_event *e)
{
	const struct trace_site *site = model_find_site(w->m, w->cache, e->site);

	if (!(e->values[3] & RADDLE_ATOMIC_STORED))
		return true;
	return site && site->kind != TRACE_SITE_ATOMIC_STORE && !(site->flags & TRACE_SITE_UNSEEN);
}

/* ---- memory ---- */

static struct page *page_of(struct unordered_walk *w, uint64_t address, bool make)
{
	uint64_t number = address / UNIT / PAGE, *index;
	bool is_new = false;

	if (w->latest == number + 1)
		return &w->pages[w->found];
	index = make ? rd_umap_put(&w->page_of, number, &is_new) : rd_umap_get(&w->page_of, number);
	if (!index)
		return NULL;
	if (is_new) {
		*index = w->page_count++;
		RD_GROW(w->pages, w->page_capacity, w->page_count);
		memset(&w->pages[*index], 0, sizeof w->pages[*index]);
		w->pages[*index].number = number;
	}
	w->latest = number + 1;
	w->found = (uint32_t)*index;
	return &w->pages[*index];
}

static uint32_t new_cell(struct unordered_walk *w)
{
	RD_ASSERT(w->cell_count < UINT32_MAX);
	uint32_t cell = w->unused;

	if (cell) {
		w->unused = w->cells[cell].next;
		return cell;
	}
	RD_GROW(w->cells, w->cell_capacity, w->cell_count + 1);
	return (uint32_t)w->cell_count++;
}

/* Returns true if two accesses are a race that happened, because even the second order leaves them
 * unordered.  If the program has memory barriers in assembler, plain accesses may have passed data
 * from thread to thread.  The position of an access within its segment is not known.  So in such a
 * program, the earlier access must have come before the segment of the later one began. */
static bool is_firm(const struct unordered_walk *w, const struct cell *a, const struct cell *b)
{
	if (a->epoch <= clock_at(&w->clocks[b->thread], a->thread).firm)
		return false;
	return !w->barriers || a->kind & ACCESS_ATOMIC || (w->q[a->thread] > a->q && w->q[a->thread] <= b->q);
}

static struct predict_unordered pair_of(const struct unordered_walk *w, const struct cell *a,
					const struct cell *b)
{
	const struct cell *sides[] = {a->site <= b->site ? a : b, a->site <= b->site ? b : a};
	unsigned first = (unsigned)__builtin_ctz(a->mask & b->mask);
	struct predict_unordered pair = {
		.part = {a->q, b->q + 1}, .address = w->unit + first, .firm = is_firm(w, a, b)};

	for (int i = 0; i < 2; i++) {
		pair.sites[i] = sides[i]->site;
		pair.threads[i] = sides[i]->thread;
		pair.writes[i] = sides[i]->kind & ACCESS_WRITES;
		pair.atomic[i] = sides[i]->kind & ACCESS_ATOMIC;
		pair.before[i] = (uint8_t)(first - (unsigned)__builtin_ctz(sides[i]->mask));
	}
	return pair;
}

/* Returns true if a pair replaces another pair of the same sites.  A shorter part takes less time
 * to predict. */
static bool is_better(const struct predict_unordered *pair, const struct predict_unordered *known)
{
	if (pair->firm != known->firm)
		return pair->firm;
	return pair->part.to - pair->part.from < known->part.to - known->part.from;
}

static void note_pair(struct unordered_walk *w, const struct cell *a, const struct cell *b)
{
	RD_ASSERT(a->thread != b->thread);
	struct predict_unordered pair = pair_of(w, a, b);
	uint64_t *index = rd_umap_put(&w->pairs, (uint64_t)pair.sites[0] << 32 | pair.sites[1], NULL);
	struct predict_unordered_list *out = w->out;

	if (!*index) {
		RD_GROW(out->items, out->capacity, out->count + 1);
		out->items[out->count++] = pair;
		*index = out->count;
		return;
	}
	if (is_better(&pair, &out->items[*index - 1]))
		out->items[*index - 1] = pair;
}

static bool conflicts(const struct unordered_walk *w, const struct cell *a, const struct cell *b)
{
	return a->thread != b->thread && a->mask & b->mask && (a->kind | b->kind) & ACCESS_WRITES &&
	       !(a->kind & b->kind & ACCESS_ATOMIC) &&
	       a->epoch > clock_at(&w->clocks[b->thread], a->thread).known;
}

static bool is_same(const struct cell *a, const struct cell *b)
{
	return a->thread == b->thread && a->site == b->site && a->mask == b->mask && a->kind == b->kind;
}

/* Returns true if an earlier access need not be kept, because the new access replaces it. */
static bool replaces(const struct unordered_walk *w, const struct cell *now, const struct cell *c)
{
	bool before = c->thread == now->thread
			      ? c->epoch < now->epoch
			      : c->epoch <= clock_at(&w->clocks[now->thread], c->thread).known;

	return before && !(c->mask & ~now->mask) &&
	       (now->kind & ACCESS_WRITES || !(c->kind & ACCESS_WRITES)) &&
	       (!(now->kind & ACCESS_ATOMIC) || c->kind & ACCESS_ATOMIC);
}

static void remove_cell(struct unordered_walk *w, uint32_t *link)
{
	uint32_t cell = *link;

	*link = w->cells[cell].next;
	w->cells[cell].next = w->unused;
	w->unused = cell;
}

/* Orders two accesses in the firm order.  If the program has memory barriers in assembler, a plain
 * access may pass data from one thread to another.  From then on, the firm order places the reader
 * after the writer, even if the recorded read came first.  The reason is that only a thread's first
 * read in a segment is recorded, and a later one may have seen the write. */
static void order_firmly(struct unordered_walk *w, const struct cell *a, const struct cell *b)
{
	uint32_t from = a->kind & ACCESS_WRITES ? a->thread : b->thread;
	uint32_t to = from == a->thread ? b->thread : a->thread;

	clock_join_firmly(w, &w->clocks[to], &w->clocks[from]);
	if (a->kind & b->kind & ACCESS_WRITES) /* a read and a write of the same bytes share a record */
		clock_join_firmly(w, &w->clocks[from], &w->clocks[to]);
	clock_advance(&w->clocks[from], from);
	clock_advance(&w->clocks[to], to);
}

/* Compares an access with the earlier accesses of its unit, then puts it at the front of the unit's
 * list. */
static void touch_unit(struct unordered_walk *w, uint32_t *first, const struct cell *now)
{
	uint32_t *link = first, count = 0, cell;

	if (*first && is_same(&w->cells[*first], now) && w->cells[*first].epoch == now->epoch) {
		w->cells[*first].q = now->q;
		return;
	}
	while (*link && count < CELLS) {
		const struct cell *c = &w->cells[*link];

		if (conflicts(w, c, now)) {
			note_pair(w, c, now);
			if (w->barriers)
				order_firmly(w, c, now);
		}
		if (is_same(c, now) || replaces(w, now, c)) {
			remove_cell(w, link);
			continue;
		}
		link = &w->cells[*link].next;
		count++;
	}
	while (*link)
		remove_cell(w, link);
	cell = new_cell(w); /* cells may have moved, pages have not */
	w->cells[cell] = *now;
	w->cells[cell].next = *first;
	*first = cell;
}

static void touch(struct unordered_walk *w, struct cell *now, uint64_t address, uint64_t size)
{
	uint64_t end = address + (size < RANGE_MAX ? size : RANGE_MAX);

	for (uint64_t at = address; at < end && at >= address; at = (at / UNIT + 1) * UNIT) {
		uint64_t from = at % UNIT, to = end - at < UNIT - from ? from + (end - at) : UNIT;

		now->mask = (uint8_t)((1u << to) - (1u << from));
		w->unit = at - from;
		touch_unit(w, &page_of(w, at, true)->units[at / UNIT % PAGE], now);
	}
}

/* Forgets the units of a page that lie in a range.  If `now` is not NULL, first compares that
 * access with them. */
static void clear_page(struct unordered_walk *w, struct page *p, const struct model_part *range,
		       const struct cell *now)
{
	uint64_t base = p->number * UNIT * PAGE, from = range->from > base ? (range->from - base) / UNIT : 0;
	uint64_t to = range->to > base ? (range->to - base + UNIT - 1) / UNIT : 0;

	for (uint64_t i = from; i < to && i < PAGE; i++) {
		w->unit = base + i * UNIT;
		for (uint32_t c = p->units[i]; c && now; c = w->cells[c].next)
			if (conflicts(w, &w->cells[c], now))
				note_pair(w, &w->cells[c], now);
		while (p->units[i])
			remove_cell(w, &p->units[i]);
	}
}

/* Forgets the accesses to a range.  A damaged size may be huge, but the number of pages is
 * limited. */
static void clear(struct unordered_walk *w, uint64_t address, uint64_t size, const struct cell *now)
{
	struct model_part range = {address / UNIT * UNIT, address + size};
	uint64_t first = address / UNIT / PAGE, count = size / UNIT / PAGE + 2;

	for (size_t i = 1; i < w->page_count && count >= w->page_count; i++)
		clear_page(w, &w->pages[i], &range, now);
	for (uint64_t i = 0; i < count && count < w->page_count; i++) {
		struct page *p = page_of(w, (first + i) * UNIT * PAGE, false);
		if (p)
			clear_page(w, p, &range, now);
	}
}

static struct cell access_of(const struct unordered_walk *w, uint32_t thread, uint32_t site, uint64_t q)
{
	return (struct cell){.q = q,
			     .site = site,
			     .epoch = w->clocks[thread].at[thread].known,
			     .thread = (uint16_t)thread,
			     .mask = UINT8_MAX};
}

static void do_access(struct unordered_walk *w, uint32_t thread, const struct trace_lane *lane)
{
	const struct trace_event *e = &lane->event;
	const struct trace_site *site = model_find_site(w->m, w->cache, e->site);
	struct cell now = access_of(w, thread, e->site, lane->stream.last_q);
	uint64_t size = e->kind == RADDLE_RANGE ? e->size : site && site->size ? site->size : 1;
	bool atomic = e->kind == RADDLE_ATOMIC;

	if (raddle_is_descriptor(e->address) || raddle_is_channel(e->address))
		return;
	now.kind = (atomic ? e->values[3] & RADDLE_ATOMIC_STORED : site && trace_site_writes(site))
			   ? ACCESS_WRITES
			   : 0;
	now.kind |= atomic ? ACCESS_ATOMIC : 0;
	touch(w, &now, e->address, size);
}

static void do_atomic(struct unordered_walk *w, uint32_t thread, const struct trace_lane *lane)
{
	struct sync_clocks *o = object_of(w, RADDLE_CLASS_ACCESS, lane->event.address);
	bool relaxed = is_relaxed(w, thread, &lane->event);
	const uint64_t *once = rd_pmap_get(&w->object_of, RADDLE_CLASS_ONCE, lane->event.address);

	/* If a thread finds that the guard of a static local variable is set, it is ordered after
	 * the thread that set the guard. */
	if (once)
		clock_join_firmly(w, &w->clocks[thread], &w->objects[*once].all);
	if (relaxed)
		clock_join_firmly(w, w->barriers ? &w->clocks[thread] : &w->relaxed[thread], &o->all);
	else if (is_seen(w, &lane->event))
		acquire(w, thread, o);
	else
		clock_join_firmly(w, &w->clocks[thread], &o->all);
	do_access(w, thread, lane);
	if (!(lane->event.values[3] & RADDLE_ATOMIC_STORED))
		return;
	if (!relaxed)
		release(w, thread, o);
	else if (w->barriers)
		release_firmly(w, thread, &o->all);
}

static void do_fence(struct unordered_walk *w, uint32_t thread)
{
	clock_join_firmly(w, &w->clocks[thread], &w->relaxed[thread]);
	w->fenced[thread] = true;
}

static void do_memory(struct unordered_walk *w, uint32_t thread, const struct trace_lane *lane)
{
	const struct trace_event *e = &lane->event;
	const struct trace_decoder *d = &lane->stream.decoder;
	uint32_t site = d->depth ? d->stack[d->depth - 1] : 0;
	struct cell now = access_of(w, thread, site, lane->stream.last_q);
	uint64_t *size;

	if (e->kind == RADDLE_ALLOC) {
		clear(w, e->address, e->values[2], NULL);
		*rd_umap_put(&w->sizes, e->address, NULL) = e->values[2];
	} else if (e->kind == RADDLE_UNMAP) {
		clear(w, e->address, e->values[2], NULL);
	} else if (e->kind == RADDLE_FREE && (size = rd_umap_get(&w->sizes, e->address))) {
		now.kind = ACCESS_WRITES;
		clear(w, e->address, *size, site ? &now : NULL);
		*size = 0;
	}
}

/* Starts a thread.  A thread that a library created may be ordered after everything that happened
 * before. */
static void start_thread(struct unordered_walk *w, uint32_t thread, const struct trace_event *e)
{
	bool created = (uint32_t)e->values[2] != UINT32_MAX;

	clear(w, e->values[4], e->values[5], NULL);
	for (size_t i = 0; i < w->m->thread_count && !created; i++)
		if (i != thread)
			clock_join_firmly(w, &w->clocks[thread], &w->clocks[i]);
}

/* ---- the walk ---- */

static void do_event(struct unordered_walk *w, const struct trace_lane *lane)
{
	const struct trace_event *e = &lane->event;
	uint32_t thread = model_thread_of_stream(w->m, lane->index);

	w->q[thread] = lane->stream.last_q;
	clock_grow(w, &w->clocks[thread], thread + 1);
	if (!w->clocks[thread].at[thread].known)
		clock_advance(&w->clocks[thread], thread);
	if (e->kind == RADDLE_ACCESS || e->kind == RADDLE_RANGE) {
		do_access(w, thread, lane);
	} else if (e->kind == RADDLE_ATOMIC) {
		do_atomic(w, thread, lane);
	} else if (e->kind == RADDLE_FENCE) {
		do_fence(w, thread);
	} else if (raddle_is_lock(e->kind)) {
		change_lock(w, thread, e);
	} else if (raddle_class(e->kind) == RADDLE_CLASS_COND) {
		change_condition(w, thread, e);
	} else if (raddle_is_sync(e->kind)) {
		change_other(w, thread, e);
	} else if (raddle_class(e->kind) == RADDLE_CLASS_MEMORY) {
		do_memory(w, thread, lane);
	} else if (raddle_class(e->kind) == RADDLE_CLASS_THREAD) {
		if (e->kind == RADDLE_THREAD_START)
			start_thread(w, thread, e);
		change_thread(w, thread, e);
	} else if (raddle_class(e->kind) == RADDLE_CLASS_OUTSIDE) {
		change_outside(w, thread, e);
	}
}

static bool fits(const struct unordered_walk *w)
{
	uint64_t used = w->cell_capacity * sizeof *w->cells + w->page_capacity * sizeof *w->pages +
			w->object_capacity * sizeof *w->objects + w->clock_bytes;

	return !w->memory || used <= w->memory;
}

static void release_walk(struct unordered_walk *w)
{
	for (size_t i = 0; i < w->m->thread_count; i++)
		RD_FREE(w->clocks[i].at, w->relaxed[i].at);
	for (size_t i = 0; i < w->object_count; i++)
		RD_FREE(w->objects[i].all.at, w->objects[i].readers.at);
	rd_pmap_release(&w->object_of);
	RD_UMAP_RELEASE(&w->page_of, &w->pairs, &w->sizes);
	RD_FREE(w->cache, w->clocks, w->relaxed, w->outside.at, w->fenced, w->q, w->objects, w->pages,
		w->cells);
}

void predict_find_unordered(const struct model *m, uint64_t memory, struct predict_unordered_list *out)
{
	struct unordered_walk w = {.m = m, .out = out, .memory = memory, .page_count = 1, .cell_count = 1};
	const struct trace_meta *meta = trace_get_meta(m->trace);
	struct trace_merge in;
	struct trace_lane *lane;

	*out = (struct predict_unordered_list){.cut = m->thread_count > THREADS_MAX};
	if (out->cut || trace_merge_open(&in, m->trace))
		return;
	w.barriers = trace_sites_have_barriers(m->sites);
	w.cache = rd_xcalloc(1, sizeof *w.cache);
	w.clocks = rd_xcalloc(m->thread_count + 1, sizeof *w.clocks);
	w.relaxed = rd_xcalloc(m->thread_count + 1, sizeof *w.relaxed);
	w.q = rd_xcalloc(m->thread_count + 1, sizeof *w.q);
	w.fenced = rd_xcalloc(m->thread_count + 1, sizeof *w.fenced);
	/* At the deadline, some threads have been read further than others.  So accesses may look
	 * unordered only because an operation was not read. */
	while ((lane = trace_merge_next(&in)) && !out->cut && !trace_is_late(m->trace)) {
		do_event(&w, lane);
		out->cut = !fits(&w);
	}
	trace_merge_close(&in);
	if (w.hidden || !meta->complete || meta->stopped || m->err)
		for (size_t i = 0; i < out->count; i++)
			out->items[i].firm = false;
	release_walk(&w);
}

void predict_unordered_release(struct predict_unordered_list *list)
{
	free(list->items);
	*list = (struct predict_unordered_list){0};
}
