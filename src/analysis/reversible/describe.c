// SPDX-License-Identifier: Apache-2.0
/*
 * Collects what a user wants to know about a verdict.  For each pair that can be reversed, it finds
 * in the trace the site, stack and size of both events, the name of the object that both touch, and
 * the names of the locks.  For a certificate, it counts how often dependent events touched each
 * object.
 *
 * For a pair of segments s and r, the two events are accesses to the address of the pair: the last
 * conflicting one in s, and the first one in r.  If s has no such access, the first event is the
 * operation that ends s.  If the second event of the pair is an operation, that operation is used.
 */
#include "reversible/describe.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/name.h"
#include "epa/object.h"
#include "reversible/feed-int.h"

#include <stdlib.h>
#include <string.h>

#define STACK_MAX 64 /* number of frames of a call stack that are kept; set by hand */

struct rev_describer {
	struct rev_result *x;
	struct rev_feed feed;
	struct epa_walk *walk;
	struct epa_names names;
	struct epa_objects *objects;
	const struct trace_sites *sites;
	struct rev_shadow *shadow; /* for a certificate; otherwise NULL */
	struct rd_pmap shared;	   /* maps the name of an object to 1 + its index in x->shared */
	const struct trace_record *now;
	uint32_t *done;	   /* the number of operations that each thread has done */
	const char **call; /* the function that each thread called last */
	/* For each side of each pair, a set of the addresses that each site touched in the segment.
	 * The keys of the set are (site, write) and address + 1.  The entry with (site, write) and
	 * 0 holds the number of these addresses. */
	struct rd_pmap *seen;
};

static const char *access_name(uint8_t access)
{
	static const char *const names[] = {"read",	    "write",	      "atomic read",
					    "atomic write", "release",	      "new local variable",
					    "operation",    "write by a call"};

	return names[access];
}

static char *text_of(struct rev_describer *d, const struct rd_buf *text)
{
	return rd_arena_strndup(d->x->arena, text->data, text->length);
}

static char *name_at(struct rev_describer *d, uint32_t site, uint64_t address)
{
	struct rd_buf text = RD_BUF_INIT;
	char *name;

	if (address < REV_HIDDEN(16))
		rd_buf_adds(&text, rev_hidden_name((unsigned)(address / 8)));
	else if (raddle_is_channel(address))
		rd_buf_adds(&text, "a pipe, socket or eventfd");
	else
		epa_name_text(&d->names, d->sites, epa_objects_name(d->objects, site, address), &text);
	name = text_of(d, &text);
	rd_buf_release(&text);
	return name;
}

/* --- the two events (sides) of a reversal --- */

static void fill_side(struct rev_describer *d, struct rev_side *side, uint32_t thread)
{
	uint32_t frames[STACK_MAX];
	size_t count = epa_walk_stack(d->walk, epa_walk_place(d->walk), frames, STACK_MAX);

	side->thread = d->x->names[thread];
	side->site = d->now->site;
	side->n = d->done[thread];
	count = count < STACK_MAX ? count : STACK_MAX;
	/* The first frame of the stack is a call site in the same scope as the site itself. */
	side->frame_count = count ? count - 1 : 0;
	side->frames = rd_arena_alloc(d->x->arena, (count + 1) * sizeof *side->frames);
	memcpy(side->frames, frames + (count != 0), side->frame_count * sizeof *frames);
}

static bool writes(uint8_t access)
{
	return access != REV_READ && access != REV_ATOMIC_READ;
}

/* Handles an access that touches the address of a pair and was made in one of the two segments of
 * the pair. */
static void see(struct rev_describer *d, size_t pair, int which, const struct rev_touch *t)
{
	RD_ASSERT(which == 0 || which == 1);
	struct rev_reversal *v = &d->x->reversals[pair];
	struct rev_side *side = &v->side[which];
	bool must_write = which == 0 ? v->pair.first == REV_WRITE : writes(v->pair.second);

	side->reads |= !writes(t->access);
	side->changes |= writes(t->access) && side->reads;
	if (must_write && !writes(t->access))
		return;
	if (which == 1 && side->thread)
		return;
	fill_side(d, side, t->u);
	side->what = access_name(t->access);
	side->access = t->access;
	side->size = t->size;
	if (which == 1)
		v->object = name_at(d, d->now->site, v->pair.address);
}

/* Counts the different addresses that the site touched in the segment.  The flavour `record`
 * numbers instances in the same way. */
