/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predictions come in, findings go out.  Everything a finding says is looked up
 * here from the origin of its events: the object with its allocation or
 * declaration, call stacks, the locks a thread holds, the threads with their
 * creation, and the schedule in terms that survive from run to run.
 */
#include "predict/describe.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/compare.h"
#include "base/error.h"
#include "finding/schedule.h"
#include "order/fill.h"
#include "predict/plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A goal whose access is still to be found in its thread's stream. */
struct unplaced {
	struct schedule *schedule;
	uint32_t goal, thread;
	size_t access; /* of the thread's history */
};

struct describer {
	const struct predict_trace *t;
	const struct model *m;
	struct finding_set *set;
	const char **sync_names; /* made when needed; NULL: nothing is kept */
	struct lines lines;
	struct unplaced *unplaced;
	size_t unplaced_count, unplaced_capacity;
};

/* A lock that a thread holds. */
struct held {
	uint32_t sync, operation, depth;
	bool shared;
};

struct held_list {
	struct held *items;
	size_t count, capacity;
};

/* ---- places ---- */

static const struct model_operation *operation_of(const struct describer *d, uint32_t event)
{
	const struct exec_event *e = &d->t->x.events[event];
	return &d->m->histories[e->thread].operations[d->t->origins[event].index];
}

static const char *name_of(struct finding_set *set, struct rd_buf *b)
{
	const char *name = finding_text(set, b->data);

	rd_buf_release(b);
	return name;
}

/* A lock on a stack lives as long as its variable, so any time will do. */
static const char *sync_name(const struct describer *d, uint32_t sync)
{
	const struct model_sync *s = &d->m->syncs[sync];
	struct model_variable v;
	struct rd_buf b = RD_BUF_INIT;
	const char *name;

	if (d->sync_names && d->sync_names[sync])
		return d->sync_names[sync];
	if (model_find_variable(d->m, s->object, s->offset, 0, &v))
		model_name_variable(d->m, &v, &b);
	else
		model_name_sync(d->m, sync, &b);
	name = name_of(d->set, &b);
	if (d->sync_names)
		d->sync_names[sync] = name;
	return name;
}

static size_t count_frames(const struct describer *d, uint32_t site, uint32_t stack)
{
	const struct trace_site *s = trace_sites_find(d->m->sites, site);
	size_t n = site ? 1 + (s ? s->chain_length : 0) : 0;

	for (; stack; stack = d->m->stacks[stack].parent) {
		s = trace_sites_find(d->m->sites, d->m->stacks[stack].site);
		n += 1 + (s ? s->chain_length : 0);
	}
	return n;
}

static const char *known(const char *text)
{
	return text && *text ? text : NULL;
}

static size_t put_frames(const struct describer *d, uint32_t site, struct finding_frame *frames)
{
	const struct trace_sites *sites = d->m->sites;
	const struct trace_site *s = trace_sites_find(sites, site);
	size_t n = 1;

	if (!s)
		return n;
	frames[0].function = finding_text(d->set, known(s->function));
	frames[0].file = finding_text(d->set, known(trace_sites_file(sites, s->file)));
	frames[0].line = s->line;
	frames[0].column = s->column;
	for (; n <= s->chain_length; n++) {
		const struct trace_inlined *i = &sites->chains[s->chain + n - 1];
		frames[n].function = finding_text(d->set, known(i->function));
		frames[n].file = finding_text(d->set, known(trace_sites_file(sites, i->file)));
		frames[n].line = i->line;
	}
	return n;
}

/* The frames of a site, if it is not 0, and of a call stack. */
static struct finding_stack stack_of(const struct describer *d, uint32_t site, uint32_t stack)
{
	struct finding_stack s = {.count = count_frames(d, site, stack)};
	size_t n = 0;

	s.frames = finding_array(d->set, s.count, sizeof *s.frames);
	if (site)
		n = put_frames(d, site, s.frames);
	for (; stack; stack = d->m->stacks[stack].parent)
		n += put_frames(d, d->m->stacks[stack].site, s.frames + n);
	return s;
}

static struct schedule_place place_of(const struct describer *d, struct schedule *s, uint32_t site)
{
	const struct trace_site *at = trace_sites_find(d->m->sites, site);
	struct schedule_place p = {0};

	if (!at)
		return p;
	p.file = schedule_text(s, known(trace_sites_file(d->m->sites, at->file)));
	p.function = schedule_text(s, known(at->function));
	p.line = at->line;
	p.column = at->column;
	return p;
}

/* ---- locks ---- */

