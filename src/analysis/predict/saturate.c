/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the orders that every schedule of an ideal must keep.
 *
 * These orders form a relation on the events of the ideal (core-int.h).  It starts with the needs
 * (program order, must-edges, reads-from) and grows by these rules until nothing is added:
 *
 *   L1  A section that stays open comes last: release(c) -> acquire(open), for every conflicting
 *       section c of the ideal.
 *   L2  If acquire(c) comes before release(d) and the sections conflict: release(c) -> acquire(d).
 *   R1  If a write w2 comes before a read r of the write w: w2 -> w.
 *   R2  If a write w comes before a write w2: every reader of w -> w2.  Readers of the initial
 *       value come before every write.
 *   W   With sound semantics, a wait whose wake is in the ideal begins before the notification.
 *   B   With sound semantics, a failed acquisition comes before the release of the section that
 *       made it fail.
 *   H   For a wake that is a target: notifications that no thread consumed come before its wait.
 *
 * R1 and R2 apply to reads that keep their writer; with sound semantics these are all reads.  A
 * cycle, or an edge from an event outside the ideal, proves that the ideal has no schedule.
 *
 * The relation is kept as one row of positions for each event, closed transitively.  Rows start as
 * the need rows and are copied when they change, so only differences from the recorded order cost
 * anything.  A heap yields the changed events in trace order.  Each event passes its row on to its
 * successors, and the rules are applied to it.  Inferences from the needs alone are the same in
 * every ideal, so they are computed once for the whole trace (`base`).
 */
#include "predict/search-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

#define READERS_STEP 64 /* this many readers count as one step of work: an estimate */

void order_init(struct predict_search *s)
{
	size_t n = (size_t)s->c->count + 1;

	s->order.row_of = rd_xmalloc(n * sizeof *s->order.row_of);
	s->order.extra = rd_xmalloc(n * sizeof *s->order.extra);
	memset(s->order.row_of, 0xff, n * sizeof *s->order.row_of);
	memset(s->order.extra, 0xff, n * sizeof *s->order.extra);
	s->order.queued = rd_xcalloc(n, 1);
}

void order_release(struct predict_search *s)
{
	struct order *o = &s->order;

	RD_FREE(o->row_of, o->rows, o->changed, o->heap, o->queued, o->extra, o->edges, o->sources, o->base);
}

void order_reset(struct predict_search *s)
{
	struct order *o = &s->order;

	for (size_t i = 0; i < o->changed_count; i++)
		o->row_of[o->changed[i]] = NONE;
	for (size_t i = 0; i < o->source_count; i++)
		o->extra[o->sources[i]] = NONE;
	for (size_t i = 0; i < o->heap_count; i++)
		o->queued[o->heap[i]] = 0;
	o->row_count = o->changed_count = o->edge_count = o->source_count = o->heap_count = 0;
}

/* ---- the queue ---- */

static bool earlier(const void *unused, uint32_t a, uint32_t b)
{
	(void)unused;
	return a < b;
}

static void enqueue(struct order *o, uint32_t e)
{
	if (o->queued[e])
		return;
	o->queued[e] = 1;
	RD_GROW(o->heap, o->heap_capacity, o->heap_count + 1);
	rd_heap_push(o->heap, &o->heap_count, e, earlier, NULL);
}

static uint32_t dequeue(struct order *o)
{
	uint32_t first = rd_heap_pop(o->heap, &o->heap_count, earlier, NULL);

	o->queued[first] = 0;
	return first;
}

/* ---- rows ---- */

static uint32_t *own_row(struct predict_search *s, uint32_t e)
{
	struct order *o = &s->order;
	uint32_t n = s->c->threads;

	if (o->row_of[e] == NONE) {
		RD_GROW(o->rows, o->row_capacity, (o->row_count + 1) * n);
		memcpy(o->rows + o->row_count * n, order_row(s, e), n * sizeof *o->rows);
		o->row_of[e] = o->row_count++;
		RD_GROW(o->changed, o->changed_capacity, o->changed_count + 1);
		o->changed[o->changed_count++] = e;
	}
	return o->rows + (size_t)o->row_of[e] * n;
}

