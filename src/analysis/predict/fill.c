/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns a model into an execution.
 *
 * A segment is an operation and the accesses after it.  Segments are added in the order of their
 * operations. Accesses to bytes that several threads touch become accesses to variables
 * (granule-int.h).  A second access to a variable from the same site within a segment adds no
 * information and is left out.  Traces that order all accesses are an exception, because their
 * users count accesses.
 *
 * order/fill.c turns operations into events, and this file adds the accesses.
 *
 * A relaxed read-modify-write continues a release sequence, so it synchronises if some other write
 * to the same variable does.  A relaxed write after a fence of its thread is treated as a release,
 * and a relaxed read before a fence as an acquire.  The order takes effect at the access, not at
 * the fence.  These rules can hide a race but not invent one.
 *
 * Events that contradict the meaning of a primitive are dropped and counted.  Examples are a mutex
 * taken over from a dead thread, and one unlocked by a library that was not recorded.
 */
#include "predict/fill.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/map.h"
#include "predict/granule-int.h"
#include "order/fill.h"
#include "order/machine.h"
#include "predict/overlap-int.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct segment {
	uint64_t q;
	/* EXEC_NONE represents the accesses before the first operation. */
	uint32_t thread, operation;
	struct predict_span span; /* when it ran, in numbers of segments */
};

/* The last access to a variable.  It is enough to recognise most repeated accesses in a loop. */
struct latest {
	uint64_t serial;
	uint32_t site;
};

/* A thread's first releasing fence and last acquiring fence, as operations. */
struct fences {
	uint32_t release, acquire;
	bool releases, acquires;
};

struct filler {
	struct predict_trace *t;
	const struct model *m;
	struct granules *granules;
	struct latest *latest; /* the last access to each variable */
	/* For each variable that represents a file descriptor, the variable that replaced it when
	 * the descriptor was last opened, or EXEC_NONE if none did. */
	uint32_t *opened;
	size_t variable_capacity;
	struct order_filler order;
	/* Maps (variable, site) to the latest segment in which the site accessed the variable. */
	struct rd_umap last;
	struct rd_umap uses;	    /* the set of kept uses of locks, as (thread, access) */
	struct predict_span *spans; /* when each event may have happened */
	size_t span_capacity;
	uint64_t serial; /* number of the current segment */
	uint32_t seen;
	struct fences *fences; /* the fences of each thread */
	/* From this q on, accesses may be missing from the trace.  It is 0 if none are missing. */
	uint64_t thin_q;
};

/* ---- events ---- */

/* Sets the origin, span and site of the events from number `before` on. */
static void complete(struct filler *f, const struct segment *at, size_t before)
{
	RD_ASSERT(before <= f->t->x.count);
	struct predict_trace *t = f->t;
	const struct model_history *h = &f->m->histories[at->thread];

	RD_GROW(t->origins, t->origin_capacity, t->x.count);
	if (!f->m->ordered)
		RD_GROW(f->spans, f->span_capacity, t->x.count);
	for (size_t i = before; i < t->x.count; i++) {
		t->origins[i] = (struct predict_origin){at->operation, f->seen};
		if (!f->m->ordered)
			f->spans[i] = at->span;
		if (at->operation != EXEC_NONE)
			t->x.events[i].site = f->m->stacks[h->operations[at->operation].stack].site;
	}
}

/* Returns true if the site has accessed the variable in this segment before. */
static bool is_repeated(struct filler *f, uint32_t variable, uint32_t site)
{
	struct latest *latest = &f->latest[variable];

	if (!site)
		return false;
	if (latest->serial == f->serial && latest->site == site)
		return true;
	*latest = (struct latest){f->serial, site};
	uint64_t *last = rd_umap_put(&f->last, (uint64_t)variable << 32 | site, NULL);
	if (*last == f->serial)
		return true;
	*last = f->serial;
	return false;
}