static void take(struct held_list *l, uint32_t sync, uint32_t operation, bool shared)
{
	for (size_t i = 0; i < l->count; i++) {
		if (l->items[i].sync == sync) {
			l->items[i].depth++;
			return;
		}
	}
	RD_GROW(l->items, l->capacity, l->count + 1);
	l->items[l->count++] = (struct held){sync, operation, 1, shared};
}

static void give(struct held_list *l, uint32_t sync, bool whole)
{
	for (size_t i = 0; i < l->count; i++) {
		if (l->items[i].sync != sync)
			continue;
		if (whole || --l->items[i].depth == 0) {
			memmove(&l->items[i], &l->items[i + 1], (l->count - i - 1) * sizeof *l->items);
			l->count--;
		}
		return;
	}
}

/* The locks a thread holds after its first `count` operations. */
static struct finding_lock *locks_at(const struct describer *d, uint32_t thread, size_t count, size_t *n)
{
	const struct model_history *h = &d->m->histories[thread];
	struct held_list l = {0};

	for (uint32_t i = 0; i < count; i++) {
		const struct model_operation *op = &h->operations[i];
		bool wait = raddle_is_cond_wait(op->kind), shared;
		int change = order_lock_change(op->kind, op->value, &shared);
		uint32_t sync = wait ? op->second : op->sync;
		if (sync == MODEL_NONE || !change)
			continue;
		if (change > 0)
			take(&l, sync, i, shared);
		else
			give(&l, sync, wait);
	}
	struct finding_lock *locks = finding_array(d->set, l.count, sizeof *locks);
	for (size_t i = 0; i < l.count; i++) {
		locks[i].name = sync_name(d, l.items[i].sync);
		locks[i].kind = trace_class_name(d->m->syncs[l.items[i].sync].class);
		locks[i].shared = l.items[i].shared;
		locks[i].stack = stack_of(d, 0, h->operations[l.items[i].operation].stack);
	}
	*n = l.count;
	free(l.items);
	return locks;
}

/* ---- operations in schedules ---- */

static uint32_t counted(const struct describer *d, uint32_t thread, uint32_t operation)
{
	return operation == EXEC_NONE ? 0 : d->m->histories[thread].operations[operation].counted;
}

/* The last operation before an access; EXEC_NONE: it comes before all. */
static uint32_t operation_before(const struct model_history *h, size_t access)
{
	uint32_t next = 0;

	RD_BISECT(next, h->operation_count, at, h->operations[at].access <= access);
	return next ? next - 1 : EXEC_NONE;
}

static const char *object_text(const struct describer *d, struct schedule *s,
			       const struct model_operation *op)
{
	if (op->sync != MODEL_NONE)
		return schedule_text(s, sync_name(d, op->sync));
	return op->second != MODEL_NONE ? schedule_text(s, d->m->threads[op->second].name) : NULL;
}

/* A plan is in order, so the last number that was put for a thread is the largest. */
static void add_ops(const struct describer *d, const struct predict_plan *plan, struct schedule *s)
{
	uint64_t *last = rd_xcalloc(d->m->thread_count + 1, sizeof *last);

	for (size_t i = 0; i < plan->count; i++) {
		uint32_t event = plan->events[i], thread = d->t->x.events[event].thread;
		const struct model_operation *from = operation_of(d, event);
		uint64_t n = counted(d, thread, d->t->origins[event].index);
		if (n == last[thread] || !raddle_is_counted(from->kind))
			continue; /* the end of a thread may release several locks at once */
		struct schedule_op *op = schedule_add_op(s);
		op->thread = schedule_text(s, d->m->threads[thread].name);
		op->n = last[thread] = n;
		op->kind = trace_kind(from->kind)->name;
		op->object = object_text(d, s, from);
		op->seen = d->t->origins[event].seen;
		op->place = place_of(d, s, d->m->stacks[from->stack].site);
	}
	free(last);
}

/* The operation an event belongs to. */
static uint32_t operation_at(const struct describer *d, uint32_t event)
{
	const struct exec_event *e = &d->t->x.events[event];
	uint32_t index = d->t->origins[event].index;

	return exec_is_access(e->kind) ? operation_before(&d->m->histories[e->thread], index) : index;
}

/* Whether the operation of `done` has more events: the thread has not done it yet. */
static bool is_half_done(const struct describer *d, uint32_t done)
{
	const struct exec *x = &d->t->x;
	uint16_t thread = x->events[done].thread;

	if (exec_is_access(x->events[done].kind))
		return false;
	for (uint32_t i = done + 1; i < x->count; i++)
		if (x->events[i].thread == thread)
			return !exec_is_access(x->events[i].kind) && !(x->events[i].flags & EXEC_PENDING) &&
			       d->t->origins[i].index == d->t->origins[done].index;
	return false;
}