/* Orders `from` and all its predecessors before `to`.  Returns false if that makes a cycle. */
static bool put_before(struct predict_search *s, uint32_t from, uint32_t to)
{
	RD_ASSERT(from < s->c->count && to < s->c->count);
	const struct core *c = s->c;
	const struct event *f = &c->events[from], *v = &c->events[to];
	const uint32_t *source = order_row(s, from), *row = order_row(s, to);
	bool more = f->thread != v->thread && row[f->thread] <= f->index;

	if (f->thread == v->thread ? f->index >= v->index : source[v->thread] > v->index)
		return false;
	for (uint32_t t = 0; t < c->threads && !more; t++)
		more = t != v->thread && t != f->thread && source[t] > row[t];
	if (!more)
		return true;
	uint32_t *own = own_row(s, to);
	source = order_row(s, from);
	for (uint32_t t = 0; t < c->threads; t++)
		if (t != v->thread && t != f->thread && source[t] > own[t])
			own[t] = source[t];
	if (f->thread != v->thread && own[f->thread] <= f->index)
		own[f->thread] = f->index + 1;
	enqueue(&s->order, to);
	return true;
}

/* Adds the edge permanently and applies it. */
static bool keep_edge(struct predict_search *s, uint32_t from, uint32_t to)
{
	struct order *o = &s->order;

	RD_GROW(o->edges, o->edge_capacity, o->edge_count + 1);
	o->edges[o->edge_count].to = to;
	o->edges[o->edge_count].next = o->extra[from];
	if (o->extra[from] == NONE) {
		RD_GROW(o->sources, o->source_capacity, o->source_count + 1);
		o->sources[o->source_count++] = from;
	}
	o->extra[from] = o->edge_count++;
	return put_before(s, from, to);
}

/* Does the same as keep_edge(), unless `from` is already ordered before `to`. */
static bool add_edge(struct predict_search *s, uint32_t from, uint32_t to)
{
	const struct event *f = &s->c->events[from], *v = &s->c->events[to];

	if (f->thread == v->thread)
		return f->index < v->index;
	return order_row(s, to)[f->thread] > f->index || keep_edge(s, from, to);
}

/* ---- the rules ---- */

/* A rule finds edges that the order must contain, and passes each edge to `emit`.  If `emit`
 * returns false, the computation ends. */
struct rule {
	struct predict_search *s;
	const uint32_t *p; /* the ideal; NULL for the whole trace, with needs only */
	bool (*emit)(struct rule *r, uint32_t from, uint32_t to);
	uint32_t trigger;
};

static bool in_ideal(const struct rule *r, uint32_t e)
{
	return !r->p || core_in(r->s->c, r->p, e);
}

/* Adds the edge from `from` to `to` if the event `from` is in the ideal (the set of events that
 * must be ordered).  Otherwise stores `from` as the missing event, and returns false. */
static bool add_edge_in(struct predict_search *s, const uint32_t *p, uint32_t from, uint32_t to)
{
	if (core_in(s->c, p, from))
		return add_edge(s, from, to);
	s->order.outside = from;
	return false;
}

static bool emit_now(struct rule *r, uint32_t from, uint32_t to)
{
	return add_edge_in(r->s, r->p, from, to);
}

static bool emit_base(struct rule *r, uint32_t from, uint32_t to)
{
	struct order *o = &r->s->order;
	const struct event *f = &r->s->c->events[from];

	if (f->thread == r->s->c->events[to].thread || order_row(r->s, to)[f->thread] > f->index)
		return true;
	RD_GROW(o->base, o->base_capacity, o->base_count + 1);
	o->base[o->base_count++] = (struct base_edge){from, to, r->trigger};
	return true;
}

/* Applies rule L2 at `e`, the release of a section. */
static bool rule_release(struct rule *r, uint32_t e)
{
	const struct core *c = r->s->c;
	const struct event *v = &c->events[e];
	const struct section *d = &c->sections.list[v->section];

	for (uint32_t i = 0, last; core_next_rival(c, order_row(r->s, e), d, &i, &last);) {
		uint32_t release = c->sections.list[c->events[last].section].release;
		if (release == NONE || !r->emit(r, release, d->acquire))
			return false;
	}
	return true;
}

/* Iterates over the threads that wrote the variable of `e` before `e`, as core_next_rival() does
 * over rivals.  Stores the last such write of each thread in *last. */
static bool next_write(const struct rule *r, uint32_t e, uint32_t *i, uint32_t *last)
{
	const struct event *v = &r->s->c->events[e];
	const struct slots *writes = &r->s->c->writes;

	while (writes->first[v->object] + *i < writes->first[v->object + 1]) {
		const struct slot *slot = &writes->slot[writes->first[v->object] + (*i)++];
		uint32_t limit = slot->thread == v->thread ? v->index : order_row(r->s, e)[slot->thread];
		if (limit <= writes->index[slot->begin])
			continue;
		*last = slots_last(writes, slot, limit);
		return true;
	}
	return false;
}

