/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns predictions into findings.  A finding contains the object with its allocation or
 * declaration, the call stacks, the held locks, and the created threads.  All of these are derived
 * from the recorded events that the prediction refers to.  The file describe-schedule.c adds the
 * schedule.
 */
#include "predict/describe-parts-int.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

void describe_thread(const struct describer *d, uint32_t thread, struct finding_thread *out)
{
	const struct model_thread *t = &d->m->threads[thread];

	out->name = finding_text(d->set, t->name);
	out->label = finding_text(d->set, t->label);
	out->created = describe_stack(d, 0, t->create_stack);
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
	out->type = finding_text(d->set, describe_known(g->type));
	if (g->file == TRACE_NO_FILE)
		return;
	out->stack.count = 1;
	out->stack.frames = finding_array(d->set, 1, sizeof *out->stack.frames);
	out->stack.frames[0].file = finding_text(d->set, describe_known(trace_sites_file(sites, g->file)));
	out->stack.frames[0].line = g->line;
}

void describe_object(const struct describer *d, const struct meeting *m, struct finding *f)
{
	const struct model_object *o = &d->m->objects[m->object];
	const struct model_variable *v = &m->variable;

	f->object.name = m->name;
	f->object.place = m->place;
	if (v->site) {
		f->object.kind = v->is_thread_local ? FINDING_THREAD_LOCAL : FINDING_STACK;
		f->object.type = finding_text(d->set, describe_known(v->site->type));
		f->object.thread = finding_text(d->set, d->m->threads[v->thread].name);
		return;
	}
	f->object.size = o->size;
	if (o->kind == MODEL_GLOBAL) {
		describe_declaration(d, o, &f->object);
	} else if (o->kind == MODEL_HEAP) {
		f->object.kind = FINDING_HEAP;
		f->object.stack = describe_stack(d, 0, o->stack);
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

/* The sites of a source line.  The sites of the statement in question come first. */
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
	RD_ASSERT(l->statement <= l->count);
	for (size_t i = l->statement; i < l->count; i++) {
		const struct trace_site *s = l->sites[i];
		if (s->column != member->column && strcmp(s->what, member->what) != 0)
			continue;
		l->sites[i] = l->sites[l->statement];
		l->sites[l->statement++] = s;
	}
}

/* Returns the expression that identifies the statement of an access.  A statement may have several
 * sites, such as the read and the write of an assignment, or the many sites of a struct copy.
 * These sites have the same column or access the same thing.  The site that races differs from run
 * to run, so the first site represents the whole statement. */
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

/* Returns the number of earlier lines of the function that access the subject. */
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

void describe_subject(const struct describer *d, const struct trace_site *site, struct finding_access *out)
{
	const char *subject = site->kind == TRACE_SITE_CALL ? site->what : subject_of(d, site);

	out->what = finding_text(d->set, describe_known(site->what));
	if (strcmp(subject, site->what) != 0)
		out->subject = finding_text(d->set, subject);
	out->ordinal = ordinal_of(d, site, subject);
}

/* Returns what a call does to the memory of an object: initialise, destroy, free or use it.  A use
 * accesses the object before the operation, and any other call accesses it after the operation. */
static enum finding_op handling_of(const struct describer *d, const struct meeting *m, int i)
{
	const struct exec_event *e = &d->t->x.events[m->events[i]];
	const struct model_history *h = &d->m->histories[e->thread];
	uint32_t at = describe_operation_at(d, m->events[i]);

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
	out->stack = describe_stack(d, a->site, a->stack);
	if (site)
		describe_subject(d, site, out);
	out->locks =
		describe_locks(d, e->thread, describe_operation_at(d, m->events[i]) + 1u, &out->lock_count);
}

void describe_note_plain_side(struct finding_set *set, struct finding *f)
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
	struct meeting m = describe_meeting(d, r);
	struct schedule *s = describe_add_schedule(d, f, &r->witness, m.events, 2);

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
		describe_add_goal(d, &m, i, s);
	}
	describe_note_plain_side(d->set, f);
	describe_threads(d, f, m.events, 2);
}