/* Returns true if a relaxed atomic synchronises because of a fence of its thread. */
static bool is_fenced(const struct filler *f, const struct segment *at, enum exec_kind kind)
{
	const struct fences *fences = &f->fences[at->thread];

	return (exec_writes(kind) && fences->releases && fences->release < at->operation) ||
	       (exec_reads(kind) && fences->acquires && fences->acquire > at->operation);
}

/* Returns the variable of a granule.  When a file descriptor is opened again, it becomes a new
 * variable. */
static uint32_t variable_of(struct filler *f, const struct granule_walk *w)
{
	struct predict_trace *t = f->t;
	uint32_t *opened;

	if (!model_is_descriptors(f->m, w->access->object))
		return w->variable;
	opened = &f->opened[w->variable];
	if (w->access->write && w->access->size > 1) {
		*opened = t->x.variables++;
		RD_GROW(t->variables, f->variable_capacity, t->x.variables);
		t->variables[*opened] = (struct predict_variable){0};
	}
	return *opened == EXEC_NONE ? w->variable : *opened;
}

/* Returns true if an access is the use of a lock or of another synchronisation object. */
static bool is_use(const struct trace_site *site, const struct model_access *a)
{
	return site && site->kind == TRACE_SITE_CALL && !a->write;
}

static void add_access(struct filler *f, const struct segment *at, uint32_t index,
		       const struct granule_walk *w)
{
	const struct model_access *a = w->access;
	const struct trace_site *site = trace_sites_find(f->m->sites, a->site);
	enum exec_kind kind = a->write ? EXEC_WRITE : EXEC_READ;
	bool atomic = site && site->kind >= TRACE_SITE_ATOMIC_LOAD && site->kind <= TRACE_SITE_ATOMIC_CMPXCHG;
	struct predict_span none = {0}, *span; /* an imported trace has no spans */
	uint32_t variable = variable_of(f, w);
	struct predict_variable *v = &f->t->variables[variable];

	if (!v->size)
		*v = (struct predict_variable){a->object, w->offset, w->size};
	if (atomic && a->write && site->kind != TRACE_SITE_ATOMIC_STORE)
		kind = EXEC_UPDATE;
	struct exec_event *e = exec_add(&f->t->x, kind, at->thread, variable);
	complete(f, at, f->t->x.count - 1);
	f->t->origins[f->t->x.count - 1].index = index;
	e->site = a->site;
	span = f->m->ordered ? &none : &f->spans[f->t->x.count - 1];
	if (atomic) {
		e->flags |= EXEC_ATOMIC | (site->order != 'x' || is_fenced(f, at, kind) ? EXEC_SYNC : 0);
		span->end = span->begin;
	} else if (is_use(site, a)) {
		e->flags |= EXEC_ATOMIC; /* uses do not race with one another */
		span->begin = span->end;
	}
	/* The file that a descriptor denotes depends on the thread that closed the descriptor
	 * last. */
	if ((site && site->flags & TRACE_SITE_WAIT_LOOP) ||
	    (!a->write && model_is_descriptors(f->m, a->object)))
		e->flags |= EXEC_LOOP;
}

/* Returns true if the granule is the second byte of a file descriptor.  This byte only marks that
 * the descriptor was opened.
 */
static bool is_mark(const struct model *m, const struct granule_walk *w)
{
	return w->offset % RADDLE_DESCRIPTOR_BYTES != 0 && model_is_descriptors(m, w->access->object);
}

/* A use of a lock. */
struct lock_use {
	const struct model_access *access;
	uint32_t index; /* index in the accesses of the thread */
};

static int compare_uses(const void *left, const void *right)
{
	const struct lock_use *a = left, *b = right;

	RD_BY(a->access->object, b->access->object);
	RD_BY(a->access->offset, b->access->offset);
	RD_BY(a->access->site, b->access->site);
	return (a->index > b->index) - (a->index < b->index);
}

static bool same_lock(const struct lock_use *a, const struct lock_use *b)
{
	return a->access->object == b->access->object && a->access->offset == b->access->offset;
}

static uint64_t use_key(uint32_t thread, uint32_t index)
{
	return (uint64_t)thread << 32 | index;
}