/* Applies rule R1 at the read `e`. */
static bool rule_read(struct rule *r, uint32_t e)
{
	RD_ASSERT(exec_reads(r->s->c->events[e].kind));
	uint32_t w = r->s->c->writer[e];

	for (uint32_t i = 0, other; next_write(r, e, &i, &other);)
		if (other != w && (w == NONE || !r->emit(r, other, w)))
			return false;
	return true;
}

static bool readers_before(struct rule *r, const struct core_list *l, uint32_t of, uint32_t e)
{
	const struct core *c = r->s->c;

	for (uint32_t i = l->first[of]; i < l->first[of + 1]; i++) {
		uint32_t reader = l->item[i];
		const struct event *f = &c->events[reader];
		if (reader == e || !core_keeps(c, reader) || !in_ideal(r, reader))
			continue;
		if (f->thread != c->events[e].thread && order_row(r->s, e)[f->thread] > f->index)
			continue;
		if (!r->emit(r, reader, e))
			return false;
	}
	return true;
}

/* Applies rule R2 at the write `e`. */
static bool rule_write(struct rule *r, uint32_t e)
{
	RD_ASSERT(exec_writes(r->s->c->events[e].kind));
	for (uint32_t i = 0, w; next_write(r, e, &i, &w);)
		if (!readers_before(r, &r->s->c->readers, w, e))
			return false;
	return true;
}

static bool apply_rules(struct rule *r, uint32_t e)
{
	const struct core *c = r->s->c;
	const struct event *v = &c->events[e];

	r->trigger = e;
	if (v->section != NONE && !exec_acquires(v->kind))
		return rule_release(r, e);
	if (!(c->rf || c->loops) || !exec_is_access(v->kind))
		return true;
	if (exec_reads(v->kind) && core_keeps(c, e) && !rule_read(r, e))
		return false;
	return !exec_writes(v->kind) || rule_write(r, e);
}

/* ---- propagation ---- */

static bool put_before_in(struct predict_search *s, const uint32_t *p, uint32_t from, uint32_t to)
{
	return !core_in(s->c, p, to) || put_before(s, from, to);
}

static bool pass_on(struct predict_search *s, const uint32_t *p, uint32_t e)
{
	const struct core *c = s->c;
	const struct event *v = &c->events[e];

	if (v->index + 1 < p[v->thread] && !put_before(s, e, core_event(c, v->thread, v->index + 1)))
		return false;
	for (uint32_t i = s->must_next.first[e]; i < s->must_next.first[e + 1]; i++)
		if (!put_before_in(s, p, e, s->must_next.item[i]))
			return false;
	if (c->rf && exec_writes(v->kind))
		for (uint32_t i = c->readers.first[e]; i < c->readers.first[e + 1]; i++)
			if (!put_before_in(s, p, e, c->readers.item[i]))
				return false;
	for (uint32_t i = s->order.extra[e]; i != NONE; i = s->order.edges[i].next)
		if (!put_before(s, e, s->order.edges[i].to))
			return false;
	return true;
}

static bool settle(struct predict_search *s, const uint32_t *p)
{
	struct rule r = {.s = s, .p = p, .emit = emit_now};

	while (s->order.heap_count) {
		uint32_t e = dequeue(&s->order);
		s->work -= s->cost;
		if (s->work < 0 || (++s->ticks % 1024 == 0 && search_late(s)))
			return true;
		if (!pass_on(s, p, e) || !apply_rules(&r, e))
			return false;
	}
	return true;
}

/* ---- orders that follow from the ideal alone ---- */

static bool seed_open(struct predict_search *s, const uint32_t *p, const struct section *o)
{
	const struct core *c = s->c;

	for (uint32_t i = 0, last; core_next_rival(c, p, o, &i, &last);) {
		uint32_t release = c->sections.list[c->events[last].section].release;
		if (release == NONE || !core_in(c, p, release) || !add_edge(s, release, o->acquire))
			return false;
	}
	return true;
}

/* Orders the first write of each thread after `reader`, which reads the initial value. */
static bool seed_initial(struct predict_search *s, const uint32_t *p, uint32_t reader)
{
	const struct core *c = s->c;
	const struct event *v = &c->events[reader];
	const struct slots *writes = &c->writes;

	for (uint32_t i = writes->first[v->object]; i < writes->first[v->object + 1]; i++) {
		const struct slot *slot = &writes->slot[i];
		uint32_t first = writes->item[slot->begin];
		if (first != reader && core_in(c, p, first) && !add_edge(s, reader, first))
			return false;
	}
	return true;
}

static bool consumed(const struct predict_search *s, const uint32_t *p, uint32_t note)
{
	const struct core *c = s->c;

	if (c->events[note].kind != EXEC_SIGNAL)
		return false;
	for (uint32_t i = c->wakes.first[note]; i < c->wakes.first[note + 1]; i++)
		if (core_in(c, p, c->wakes.item[i]))
			return true;
	return false;
}