/* What a thread has done before the part that the model has. */
static uint32_t counted_before(const struct describer *d, uint32_t thread)
{
	const struct model_history *h = &d->m->histories[thread];
	uint32_t n = 0;

	for (size_t i = 0; i < h->operation_count && h->operations[i].q < d->m->part.from; i++)
		n = h->operations[i].counted;
	return n;
}

static void add_limits(const struct describer *d, const struct predict_witness *w,
		       const struct predict_plan *plan, struct schedule *s)
{
	for (uint32_t thread = 0; thread < d->t->x.threads; thread++) {
		uint32_t done = w->done[thread];
		if (!plan->limited[thread])
			continue;
		struct schedule_limit *l = schedule_add_limit(s);
		l->thread = schedule_text(s, d->m->threads[thread].name);
		if (done == EXEC_NONE || done < d->t->begin)
			l->n = counted_before(d, thread);
		else
			l->n = counted(d, thread, operation_at(d, done)) - is_half_done(d, done);
	}
}

/* ---- where a race meets ---- */

/* Two accesses that overlap, and where. */
struct meeting {
	uint32_t events[2];
	size_t accesses[2];
	uint32_t object;
	uint64_t offset;
	const char *name;
	const char *place; /* the canonical name, where `name` is another one that a pointer told */
	struct model_variable variable; /* without a site: it is none, or not known as one */
};

static bool overlap(const struct model_access *a, const struct model_access *b)
{
	return a->object == b->object && a->offset < b->offset + b->size && b->offset < a->offset + a->size;
}

/* The access from the same site and segment as `access` that overlaps `other`; a variable may
 * stand for several granules, and the first access of each thread for all of them. */
static size_t find_overlapping(const struct describer *d, uint32_t thread, size_t access,
			       const struct model_access *other)
{
	const struct model_history *h = &d->m->histories[thread];
	uint32_t site = h->accesses[access].site, next = operation_before(h, access) + 1;
	size_t end = next < h->operation_count ? h->operations[next].access : h->access_count;

	for (size_t i = access; i < end; i++)
		if (h->accesses[i].site == site && overlap(&h->accesses[i], other))
			return i;
	return access;
}

/* When the variable is looked for: when its thread accesses it, or else at the first of the two. */
static uint64_t time_of(const struct describer *d, const struct meeting *m)
{
	uint32_t owner = d->m->objects[m->object].thread;
	uint32_t event = m->events[d->t->x.events[m->events[1]].thread == owner];
	const struct model_history *h = &d->m->histories[d->t->x.events[event].thread];
	uint32_t at = operation_before(h, m->accesses[event == m->events[1]]);

	return at < h->operation_count ? h->operations[at].q : 0;
}

static const struct model_access *access_of(const struct describer *d, const struct meeting *m, int i)
{
	return &d->m->histories[d->t->x.events[m->events[i]].thread].accesses[m->accesses[i]];
}

static void name_meeting(const struct describer *d, struct meeting *m)
{
	const struct model_access *const accesses[] = {access_of(d, m, 0), access_of(d, m, 1)};
	struct rd_buf b = RD_BUF_INIT, place = RD_BUF_INIT;

	if (model_find_variable(d->m, m->object, m->offset, time_of(d, m), &m->variable)) {
		model_name_variable(d->m, &m->variable, &b);
	} else if (model_name_pointed(d->m, m->object, m->offset, accesses, 2, &b)) {
		model_name_place(d->m, m->object, m->offset, &place);
		m->place = name_of(d->set, &place);
	} else {
		model_name_place(d->m, m->object, m->offset, &b);
	}
	m->name = name_of(d->set, &b);
}

static struct meeting meeting_of(const struct describer *d, const struct predict_race *r)
{
	struct meeting m = {.events = {r->first, r->second}};
	const struct model_access *a[2];

	for (int i = 0; i < 2; i++) {
		m.accesses[i] = d->t->origins[m.events[i]].index;
		a[i] = access_of(d, &m, i);
	}
	for (int i = 0; i < 2 && !overlap(a[0], a[1]); i++) {
		m.accesses[i] = find_overlapping(d, d->t->x.events[m.events[i]].thread, m.accesses[i], a[!i]);
		a[i] = access_of(d, &m, i);
	}
	m.object = a[0]->object;
	m.offset = a[0]->offset > a[1]->offset ? a[0]->offset : a[1]->offset;
	name_meeting(d, &m);
	return m;
}