static void count_instance(struct rev_describer *d, size_t pair, int which, const struct rev_touch *t)
{
	RD_ASSERT(which == 0 || which == 1);
	struct rd_pmap *seen = &d->seen[2 * pair + (size_t)which];
	struct rev_side *side = &d->x->reversals[pair].side[which];
	uint64_t site = (uint64_t)d->now->site << 1 | writes(t->access), *count;
	bool is_new;

	rd_pmap_put(seen, site, t->address + 1, &is_new);
	count = rd_pmap_put(seen, site, 0, NULL);
	*count += is_new;
	if (side->site == d->now->site && writes(side->access) == writes(t->access) &&
	    t->address <= d->x->reversals[pair].pair.address &&
	    d->x->reversals[pair].pair.address - t->address < t->size)
		side->instance = (uint32_t)*count;
}

static void visit_touch(struct rev_describer *d, const struct rev_touch *t)
{
	for (size_t i = 0; i < d->x->reversal_count; i++) {
		const struct rev_pair *p = &d->x->reversals[i].pair;
		int which = t->u == p->t && t->r == p->s ? 0 : t->u == p->u && t->r == p->r ? 1 : -1;

		if (which < 0 || t->ops)
			continue;
		if (t->address <= p->address && p->address - t->address < t->size)
			see(d, i, which, t);
		count_instance(d, i, which, t);
	}
}

/* ---- operations ---- */

static void name_object(struct rev_describer *d, const struct rev_op *op)
{
	const struct trace_event *e = d->now->event;
	struct rev_object *o;

	if (op->kind == EXEC_FORK || op->kind == EXEC_JOIN || op->object == REV_NONE)
		return;
	o = &d->x->run.objects[op->object];
	if (!o->name && e->address == o->address)
		o->name = name_at(d, d->now->site, e->address);
}

/* Handles an operation that is an event of a pair. */
static void see_operation(struct rev_describer *d, const struct rev_op *op)
{
	for (size_t i = 0; i < d->x->reversal_count; i++) {
		struct rev_reversal *v = &d->x->reversals[i];
		const struct rev_pair *p = &v->pair;
		bool first = op->thread == p->t && op->n == p->s + 1 && !v->side[0].thread;
		bool second = op->thread == p->u && p->ops & 2 && op->n == p->r + (p->ops >> 2 & 1);
		struct rev_side *side = first ? &v->side[0] : &v->side[1];

		if (!first && !second)
			continue;
		fill_side(d, side, op->thread);
		side->what = trace_kind(op->event)->name;
		side->access = REV_SYNC;
		side->n = op->n - 1;
		if (second)
			v->object = name_at(d, d->now->site, p->address);
	}
}

const char *rev_object_name(const struct rev_result *x, const struct rev_op *op)
{
	if (op->object == REV_NONE)
		return NULL;
	if (op->kind == EXEC_FORK || op->kind == EXEC_JOIN)
		return x->names[op->object];
	return x->run.objects[op->object].name;
}

/* ---- shared objects ---- */

static void count_conflict(void *context, uint64_t address, bool ordered)
{
	struct rev_describer *d = context;
	struct epa_name name = epa_name_base(epa_objects_name(d->objects, d->now->site, address));
	uint64_t *at;

	at = rd_pmap_put(&d->shared, name.who, name.where, NULL);
	if (!*at) {
		struct rd_buf text = RD_BUF_INIT;

		RD_GROW(d->x->shared, d->x->shared_capacity, d->x->shared_count + 1);
		if (address < REV_HIDDEN(16))
			rd_buf_adds(&text, rev_hidden_name((unsigned)(address / 8)));
		else
			epa_name_text(&d->names, d->sites, name, &text);
		d->x->shared[d->x->shared_count++] = (struct rev_shared){.name = text_of(d, &text)};
		rd_buf_release(&text);
		*at = d->x->shared_count;
	}
	d->x->shared[*at - 1].conflicts++;
	d->x->shared[*at - 1].open += !ordered;
}

/* ---- the walk ---- */

static void note_call(struct rev_describer *d, uint32_t thread)
{
	const struct trace_site *site;

	if (d->now->kind != TRACE_FULL_CALL && d->now->kind != TRACE_FULL_TAIL)
		return;
	site = trace_sites_find(d->sites, d->now->site);
	d->call[thread] = site ? site->what : "";
}