/* Keeps some of the sorted uses: the first use of each lock, and the last use of each lock by each
 * site. */
static void keep_uses(struct filler *f, uint32_t thread, const struct lock_use *uses, size_t count)
{
	uint32_t first = 0;

	for (size_t i = 0; i < count; i++) {
		bool is_last = i + 1 == count || !same_lock(&uses[i], &uses[i + 1]);

		if (!i || !same_lock(&uses[i - 1], &uses[i]) || uses[i].index < first)
			first = uses[i].index;
		if (is_last || uses[i].access->site != uses[i + 1].access->site)
			rd_umap_put(&f->uses, use_key(thread, uses[i].index), NULL);
		if (is_last)
			rd_umap_put(&f->uses, use_key(thread, first), NULL);
	}
}

/* Keeps only a thread's first use of a lock and the last use by each site.  An access that races
 * with any use also races with one of these. */
static void choose_uses(struct filler *f, uint32_t thread)
{
	const struct model_history *h = &f->m->histories[thread];
	struct lock_use *uses = NULL;
	size_t count = 0, capacity = 0;

	for (size_t i = 0; i < h->access_count; i++) {
		const struct model_access *a = &h->accesses[i];
		if (!is_use(trace_sites_find(f->m->sites, a->site), a))
			continue;
		RD_GROW(uses, capacity, count + 1);
		uses[count++] = (struct lock_use){a, (uint32_t)i};
	}
	if (count)
		qsort(uses, count, sizeof *uses, compare_uses);
	keep_uses(f, thread, uses, count);
	free(uses);
}

static bool is_needless(const struct filler *f, uint32_t thread, size_t index)
{
	const struct model_access *a = &f->m->histories[thread].accesses[index];

	return is_use(trace_sites_find(f->m->sites, a->site), a) &&
	       !rd_umap_get(&f->uses, use_key(thread, (uint32_t)index));
}

/* Handles a thread that increments a count and then waits for it (`if (++count < n) wait`).  The
 * wait loop reads the thread's own write.  The thread read the values of other threads before this
 * write, in the same segment.  So EXEC_LOOP is set for all reads of the variable in the
 * segment. */
static void spread_loops(struct filler *f, size_t first)
{
	struct exec_event *events = f->t->x.events;

	for (size_t i = first; i < f->t->x.count; i++) {
		if (!(events[i].flags & EXEC_LOOP))
			continue;
		for (size_t k = first; k < f->t->x.count; k++)
			if (events[k].object == events[i].object && exec_reads(events[k].kind))
				events[k].flags |= EXEC_LOOP;
	}
}

static void add_accesses(struct filler *f, const struct segment *at)
{
	size_t first = f->t->x.count;
	const struct model_history *h = &f->m->histories[at->thread];
	size_t next = at->operation + 1u; /* EXEC_NONE + 1 is 0 */
	size_t begin = at->operation == EXEC_NONE ? 0 : h->operations[at->operation].access;
	size_t end = next < h->operation_count ? h->operations[next].access : h->access_count;

	f->serial++;
	for (size_t i = begin; i < end; i++) {
		struct granule_walk w = granules_of(f->granules, &h->accesses[i]);
		if (is_needless(f, at->thread, i))
			continue;
		while (granule_next(&w))
			if (f->m->ordered ||
			    (!is_mark(f->m, &w) && !is_repeated(f, w.variable, w.access->site)))
				add_access(f, at, (uint32_t)i, &w);
	}
	spread_loops(f, first);
}

/* ---- operations ---- */

static struct order_op operation_of(const struct filler *f, const struct segment *at)
{
	const struct model_operation *op = &f->m->histories[at->thread].operations[at->operation];

	return (struct order_op){.thread = at->thread,
				 .kind = op->kind,
				 .class = op->sync == MODEL_NONE ? raddle_class(op->kind)
								 : f->m->syncs[op->sync].class,
				 .object = op->sync,
				 .second = op->second,
				 .value = op->value};
}