static void add_goal(struct describer *d, const struct meeting *m, int i, struct schedule *s)
{
	const struct exec_event *e = &d->t->x.events[m->events[i]];
	struct schedule_goal *h = schedule_add_goal(s);

	h->thread = schedule_text(s, d->m->threads[e->thread].name);
	h->site = e->site;
	h->write = exec_writes(e->kind);
	h->place = place_of(d, s, e->site);
	h->object = schedule_text(s, m->name);
	RD_GROW(d->unplaced, d->unplaced_capacity, d->unplaced_count + 1);
	d->unplaced[d->unplaced_count++] =
		(struct unplaced){s, (uint32_t)s->goal_count - 1, e->thread, m->accesses[i]};
}

static int compare_unplaced(const void *left, const void *right)
{
	const struct unplaced *a = left, *b = right;

	RD_BY(a->thread, b->thread);
	return (a->access > b->access) - (a->access < b->access);
}

/* Finds the accesses of goals in the streams, each of which is read once. */
static void place_goals(struct describer *d)
{
	size_t *accesses = rd_xmalloc((d->unplaced_count + 1) * sizeof *accesses);
	struct model_spot *spots = rd_xmalloc((d->unplaced_count + 1) * sizeof *spots);

	if (d->unplaced_count)
		qsort(d->unplaced, d->unplaced_count, sizeof *d->unplaced, compare_unplaced);
	for (size_t i = 0, n; i < d->unplaced_count; i += n) {
		const struct unplaced *first = &d->unplaced[i];
		for (n = 0; i + n < d->unplaced_count && first[n].thread == first->thread; n++)
			accesses[n] = first[n].access;
		int err = model_locate(d->m, first->thread, accesses, n, spots);
		for (size_t k = 0; k < n; k++) {
			struct schedule_goal *h = &first[k].schedule->goals[first[k].goal];
			h->after = err ? 0 : spots[k].after;
			h->occurrence = err ? 1 : spots[k].occurrence;
		}
	}
	RD_FREE(accesses, spots, d->unplaced);
}

static void add_stop(const struct describer *d, uint32_t event, struct schedule *s)
{
	const struct exec_event *e = &d->t->x.events[event];
	const struct model_operation *op = operation_of(d, event);
	struct schedule_stop *stop = schedule_add_stop(s);

	stop->thread = schedule_text(s, d->m->threads[e->thread].name);
	stop->n = counted(d, e->thread, d->t->origins[event].index);
	stop->n += e->flags & EXEC_PENDING ? 1 : 0;
	stop->kind = trace_kind(raddle_awaited(op->kind))->name;
	if (op->kind == RADDLE_RWLOCK_REQUEST && e->kind == EXEC_RDLOCK)
		stop->kind = trace_kind(RADDLE_RWLOCK_RDLOCK)->name;
	stop->object = object_text(d, s, op);
	stop->place = place_of(d, s, d->m->stacks[op->stack].site);
}

/* The way to the targets; where the threads stand then is added by the caller. */
static struct schedule *add_schedule(struct describer *d, struct finding *f, const struct predict_witness *w,
				     const uint32_t *targets, uint32_t count)
{
	const struct trace_meta *meta = trace_get_meta(d->m->trace);
	struct schedule *s = finding_schedule_add(d->set, f);
	struct predict_plan plan;

	predict_plan_make(&d->lines, w, targets, count, &plan);
	s->program = schedule_text(s, meta->program);
	s->trace = schedule_text(s, trace_path(d->m->trace));
	add_ops(d, &plan, s);
	add_limits(d, w, &plan, s);
	predict_plan_release(&plan);
	return s;
}

/* ---- findings ---- */

static void describe_thread(const struct describer *d, uint32_t thread, struct finding_thread *out)
{
	const struct model_thread *t = &d->m->threads[thread];

	out->name = finding_text(d->set, t->name);
	out->label = finding_text(d->set, t->label);
	out->created = stack_of(d, 0, t->create_stack);
}

static void describe_threads(const struct describer *d, struct finding *f, const uint32_t *targets,
			     uint32_t count)
{
	f->threads = finding_array(d->set, count, sizeof *f->threads);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t thread = d->t->x.events[targets[i]].thread;
		if (!finding_thread(f, d->m->threads[thread].name))
			describe_thread(d, thread, &f->threads[f->thread_count++]);
	}
}

static void describe_declaration(const struct describer *d, const struct model_object *o,
				 struct finding_object *out)
{
	const struct trace_sites *sites = d->m->sites;
	const struct trace_global *g =
		sites ? trace_sites_global(sites, sites->placed[o->info].linkage) : NULL;