/* Applies rule H to the target `wake`. */
static bool seed_lost(struct predict_search *s, const uint32_t *p, uint32_t wake)
{
	const struct core *c = s->c;
	const struct slots *notes = &c->notes;
	uint32_t cond = c->events[wake].object;

	for (uint32_t i = notes->first[cond]; i < notes->first[cond + 1]; i++) {
		const struct slot *slot = &notes->slot[i];
		uint32_t n = slots_below(notes, slot, p[slot->thread]);
		while (n && consumed(s, p, notes->item[slot->begin + n - 1]))
			n--;
		if (n && !add_edge(s, notes->item[slot->begin + n - 1], c->partner[wake]))
			return false;
	}
	return true;
}

/* Applies rule W to the wakes of `note`. */
static bool seed_waits(struct predict_search *s, const uint32_t *p, uint32_t note)
{
	const struct core *c = s->c;

	for (uint32_t i = c->wakes.first[note]; i < c->wakes.first[note + 1]; i++) {
		uint32_t wake = c->wakes.item[i];
		if (core_in(c, p, wake) && !add_edge(s, c->partner[wake], note))
			return false;
	}
	return true;
}

static bool seed_conditions(struct predict_search *s, const uint32_t *p)
{
	const struct core *c = s->c;

	if (!c->has_conds)
		return true;
	/* Rule H is left out if only firm orders count, because a larger ideal may consume more
	 * notifications. */
	for (uint32_t i = 0; i < s->target_count && !s->order.firm; i++)
		if (c->events[s->targets[i]].kind == EXEC_WAKE && !seed_lost(s, p, s->targets[i]))
			return false;
	if (!c->rf)
		return true;
	for (uint32_t i = 0; i < c->notes.first[c->conds]; i++) {
		const struct slot *slot = &c->notes.slot[i];
		uint32_t n = slots_below(&c->notes, slot, p[slot->thread]);
		for (uint32_t k = 0; k < n; k++)
			if (!seed_waits(s, p, c->notes.item[slot->begin + k]))
				return false;
	}
	return true;
}

/* Applies rule B: an acquisition that failed because of a section happens within that section. */
static bool seed_busy(struct predict_search *s, const uint32_t *p)
{
	const struct core *c = s->c;

	for (uint32_t i = 0; i < c->busy_count && c->rf; i++) {
		uint32_t e = c->busy[i];
		if (c->partner[e] == NONE || !core_in(c, p, e))
			continue;
		const struct section *o = &c->sections.list[c->partner[e]];
		if (!keep_edge(s, o->acquire, e))
			return false;
		if (o->release != NONE && core_in(c, p, o->release) && !add_edge(s, e, o->release))
			return false;
	}
	return true;
}

bool order_seed(struct predict_search *s, const uint32_t *p)
{
	const struct core *c = s->c;

	s->order.outside = NONE;
	for (uint32_t t = 0; t < c->threads; t++)
		for (uint32_t h = core_open(c, t, p[t]); h != NONE; h = c->sections.holds[h].next) {
			uint32_t section = c->sections.holds[h].section;
			if (s->order.firm && section != s->order.also && !search_stays_open(s, section))
				continue;
			if (!seed_open(s, p, &c->sections.list[section]))
				return false;
		}
	if (c->rf || c->loops) {
		uint32_t n = c->initial_readers.first[c->variables];
		s->work -= n / READERS_STEP;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t reader = c->initial_readers.item[i];
			if (core_keeps(c, reader) && core_in(c, p, reader) && !seed_initial(s, p, reader))
				return false;
		}
	}
	return seed_busy(s, p) && seed_conditions(s, p) && settle(s, p);
}

static void find_base(struct predict_search *s)
{
	struct rule r = {.s = s, .emit = emit_base};

	order_reset(s);
	for (uint32_t e = 0; e < s->c->count; e++)
		apply_rules(&r, e);
	s->order.base_known = true;
}

bool order_saturate(struct predict_search *s, const uint32_t *p)
{
	const struct core *c = s->c;

	if (!s->order.base_known) {
		find_base(s);
		if (!order_seed(s, p))
			return false;
	}
	for (size_t i = 0; i < s->order.base_count; i++) {
		struct base_edge *b = &s->order.base[i];
		if (!core_in(c, p, b->trigger))
			continue;
		/* By rule R2, the reader may be outside the ideal. */
		bool optional = b->trigger == b->to;
		if (optional && !core_in(c, p, b->from))
			continue;
		if (!add_edge_in(s, p, b->from, b->to))
			return false;
	}
	return settle(s, p);
}
