/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the schedules of findings.  It turns a witness and its targets into the operations, limits,
 * goals and stops of a schedule, in terms that are the same in every run.
 */
#include "predict/describe-parts-int.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "predict/plan-int.h"

#include <stdlib.h>

/* ---- operations in schedules ---- */

static uint32_t counted(const struct describer *d, uint32_t thread, uint32_t operation)
{
	RD_ASSERT(thread < d->m->thread_count);
	return operation == EXEC_NONE ? 0 : d->m->histories[thread].operations[operation].counted;
}

/* Returns the last operation before an access, or EXEC_NONE if the access precedes all
 * operations. */
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
		return schedule_text(s, describe_sync_name(d, op->sync));
	return op->second != MODEL_NONE ? schedule_text(s, d->m->threads[op->second].name) : NULL;
}

/* The operations of a plan are in order, so the last number of a thread is its largest. */
static void add_ops(const struct describer *d, const struct predict_plan *plan, struct schedule *s)
{
	uint64_t *last = rd_xcalloc(d->m->thread_count + 1, sizeof *last);

	for (size_t i = 0; i < plan->count; i++) {
		uint32_t event = plan->events[i], thread = d->t->x.events[event].thread;
		const struct model_operation *from = describe_operation_of(d, event);
		uint64_t n = counted(d, thread, d->t->origins[event].index);
		if (n == last[thread] || !raddle_is_counted(from->kind))
			continue; /* at the end of a thread several locks may be released at once */
		struct schedule_op *op = schedule_add_op(s);
		op->thread = schedule_text(s, d->m->threads[thread].name);
		op->n = last[thread] = n;
		op->kind = trace_kind(from->kind)->name;
		op->object = object_text(d, s, from);
		op->seen = d->t->origins[event].seen;
		op->place = describe_place(d, s, d->m->stacks[from->stack].site);
	}
	free(last);
}

uint32_t describe_operation_at(const struct describer *d, uint32_t event)
{
	const struct exec_event *e = &d->t->x.events[event];
	uint32_t index = d->t->origins[event].index;

	return exec_is_access(e->kind) ? operation_before(&d->m->histories[e->thread], index) : index;
}

/* Returns true if the operation of event `done` has further events, so that the thread has not
 * finished it. */
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

/* Returns the number of operations that the thread did before the part that the model contains. */
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
			l->n = counted(d, thread, describe_operation_at(d, done)) - is_half_done(d, done);
	}
}

/* ---- the two accesses of a race ---- */

static bool overlap(const struct model_access *a, const struct model_access *b)
{
	return a->object == b->object && a->offset < b->offset + b->size && b->offset < a->offset + a->size;
}

/* Returns the access that has the same site and segment as `access` and overlaps `other`.  One
 * variable may represent several granules, and a thread's first access to the variable represents
 * its accesses to all of them. */
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

/* Returns the time at which the variable's name is looked up.  If one of the two threads owns the
 * stack that contains the variable, this is the time of that thread's access.  Otherwise it is the
 * time of the first access. */
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
		m->place = describe_take_name(d->set, &place);
	} else {
		model_name_place(d->m, m->object, m->offset, &b);
	}
	m->name = describe_take_name(d->set, &b);
}

struct meeting describe_meeting(const struct describer *d, const struct predict_race *r)
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

void describe_add_goal(struct describer *d, const struct meeting *m, int i, struct schedule *s)
{
	RD_ASSERT(i == 0 || i == 1);
	const struct exec_event *e = &d->t->x.events[m->events[i]];
	struct schedule_goal *h = schedule_add_goal(s);

	h->thread = schedule_text(s, d->m->threads[e->thread].name);
	h->site = e->site;
	h->write = exec_writes(e->kind);
	h->place = describe_place(d, s, e->site);
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

void describe_place_goals(struct describer *d)
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

void describe_add_stop(const struct describer *d, uint32_t event, struct schedule *s)
{
	const struct exec_event *e = &d->t->x.events[event];
	const struct model_operation *op = describe_operation_of(d, event);
	struct schedule_stop *stop = schedule_add_stop(s);

	stop->thread = schedule_text(s, d->m->threads[e->thread].name);
	stop->n = counted(d, e->thread, d->t->origins[event].index);
	stop->n += e->flags & EXEC_PENDING ? 1 : 0;
	stop->kind = trace_kind(raddle_awaited(op->kind))->name;
	if (op->kind == RADDLE_RWLOCK_REQUEST && e->kind == EXEC_RDLOCK)
		stop->kind = trace_kind(RADDLE_RWLOCK_RDLOCK)->name;
	stop->object = object_text(d, s, op);
	stop->place = describe_place(d, s, d->m->stacks[op->stack].site);
}

struct schedule *describe_add_schedule(struct describer *d, struct finding *f,
				       const struct predict_witness *w, const uint32_t *targets,
				       uint32_t count)
{
	RD_ASSERT(count > 0);
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