	out->kind = FINDING_GLOBAL;
	if (!g)
		return;
	out->type = finding_text(d->set, known(g->type));
	if (g->file == TRACE_NO_FILE)
		return;
	out->stack.count = 1;
	out->stack.frames = finding_array(d->set, 1, sizeof *out->stack.frames);
	out->stack.frames[0].file = finding_text(d->set, known(trace_sites_file(sites, g->file)));
	out->stack.frames[0].line = g->line;
}

static void describe_object(const struct describer *d, const struct meeting *m, struct finding *f)
{
	const struct model_object *o = &d->m->objects[m->object];
	const struct model_variable *v = &m->variable;

	f->object.name = m->name;
	f->object.place = m->place;
	if (v->site) {
		f->object.kind = v->is_thread_local ? FINDING_THREAD_LOCAL : FINDING_STACK;
		f->object.type = finding_text(d->set, known(v->site->type));
		f->object.thread = finding_text(d->set, d->m->threads[v->thread].name);
		return;
	}
	f->object.size = o->size;
	if (o->kind == MODEL_GLOBAL) {
		describe_declaration(d, o, &f->object);
	} else if (o->kind == MODEL_HEAP) {
		f->object.kind = FINDING_HEAP;
		f->object.stack = stack_of(d, 0, o->stack);
	} else if (o->kind == MODEL_STACK) {
		f->object.kind = FINDING_STACK;
	} else if (model_is_descriptors(d->m, m->object)) {
		f->object.kind = FINDING_DESCRIPTOR;
		f->object.size = 0;
	}
	if (f->object.kind >= FINDING_HEAP && o->thread != MODEL_NONE)
		f->object.thread = finding_text(d->set, d->m->threads[o->thread].name);
}

static bool same_function(const struct trace_site *a, const struct trace_site *b)
{
	return a->file == b->file && strcmp(a->function, b->function) == 0;
}

/* The sites of a line, those of the statement first. */
struct source_line {
	const struct trace_site **sites;
	size_t count, capacity, statement;
};

static void gather_line(const struct describer *d, const struct trace_site *site, struct source_line *l)
{
	const struct trace_sites *sites = d->m->sites;

	for (size_t i = 0; i < sites->site_count; i++) {
		const struct trace_site *s = &sites->sites[i];
		if (s->line != site->line || s->kind == TRACE_SITE_CALL || !same_function(s, site))
			continue;
		RD_GROW(l->sites, l->capacity, l->count + 1);
		l->sites[l->count++] = s;
	}
}

static void join_statement(struct source_line *l, const struct trace_site *member)
{
	for (size_t i = l->statement; i < l->count; i++) {
		const struct trace_site *s = l->sites[i];
		if (s->column != member->column && strcmp(s->what, member->what) != 0)
			continue;
		l->sites[i] = l->sites[l->statement];
		l->sites[l->statement++] = s;
	}
}

/* What the statement of an access is about.  The read and the write of an assignment, and the many sites of a
 * copied struct, are one statement: they have a column or the accessed thing in common.  Which of them is
 * caught differs from run to run, so the first one speaks for all. */
static const char *subject_of(const struct describer *d, const struct trace_site *site)
{
	const struct trace_site *first = site;
	struct source_line l = {0};

	gather_line(d, site, &l);
	join_statement(&l, site);
	for (size_t i = 0; i < l.statement; i++) {
		const struct trace_site *s = l.sites[i];
		join_statement(&l, s);
		if (s->column < first->column || (s->column == first->column && s->n < first->n))
			first = s;
	}
	free(l.sites);
	return first->what;
}

/* Which of the lines of its function that access the subject. */
static uint32_t ordinal_of(const struct describer *d, const struct trace_site *site, const char *subject)
{
	const struct trace_sites *sites = d->m->sites;
	uint32_t n = 0, last = 0;

	for (size_t i = 0; i < sites->site_count; i++) {
		const struct trace_site *s = &sites->sites[i];
		if (s->line >= site->line || s->line == last || !same_function(s, site) ||
		    strcmp(s->what, subject) != 0)
			continue;
		last = s->line;
		n++;
	}
	return n;
}

static void describe_subject(const struct describer *d, const struct trace_site *site,
			     struct finding_access *out)
{
	const char *subject = site->kind == TRACE_SITE_CALL ? site->what : subject_of(d, site);

	out->what = finding_text(d->set, known(site->what));
	if (strcmp(subject, site->what) != 0)
		out->subject = finding_text(d->set, subject);
	out->ordinal = ordinal_of(d, site, subject);
}