/* Returns true if the trace may lack accesses during the segment: accesses of the segment itself,
 * or writes by other threads whose values it read.  After such a segment, no value is certain.
 * The result is always false for segments before the part of the run that the model contains. */
static bool is_thinned(const struct filler *f, const struct segment *at)
{
	const struct model_history *h = &f->m->histories[at->thread];
	size_t next = at->operation + 1u; /* EXEC_NONE + 1 is 0 */

	return f->thin_q && at->q >= f->m->part.from &&
	       (next >= h->operation_count || h->operations[next].q >= f->thin_q);
}

static void do_segment(struct filler *f, const struct segment *at)
{
	const struct model_history *h = &f->m->histories[at->thread];
	size_t first = f->t->x.count;

	if (at->operation != EXEC_NONE) {
		const struct model_operation *op = &h->operations[at->operation];
		const struct order_op order = operation_of(f, at);
		size_t before = f->t->x.count;
		f->seen += raddle_is_counted(op->kind);
		order_fill(&f->order, &order);
		complete(f, at, before);
	}
	add_accesses(f, at);
	if (is_thinned(f, at))
		for (size_t i = first; i < f->t->x.count; i++)
			f->t->x.events[i].flags |= EXEC_UNSURE;
}

/* ---- the execution ---- */

static int compare_segments(const void *left, const void *right)
{
	const struct segment *a = left, *b = right;

	RD_BY(a->q, b->q);
	RD_BY(a->thread, b->thread);
	/* EXEC_NONE means "before the first operation"; adding 1 turns it into 0. */
	return (a->operation + 1 > b->operation + 1) - (a->operation + 1 < b->operation + 1);
}

/* Notes a fence.  The memory order of a fence is not an operand of its record.  It is looked up in
 * the fence's site, if the site is known. */
static void note_fence(struct filler *f, uint32_t thread, uint32_t operation)
{
	const struct model_operation *op = &f->m->histories[thread].operations[operation];
	const struct trace_site *site = trace_sites_find(f->m->sites, op->value);
	struct fences *fences = &f->fences[thread];

	if (!fences->releases && (!site || site->order != 'a')) {
		fences->releases = true;
		fences->release = operation;
	}
	if (!site || site->order != 'r') {
		fences->acquires = true;
		fences->acquire = operation;
	}
}

/* Collects what must be known before the first event is added. */
static void look_ahead(struct filler *f, uint32_t thread, uint32_t operation)
{
	const struct model_operation *op = &f->m->histories[thread].operations[operation];

	if (op->kind == RADDLE_FENCE)
		note_fence(f, thread, operation);
	if (op->kind == RADDLE_MUTEX_LOCK && op->value == EOWNERDEAD && op->sync != MODEL_NONE)
		order_fill_robust(&f->order, op->sync);
}

/* Finds when the accesses of each segment may have happened.  After recording an access, the
 * runtime does not record further accesses to the same bytes until an operation of certain kinds
 * (raddle_ends_segment()).  So the recorded access represents them too. */
static void find_spans(const struct filler *f, struct segment *all, size_t count)
{
	uint32_t *next = rd_xmalloc((f->m->thread_count + 1) * sizeof *next);

	for (size_t i = 0; i < f->m->thread_count; i++)
		next[i] = (uint32_t)count;
	for (size_t i = count; i-- > 0;) {
		struct segment *s = &all[i];
		const struct model_operation *op =
			s->operation == EXEC_NONE ? NULL
						  : &f->m->histories[s->thread].operations[s->operation];
		s->span.begin = (uint32_t)i;
		s->span.end = next[s->thread];
		if (!op || raddle_ends_segment(op->kind, op->value))
			next[s->thread] = (uint32_t)i;
	}
	free(next);
}

/* Finds locks that one thread acquires and another releases, and locks that stay locked.  Both
 * kinds must be known before the first event is added. */
static void look_at_locks(struct filler *f, const struct segment *all, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct order_op op;

		if (all[i].operation == EXEC_NONE)
			continue;
		op = operation_of(f, &all[i]);
		order_fill_look_ahead(&f->order, &op);
	}
}