static void apply(struct rev_describer *d, const struct rev_effects *e)
{
	for (size_t i = 0; i < e->count; i++) {
		const struct rev_touch *t = &e->list[i].touch;

		if (e->list[i].effect != REV_CLEAR)
			visit_touch(d, t);
		if (!d->shadow)
			continue;
		if (e->list[i].effect == REV_TOUCH)
			rev_shadow_touch(d->shadow, t);
		else if (e->list[i].effect == REV_ENDS)
			rev_shadow_end(d->shadow, t, false);
		else if (e->list[i].effect == REV_FREES)
			rev_shadow_release(d->shadow, t);
		else
			rev_shadow_clear(d->shadow, t->address, t->size, false);
	}
}

static void step(struct rev_describer *d, uint32_t thread)
{
	struct rev_effects e;

	epa_objects_feed(d->objects, d->now);
	note_call(d, thread);
	if (d->now->kind == TRACE_FULL_EVENT && rev_is_operation(d->now->event->kind) &&
	    d->done[thread] < d->x->run.threads[thread].count) {
		const struct rev_op *op = rev_run_op(&d->x->run, thread, ++d->done[thread]);

		name_object(d, op);
		see_operation(d, op);
	}
	rev_feed_record(&d->feed, thread, d->now, d->call[thread], &e);
	apply(d, &e);
}

static int walk(struct rev_describer *d)
{
	size_t threads = epa_walk_threads(d->walk);
	uint32_t *index = rd_xcalloc(threads + 1, sizeof *index);
	struct trace_record r;

	for (size_t i = 0; i < threads; i++)
		index[i] = rev_run_thread(&d->x->run, epa_walk_number(d->walk, i));
	d->now = &r;
	while (epa_walk_next(d->walk, &r) > 0)
		step(d, index[epa_walk_place(d->walk)]);
	free(index);
	return 0;
}

/* Returns true if threads can be stopped at both events.  Both must be accesses, and not both
 * atomic. */
static bool can_meet(const struct rev_reversal *v)
{
	const struct rev_side *a = &v->side[0], *b = &v->side[1];

	return a->size && b->size && a->access <= REV_ATOMIC_WRITE && b->access <= REV_ATOMIC_WRITE &&
	       (a->access <= REV_WRITE || b->access <= REV_WRITE);
}

/* Fills in what is still missing in a pair. */
static void finish(struct rev_describer *d)
{
	for (size_t i = 0; i < d->x->reversal_count; i++) {
		struct rev_reversal *v = &d->x->reversals[i];

		for (int k = 0; k < 2; k++) {
			struct rev_side *side = &v->side[k];

			side->thread = side->thread ? side->thread : d->x->names[k ? v->pair.u : v->pair.t];
			side->what = side->what ? side->what : "access";
			side->instance = side->instance ? side->instance : 1;
		}
		v->object = v->object ? v->object : (char *)RD_UNKNOWN;
		if (v->meet && !can_meet(v)) {
			v->meet = false;
			v->replay.count = 0;
		}
	}
}

int rev_describe(struct rev_result *x, struct epa_source *source, bool objects)
{
	struct rev_describer d = {.x = x, .sites = epa_source_sites(source)};
	int err = epa_walk_open(&d.walk, source);

	if (err)
		return err;
	epa_names_init(&d.names, NULL);
	d.objects = epa_objects_new(d.walk, &d.names);
	d.done = rd_xcalloc(x->run.thread_count + 1, sizeof *d.done);
	d.call = rd_xcalloc(x->run.thread_count + 1, sizeof *d.call);
	d.seen = rd_xcalloc(2 * x->reversal_count + 1, sizeof *d.seen);
	for (size_t i = 0; i < x->run.thread_count; i++)
		d.call[i] = "";
	rev_feed_init(&d.feed, &x->run, d.sites);
	if (objects) {
		d.shadow = rev_shadow_new(&x->run);
		rev_shadow_listen(d.shadow, count_conflict, &d);
	}
	err = walk(&d);
	finish(&d);
	for (size_t i = 0; i < 2 * x->reversal_count; i++)
		rd_pmap_release(&d.seen[i]);
	rev_shadow_free(d.shadow);
	rev_feed_release(&d.feed);
	rd_pmap_release(&d.shared);
	epa_objects_free(d.objects);
	epa_names_release(&d.names);
	epa_walk_close(d.walk);
	RD_FREE(d.done, d.call, d.seen);
	return err;
}

struct trace_frame rev_frame(const struct trace_sites *sites, uint32_t site)
{
	struct trace_frame f = {"", "", 0, 0};

	if (site && trace_sites_frames(sites, site, &f, 1))
		return f;
	return (struct trace_frame){"", "", 0, 0};
}