/* What a call does to the memory of an object: an initialisation, destruction or release stands
 * behind its operation, a use before it. */
static enum finding_op handling_of(const struct describer *d, const struct meeting *m, int i)
{
	const struct exec_event *e = &d->t->x.events[m->events[i]];
	const struct model_history *h = &d->m->histories[e->thread];
	uint32_t at = operation_at(d, m->events[i]);

	if (!h->accesses[m->accesses[i]].write)
		return FINDING_USE;
	switch (at < h->operation_count ? raddle_handling(h->operations[at].kind) : RADDLE_HANDLES_NOT) {
	case RADDLE_INITIALISES: return FINDING_INIT;
	case RADDLE_DESTROYS: return FINDING_DESTROY;
	default: return FINDING_FREE;
	}
}

static void describe_access(const struct describer *d, const struct meeting *m, int i,
			    struct finding_access *out)
{
	const struct exec_event *e = &d->t->x.events[m->events[i]];
	const struct model_history *h = &d->m->histories[e->thread];
	const struct model_access *a = &h->accesses[m->accesses[i]];
	const struct trace_site *site = trace_sites_find(d->m->sites, e->site);

	out->thread = finding_text(d->set, d->m->threads[e->thread].name);
	out->op = exec_writes(e->kind) ? FINDING_WRITE : FINDING_READ;
	if (model_is_descriptors(d->m, m->object))
		out->op = !a->write ? FINDING_USE : a->size > 1 ? FINDING_INIT : FINDING_CLOSE;
	else if (site && site->kind == TRACE_SITE_CALL)
		out->op = handling_of(d, m, i);
	out->atomic = e->flags & EXEC_ATOMIC;
	out->size = a->size;
	out->stack = stack_of(d, a->site, a->stack);
	if (site)
		describe_subject(d, site, out);
	out->locks = locks_at(d, e->thread, operation_at(d, m->events[i]) + 1u, &out->lock_count);
}

static void note_plain_side(struct finding_set *set, struct finding *f)
{
	const struct finding_access *plain = finding_plain_side(f);

	if (plain)
		finding_note(
			set, f,
			finding_textf(set,
				      "The variable is accessed atomically by the other thread: this is a "
				      "plain %s of an atomic, not a race on ordinary data.",
				      plain->op == FINDING_READ ? "read" : "write"));
}

static void describe_race(struct describer *d, const struct predict_race *r)
{
	struct finding *f = finding_add(d->set, FINDING_RACE);
	struct meeting m = meeting_of(d, r);
	struct schedule *s = add_schedule(d, f, &r->witness, m.events, 2);

	f->sound = r->class == PREDICT_SOUND;
	s->speculative = !f->sound;
	s->handed = d->t->handed;
	f->reason = f->sound ? "predicted from the trace; every read keeps its value, not replayed yet"
			     : "predicted from the trace; reads may get other values, not replayed yet";
	describe_object(d, &m, f);
	f->accesses = finding_array(d->set, 2, sizeof *f->accesses);
	f->access_count = 2;
	for (int i = 0; i < 2; i++) {
		describe_access(d, &m, i, &f->accesses[i]);
		add_goal(d, &m, i, s);
	}
	note_plain_side(d->set, f);
	describe_threads(d, f, m.events, 2);
}

static const char *wait_kind(const struct describer *d, const struct model_operation *op)
{
	return op->sync == MODEL_NONE ? "join" : trace_class_name(d->m->syncs[op->sync].class);
}

static void describe_wait(const struct describer *d, uint32_t event, struct finding_wait *out)
{
	const struct exec_event *e = &d->t->x.events[event];
	const struct model_operation *op = operation_of(d, event);
	const struct trace_site *site = trace_sites_find(d->m->sites, d->m->stacks[op->stack].site);
	uint32_t index = d->t->origins[event].index;

	out->thread = finding_text(d->set, d->m->threads[e->thread].name);
	out->kind = wait_kind(d, op);
	if (op->sync != MODEL_NONE)
		out->wants = sync_name(d, op->sync);
	else if (op->second != MODEL_NONE)
		out->wants = finding_text(d->set, d->m->threads[op->second].name);
	out->shared = e->kind == EXEC_RDLOCK && d->m->syncs[op->sync].class == RADDLE_CLASS_RWLOCK;
	out->stack = stack_of(d, 0, op->stack);
	if (site)
		out->ordinal = ordinal_of(d, site, site->what);
	out->holds = locks_at(d, e->thread, index + (op->kind == RADDLE_COND_WAIT), &out->hold_count);
}