static void do_segments(struct filler *f)
{
	size_t count = 0, n = 0;

	for (size_t i = 0; i < f->m->thread_count; i++)
		count += f->m->histories[i].operation_count + 1;
	struct segment *all = rd_xmalloc((count + 1) * sizeof *all);
	for (uint32_t i = 0; i < f->m->thread_count; i++) {
		const struct model_history *h = &f->m->histories[i];
		uint64_t q = 0;
		all[n++] = (struct segment){.thread = i, .operation = EXEC_NONE};
		choose_uses(f, i);
		for (uint32_t k = 0; k < h->operation_count; k++) {
			q = h->operations[k].q > q ? h->operations[k].q : q;
			all[n++] = (struct segment){.q = q, .thread = i, .operation = k};
			look_ahead(f, i, k);
		}
	}
	qsort(all, n, sizeof *all, compare_segments);
	if (!f->m->ordered)
		find_spans(f, all, n);
	look_at_locks(f, all, n);
	for (size_t i = 0; i < n; i++) {
		if (all[i].q < f->m->part.from)
			f->t->begin = EXEC_NONE;
		else if (f->t->begin == EXEC_NONE)
			f->t->begin = (uint32_t)f->t->x.count;
		do_segment(f, &all[i]);
	}
	if (f->t->begin == EXEC_NONE)
		f->t->begin = (uint32_t)f->t->x.count;
	free(all);
}

/* Determines which unfinished operations are treated as waits that may last forever.  A program
 * that was killed from outside may have hung.  However, a thread that waited for work, or for any
 * of several threads, might have been woken later.  Only a wait for a lock, or for the end of a
 * thread, depends on a single other thread. */
enum pending { PENDING_NONE, PENDING_OWNED, PENDING_ALL };

static enum pending pending_of(const struct trace_meta *meta)
{
	static const int outside[] = {SIGINT, SIGTERM, SIGKILL, SIGALRM, SIGHUP, SIGQUIT};

	if (meta->stood)
		return PENDING_ALL;
	for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
		if (meta->end == TRACE_SIGNALLED && meta->code == outside[i])
			return PENDING_OWNED;
	return PENDING_NONE;
}

static bool is_owned(enum raddle_event kind)
{
	return raddle_role(kind) == RADDLE_ROLE_REQUEST && raddle_class(kind) != RADDLE_CLASS_SEM;
}

static void add_pending(struct filler *f, uint32_t thread, enum pending pending)
{
	RD_ASSERT(thread < f->m->thread_count);
	const struct model_history *h = &f->m->histories[thread];
	struct segment at = {.thread = thread, .operation = (uint32_t)h->operation_count - 1};
	size_t before = f->t->x.count;
	struct order_op op;

	if (h->operation_count == 0)
		return;
	op = operation_of(f, &at);
	if (pending == PENDING_OWNED && !is_owned(op.kind))
		return;
	order_fill_pending(&f->order, &op);
	complete(f, &at, before);
}

/* Returns true if the program uses the value that an acquiring access read. */
static bool is_seen(const struct model *m, const struct exec_event *e)
{
	const struct trace_site *site = trace_sites_find(m->sites, e->site);

	return exec_reads(e->kind) && e->flags & EXEC_SYNC &&
	       !(e->kind == EXEC_UPDATE && site && site->flags & TRACE_SITE_UNSEEN);
}

/* RELEASED is set if some write to the variable is a release, and SEEN if the program uses the
 * variable's value. */
enum { RELEASED = 1, SEEN = 2 };

/* Makes relaxed updates continue release sequences.  The order of the updates is ignored if no
 * thread uses the value of the atomic variable, as with a counter that is only incremented. */