static const char *wait_kind(const struct describer *d, const struct model_operation *op)
{
	return op->sync == MODEL_NONE ? "join" : trace_class_name(d->m->syncs[op->sync].class);
}

static void describe_wait(const struct describer *d, uint32_t event, struct finding_wait *out)
{
	const struct exec_event *e = &d->t->x.events[event];
	const struct model_operation *op = describe_operation_of(d, event);
	const struct trace_site *site = trace_sites_find(d->m->sites, d->m->stacks[op->stack].site);
	uint32_t index = d->t->origins[event].index;

	out->thread = finding_text(d->set, d->m->threads[e->thread].name);
	out->kind = wait_kind(d, op);
	if (op->sync != MODEL_NONE)
		out->wants = describe_sync_name(d, op->sync);
	else if (op->second != MODEL_NONE)
		out->wants = finding_text(d->set, d->m->threads[op->second].name);
	out->shared = e->kind == EXEC_RDLOCK && d->m->syncs[op->sync].class == RADDLE_CLASS_RWLOCK;
	out->stack = describe_stack(d, 0, op->stack);
	if (site)
		out->ordinal = ordinal_of(d, site, site->what);
	out->holds = describe_locks(d, e->thread, index + (op->kind == RADDLE_COND_WAIT), &out->hold_count);
}

static bool holds(const struct finding_wait *w, const char *name)
{
	for (size_t i = 0; i < w->hold_count; i++)
		if (strcmp(w->holds[i].name, name) == 0)
			return true;
	return false;
}

/* Sorts a cycle so that each thread waits for a lock that the next thread holds, as far as the
 * holders are known. */
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

/* Returns true if the recorded run ended in the deadlock. */
static bool happened(const struct describer *d, const struct predict_deadlock *l)
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
	if (happened(d, l))
		finding_note(d->set, f, "The recorded run hung there.");
	f->cycle = finding_array(d->set, l->count, sizeof *f->cycle);
	f->cycle_count = l->count;
	for (uint32_t i = 0; i < l->count; i++)
		describe_wait(d, l->stops[i], &f->cycle[i]);
	order_cycle(f);
	describe_threads(d, f, l->stops, l->count);
	struct schedule *s = describe_add_schedule(d, f, &l->witness, l->stops, l->count);
	s->speculative = !f->sound;
	s->handed = d->t->handed;
	for (uint32_t i = 0; i < l->count; i++)
		describe_add_stop(d, l->stops[i], s);
}

/* The number of findings that are described even after the deadline, so that there is some result.
 * It was set by hand. */
#define LATE_FINDINGS 10

/* Selects the predictions that are described now, which are those of one class within a limit. */
struct selection {
	const struct finding_set *set;
	struct predict_limit limit;
	enum predict_class class;
	size_t left_out;
};

static bool is_next(struct selection *r, enum predict_class class)
{
	const struct predict_limit *l = &r->limit;
	size_t most = class == PREDICT_SOUND || !l->speculative ? l->findings : l->speculative;
	bool early = !l->deadline_ns || r->set->count < LATE_FINDINGS || rd_now_ns() < l->deadline_ns;

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
	struct selection now = {.set = set, .limit = limit};

	d.sync_names = rd_xcalloc(d.m->sync_count + 1, sizeof *d.sync_names);
	predict_lines_init(&d.lines, &t->x);
	d.lines.start = t->begin;
	for (now.class = PREDICT_SOUND; now.class <= PREDICT_SPECULATIVE; now.class ++) {
		for (size_t i = 0; i < r->deadlock_count; i++)
			if (is_next(&now, r->deadlocks[i].class))
				describe_deadlock(&d, &r->deadlocks[i]);
		for (size_t i = 0; i < r->race_count; i++)
			if (is_next(&now, r->races[i].class))
				describe_race(&d, &r->races[i]);
	}
	describe_place_goals(&d);
	predict_lines_release(&d.lines);
	free(d.sync_names);
	return now.left_out;
}