static bool holds(const struct finding_wait *w, const char *name)
{
	for (size_t i = 0; i < w->hold_count; i++)
		if (strcmp(w->holds[i].name, name) == 0)
			return true;
	return false;
}

/* Each waits for what the next one holds, as far as locks say. */
static void order_cycle(struct finding *f)
{
	for (size_t i = 0; i + 1 < f->cycle_count; i++) {
		for (size_t k = i + 1; k < f->cycle_count; k++) {
			if (!f->cycle[i].wants || !holds(&f->cycle[k], f->cycle[i].wants))
				continue;
			struct finding_wait next = f->cycle[k];
			f->cycle[k] = f->cycle[i + 1];
			f->cycle[i + 1] = next;
			break;
		}
	}
}

static bool stands(const struct describer *d, const struct predict_deadlock *l)
{
	for (uint32_t i = 0; i < l->count; i++)
		if (!(d->t->x.events[l->stops[i]].flags & EXEC_PENDING))
			return false;
	return true;
}

static void describe_deadlock(struct describer *d, const struct predict_deadlock *l)
{
	struct finding *f = finding_add(d->set, FINDING_DEADLOCK);

	f->sound = l->class == PREDICT_SOUND;
	f->reason = f->sound ? "predicted from the trace; every read keeps its value, not replayed yet"
			     : "predicted from the trace; reads may get other values, not replayed yet";
	if (stands(d, l))
		finding_note(d->set, f, "The recorded run stood still there.");
	f->cycle = finding_array(d->set, l->count, sizeof *f->cycle);
	f->cycle_count = l->count;
	for (uint32_t i = 0; i < l->count; i++)
		describe_wait(d, l->stops[i], &f->cycle[i]);
	order_cycle(f);
	describe_threads(d, f, l->stops, l->count);
	struct schedule *s = add_schedule(d, f, &l->witness, l->stops, l->count);
	s->speculative = !f->sound;
	s->handed = d->t->handed;
	for (uint32_t i = 0; i < l->count; i++)
		add_stop(d, l->stops[i], s);
}

/* However little time there is, what was found is not lost altogether. */
#define AT_LEAST 10

/* What is to be described now: one class after the other, within a limit. */
struct round {
	const struct finding_set *set;
	struct predict_limit limit;
	enum predict_class class;
	size_t left_out;
};

static bool is_next(struct round *r, enum predict_class class)
{
	const struct predict_limit *l = &r->limit;
	size_t most = class == PREDICT_SOUND || !l->speculative ? l->findings : l->speculative;
	bool early = !l->deadline_ns || r->set->count < AT_LEAST || rd_now_ns() < l->deadline_ns;

	if (class != r->class)
		return false;
	if (early && r->set->count < most)
		return true;
	r->left_out++;
	return false;
}

size_t predict_describe(const struct predict_trace *t, const struct predict_result *r,
			struct finding_set *set, struct predict_limit limit)
{
	struct describer d = {.t = t, .m = t->model, .set = set};
	struct round now = {.set = set, .limit = limit};

	d.sync_names = rd_xcalloc(d.m->sync_count + 1, sizeof *d.sync_names);
	predict_lines_init(&d.lines, &t->x);
	d.lines.past = t->begin;
	for (now.class = PREDICT_SOUND; now.class <= PREDICT_SPECULATIVE; now.class ++) {
		for (size_t i = 0; i < r->deadlock_count; i++)
			if (is_next(&now, r->deadlocks[i].class))
				describe_deadlock(&d, &r->deadlocks[i]);
		for (size_t i = 0; i < r->race_count; i++)
			if (is_next(&now, r->races[i].class))
				describe_race(&d, &r->races[i]);
	}
	place_goals(&d);
	predict_lines_release(&d.lines);
	free(d.sync_names);
	return now.left_out;
}

/* ---- what was not searched for ---- */