static void synchronise_updates(const struct model *m, struct exec *x)
{
	uint8_t *found = rd_xcalloc((size_t)x->variables + 1, 1);

	for (size_t i = 0; i < x->count; i++)
		if (exec_writes(x->events[i].kind) && x->events[i].flags & EXEC_SYNC)
			found[x->events[i].object] |= RELEASED;
	for (size_t i = 0; i < x->count; i++) {
		struct exec_event *e = &x->events[i];
		if (e->kind == EXEC_UPDATE && found[e->object] & RELEASED)
			e->flags |= EXEC_SYNC;
		if (exec_is_access(e->kind) && is_seen(m, e))
			found[e->object] |= SEEN;
	}
	for (size_t i = 0; i < x->count; i++)
		if (exec_is_access(x->events[i].kind) && !(found[x->events[i].object] & SEEN))
			x->events[i].flags &= (uint8_t)~EXEC_SYNC;
	free(found);
}

/* Drops impossible events; returns their number. */
static size_t drop_impossible(struct predict_trace *t)
{
	struct exec *x = &t->x;
	uint8_t *bad = rd_xcalloc(x->count + 1, 1);
	struct machine m;
	size_t kept = 0, count = x->count, begin = 0;

	machine_init(&m, x);
	for (uint32_t i = 0; i < count; i++)
		bad[i] = machine_step(&m, i) != NULL;
	machine_release(&m);
	for (size_t i = 0; i < count; i++) {
		if (bad[i])
			continue;
		begin += i < t->begin;
		x->events[kept] = x->events[i];
		t->origins[kept++] = t->origins[i];
	}
	x->count = kept;
	t->begin = (uint32_t)begin;
	free(bad);
	return count - kept;
}

static int fill(struct predict_trace *t, const struct model *model, enum pending pending)
{
	RD_ASSERT(model->histories != NULL || model->thread_count == 0);
	struct filler f = {.t = t, .m = model};
	size_t threads = model->thread_count + 1, dropped;

	*t = (struct predict_trace){.model = model};
	exec_init(&t->x);
	if (model->thread_count >= UINT16_MAX - 1)
		return rd_fail(RD_ELIMIT, "predict: the run has %zu threads; %d is the limit",
			       model->thread_count, UINT16_MAX - 2);
	t->x.threads = (uint32_t)model->thread_count;
	order_filler_init(&f.order, &t->x);
	f.order.hung = pending != PENDING_NONE;
	f.fences = rd_xcalloc(threads, sizeof *f.fences);
	f.thin_q = trace_get_meta(model->trace)->left_from;
	f.granules = granules_new(model);
	t->x.variables = granules_variables(f.granules);
	t->variables = rd_xcalloc((size_t)t->x.variables + 1, sizeof *t->variables);
	f.variable_capacity = (size_t)t->x.variables + 1;
	f.opened = rd_xmalloc(f.variable_capacity * sizeof *f.opened);
	memset(f.opened, 0xff, f.variable_capacity * sizeof *f.opened);
	f.latest = rd_xcalloc((size_t)t->x.variables + 1, sizeof *f.latest);
	do_segments(&f);
	if (!model->ordered)
		predict_mark_unsure(&t->x, f.spans);
	t->hung = pending != PENDING_NONE && model->part.to == UINT64_MAX;
	for (uint32_t i = 0; t->hung && i < model->thread_count; i++)
		add_pending(&f, i, pending);
	synchronise_updates(model, &t->x);
	while ((dropped = drop_impossible(t)) > 0)
		t->dropped += dropped;
	exec_match_signals(&t->x);
	t->handed = f.order.handed;
	granules_free(f.granules);
	RD_FREE(f.latest, f.opened, f.spans);
	RD_UMAP_RELEASE(&f.last, &f.uses);
	free(f.fences);
	order_filler_release(&f.order);
	return RD_OK;
}

int predict_fill(struct predict_trace *t, const struct model *model)
{
	return fill(t, model, pending_of(trace_get_meta(model->trace)));
}

int predict_fill_stuck(struct predict_trace *t, const struct model *model)
{
	return fill(t, model, PENDING_ALL);
}

void predict_trace_release(struct predict_trace *t)
{
	exec_release(&t->x);
	free(t->origins);
	free(t->variables);
	*t = (struct predict_trace){0};
}
