/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes names, call stacks and lists of held locks for findings, from the sites, stacks, objects
 * and histories of the model.  The set of findings owns the resulting texts and frames.
 */
#include "predict/describe-parts-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "order/fill.h"

#include <stdlib.h>
#include <string.h>

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

const struct model_operation *describe_operation_of(const struct describer *d, uint32_t event)
{
	const struct exec_event *e = &d->t->x.events[event];
	return &d->m->histories[e->thread].operations[d->t->origins[event].index];
}

const char *describe_take_name(struct finding_set *set, struct rd_buf *b)
{
	const char *name = finding_text(set, b->data);

	rd_buf_release(b);
	return name;
}

/* Returns the name of a synchronisation object.  A lock on a stack has the same name as long as
 * its variable lives, so the time of an operation does not matter. */
const char *describe_sync_name(const struct describer *d, uint32_t sync)
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
	name = describe_take_name(d->set, &b);
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

const char *describe_known(const char *text)
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
	frames[0].function = finding_text(d->set, describe_known(s->function));
	frames[0].file = finding_text(d->set, describe_known(trace_sites_file(sites, s->file)));
	frames[0].line = s->line;
	frames[0].column = s->column;
	for (; n <= s->chain_length; n++) {
		const struct trace_inlined *i = &sites->chains[s->chain + n - 1];
		frames[n].function = finding_text(d->set, describe_known(i->function));
		frames[n].file = finding_text(d->set, describe_known(trace_sites_file(sites, i->file)));
		frames[n].line = i->line;
	}
	return n;
}

struct finding_stack describe_stack(const struct describer *d, uint32_t site, uint32_t stack)
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

struct schedule_place describe_place(const struct describer *d, struct schedule *s, uint32_t site)
{
	const struct trace_site *at = trace_sites_find(d->m->sites, site);
	struct schedule_place p = {0};

	if (!at)
		return p;
	p.file = schedule_text(s, describe_known(trace_sites_file(d->m->sites, at->file)));
	p.function = schedule_text(s, describe_known(at->function));
	p.line = at->line;
	p.column = at->column;
	return p;
}

/* ---- locks ---- */

static void acquire(struct held_list *l, uint32_t sync, uint32_t operation, bool shared)
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

static void release(struct held_list *l, uint32_t sync, bool whole)
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

struct finding_lock *describe_locks(const struct describer *d, uint32_t thread, size_t count, size_t *n)
{
	RD_ASSERT(count <= d->m->histories[thread].operation_count);
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
			acquire(&l, sync, i, shared);
		else
			release(&l, sync, wait);
	}
	struct finding_lock *locks = finding_array(d->set, l.count, sizeof *locks);
	for (size_t i = 0; i < l.count; i++) {
		locks[i].name = describe_sync_name(d, l.items[i].sync);
		locks[i].kind = trace_class_name(d->m->syncs[l.items[i].sync].class);
		locks[i].shared = l.items[i].shared;
		locks[i].stack = describe_stack(d, 0, h->operations[l.items[i].operation].stack);
	}
	*n = l.count;
	free(l.items);
	return locks;
}