/* By the sites alone: there need not be a history that has the accesses. */
static void name_unordered(const struct describer *d, const struct model_unordered *u, struct meeting *at)
{
	const struct model_object *o = &d->m->objects[at->object];
	struct rd_buf b = RD_BUF_INIT, place = RD_BUF_INIT;
	struct model_access seen[2];
	const struct model_access *accesses[2];
	size_t count = 0;

	for (int i = 0; i < 2; i++) {
		const struct trace_site *site = trace_sites_find(d->m->sites, u->sites[i]);
		if (!site || site->kind == TRACE_SITE_CALL || at->offset < u->before[i])
			continue;
		if (site->flags & (o->kind == MODEL_STACK ? TRACE_SITE_STACK : TRACE_SITE_TLS) &&
		    (o->kind == MODEL_STACK || o->kind == MODEL_PAGE) && *site->what)
			at->variable = (struct model_variable){site, u->threads[i], u->before[i],
							       o->kind == MODEL_PAGE};
		seen[count] = (struct model_access){.object = at->object,
						    .site = u->sites[i],
						    .size = site->size ? site->size : 1,
						    .offset = at->offset - u->before[i]};
		accesses[count] = &seen[count];
		count += site->size && site->size <= 8; /* of others it is not known where they begin */
	}
	if (at->variable.site) {
		model_name_variable(d->m, &at->variable, &b);
	} else if (model_name_pointed(d->m, at->object, at->offset, accesses, count, &b)) {
		model_name_place(d->m, at->object, at->offset, &place);
		at->place = name_of(d->set, &place);
	} else {
		model_name_place(d->m, at->object, at->offset, &b);
	}
	at->name = name_of(d->set, &b);
}

static void describe_side(const struct describer *d, const struct model_unordered *u, int i,
			  struct finding_access *out)
{
	const struct trace_site *site = trace_sites_find(d->m->sites, u->sites[i]);

	out->thread = finding_text(d->set, d->m->threads[u->threads[i]].name);
	out->op = !u->writes[i]				  ? FINDING_READ
		  : site && site->kind == TRACE_SITE_CALL ? FINDING_FREE
							  : FINDING_WRITE;
	out->atomic = u->atomic[i];
	out->size = site ? site->size : 0;
	out->stack = stack_of(d, u->sites[i], 0);
	if (site)
		describe_subject(d, site, out);
}

void predict_describe_firm(const struct model *m, const struct model_unordered *u, struct finding_set *set,
			   struct finding *f)
{
	f->firm = finding_textf(set,
				"the recorded run had the %s of %s and the %s of %s at 0x%" PRIx64
				" without an order between them",
				u->writes[0] ? "write" : "read", m->threads[u->threads[0]].name,
				u->writes[1] ? "write" : "read", m->threads[u->threads[1]].name, u->address);
}

/* No order leads to it, but threads may meet at the two places again. */
static void add_meeting(const struct describer *d, const struct model_unordered *u, struct finding *f)
{
	struct schedule *s = finding_schedule_add(d->set, f);

	s->program = schedule_text(s, trace_get_meta(d->m->trace)->program);
	s->trace = schedule_text(s, trace_path(d->m->trace));
	s->speculative = s->anywhere = true;
	for (int i = 0; i < 2; i++) {
		struct schedule_goal *h = schedule_add_goal(s);

		h->thread = schedule_text(s, f->accesses[i].thread);
		h->occurrence = 1;
		h->site = u->sites[i];
		h->write = u->writes[i];
		h->place = place_of(d, s, u->sites[i]);
		h->object = schedule_text(s, f->object.name);
	}
}

void predict_describe_unordered(const struct model *m, const struct model_unordered *u, const char *reason,
				struct finding_set *set)
{
	struct describer d = {.m = m, .set = set};
	struct finding *f = finding_add(set, FINDING_RACE);
	struct meeting at = {.object = model_find(m, u->address, u->part.from)};

	f->reason = reason;
	if (at.object != MODEL_NONE) {
		at.offset = u->address - m->objects[at.object].base;
		name_unordered(&d, u, &at);
		describe_object(&d, &at, f);
	}
	f->accesses = finding_array(set, 2, sizeof *f->accesses);
	f->access_count = 2;
	f->threads = finding_array(set, 2, sizeof *f->threads);
	for (int i = 0; i < 2; i++) {
		describe_side(&d, u, i, &f->accesses[i]);
		describe_thread(&d, u->threads[i], &f->threads[f->thread_count++]);
	}
	if (u->firm) {
		predict_describe_firm(m, u, set, f);
		add_meeting(&d, u, f);
	}
	note_plain_side(set, f);
}

void predict_describe_end(const struct model *m, uint32_t thread, struct finding_set *set,
			  struct finding_wait *out)
{
	const struct describer d = {.m = m, .set = set};
	const struct model_history *h = &m->histories[thread];

	out->thread = finding_text(set, m->threads[thread].name);
	out->stack = stack_of(&d, h->end_site, h->end_stack);
	out->holds = locks_at(&d, thread, h->operation_count, &out->hold_count);
}

void predict_describe_thread(const struct model *m, uint32_t thread, struct finding_set *set,
			     struct finding_thread *out)
{
	describe_thread(&(struct describer){.m = m, .set = set}, thread, out);
}
