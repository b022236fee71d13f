/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Races: pairs of conflicting accesses that can stand next to one another.
 *
 * Meaning: for every variable, every two accesses e1 before e2 (recorded order)
 * of different threads, at least one a write and not both atomic, that neither
 * the must-order nor a common lock excludes: is there a schedule after which both
 * are the next events of their threads?
 *
 * In recorded order (tier 1) "no" is monotone: if closing the ideal before e1
 * and e2 swallows e1, it does so for every later e2 of the same thread.  A common
 * lock is a special case of that.  So one cursor for each pair of threads and
 * sort of e2 visits each e1 once; e2 is never swallowed, since a closure only
 * adds what came earlier in the recording.
 *
 * Only what tier 1 does not find goes to the exact search.  Unless every event
 * has to be decided (count_events), one race for a pair of code sites is enough,
 * and a pair of sites that has failed often is given up after a race on the
 * variable is known.
 */
#include "predict/internal.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* States of a pair of sites in r->pairs: bits for the classes, then the number
 * of failed searches. */
enum { PAIR_SOUND = 1, PAIR_SPECULATIVE = 2, PAIR_FAILED = 4 };

#define SORTS 4 /* of e2: written, atomic */

struct cursors {
	uint32_t *at; /* SORTS for each slot of the variable */
	size_t capacity;
};

/* Locks that a thread holds, not shared, at each of its accesses of a variable. */
struct guard {
	uint32_t locks[4];
	uint32_t count;
};

/* One variable and one thread's accesses as e2. */
struct walk {
	struct predictor *r;
	uint32_t variable;
	const struct slot *own;
	struct cursors cursors;
	struct guard *guards; /* by slot of the variable */
	size_t guard_capacity;
	bool found; /* a race on this variable */
	bool cut;   /* the budget ended before all of its pairs were seen */
};

static const struct exec_event *raw(const struct core *c, uint32_t e)
{
	return &c->x->events[c->events[e].source];
}

static bool conflict(const struct core *c, uint32_t a, uint32_t b)
{
	return exec_conflict(raw(c, a), raw(c, b));
}

static uint64_t *pair_state(struct predictor *r, uint32_t e1, uint32_t e2)
{
	uint64_t a = raw(&r->c, e1)->site, b = raw(&r->c, e2)->site;
	return rd_umap_put(&r->pairs, a < b ? a << 32 | b : b << 32 | a, NULL);
}

/* Whether a pair of these sites needs no further search. */
static bool pair_known(struct predictor *r, uint32_t e1, uint32_t e2)
{
	uint64_t state = *pair_state(r, e1, e2);
	return state & (r->class == PREDICT_SOUND ? PAIR_SOUND : PAIR_SOUND | PAIR_SPECULATIVE);
}

static void record(struct walk *w, uint32_t e1, uint32_t e2, enum predict_tier tier)
{
	struct predictor *r = w->r;
	struct predict_result *out = r->out;

	w->found = true;
	if (pair_known(r, e1, e2))
		return;
	*pair_state(r, e1, e2) |= r->class == PREDICT_SOUND ? PAIR_SOUND : PAIR_SPECULATIVE;
	RD_GROW(out->races, out->race_capacity, out->race_count + 1);
	struct predict_race *race = &out->races[out->race_count++];
	*race = (struct predict_race){.first = r->c.events[e1].source,
				      .second = r->c.events[e2].source,
				      .class = r->class,
				      .tier = tier};
	if (tier == PREDICT_EXACT)
		predict_witness_of_search(&r->s, &race->witness);
	else
		predict_witness_of_ideal(&r->c, r->p, &race->witness);
}

bool predict_sp_reach(struct predictor *r, const uint32_t *targets, uint32_t count)
{
	if (!search_least(&r->c, &r->c.closed, targets, count, r->p))
		return false;
	predict_sp_close(&r->c, r->p);
	for (uint32_t i = 0; i < count; i++)
		if (core_in(&r->c, r->p, targets[i]))
			return false;
	return core_sure(&r->c, r->p);
}

/* How much of `thread` must have run before `e` in a table of rows. */
static uint32_t before(const struct core *c, const struct rows *rows, uint32_t e, uint32_t thread)
{
	const struct event *v = &c->events[e];

	if (v->index)
		return core_at(c, rows, core_event(c, v->thread, v->index - 1), thread);
	for (uint32_t i = c->must.first[e]; i < c->must.first[e + 1]; i++)
		if (c->events[c->must.item[i]].kind == EXEC_FORK &&
		    c->events[c->must.item[i]].object == v->thread)
			return core_at(c, rows, c->must.item[i], thread);
	return 0;
}

/* Moves the cursor of `slot` to the first e1 that races with e2 in recorded
 * order; NONE if there is none. */
static uint32_t first_recorded(struct walk *w, uint32_t e2, const struct slot *slot, uint32_t *cursor)
{
	const struct core *c = &w->r->c;
	uint32_t past = before(c, &c->closed, e2, slot->thread);

	for (; *cursor < slot->end; ++*cursor) {
		uint32_t e1 = c->accesses.item[*cursor];
		if (e1 > e2)
			return NONE;
		if (c->accesses.index[*cursor] < past || !conflict(c, e1, e2) || core_common_lock(c, e1, e2))
			continue;
		w->r->out->stats[w->r->class].candidates++;
		if (predict_sp_reach(w->r, (uint32_t[]){e1, e2}, 2))
			return e1;
	}
	return NONE;
}

static unsigned sort_of(const struct core *c, uint32_t e)
{
	const struct event *v = &c->events[e];
	return (exec_writes(v->kind) ? 2 : 0) | (v->flags & EXEC_ATOMIC ? 1 : 0);
}

static bool holds_alone(const struct core *c, uint32_t e, uint32_t lock)
{
	for (uint32_t i = core_held(c, e); i != NONE; i = c->holds[i].next) {
		const struct section *s = &c->sections[c->holds[i].section];
		if (s->lock == lock && !s->shared)
			return true;
	}
	return false;
}

static struct guard guard_of(const struct core *c, const struct slot *slot)
{
	struct guard g = {.count = 0};

	for (uint32_t i = core_held(c, c->accesses.item[slot->begin]); i != NONE; i = c->holds[i].next) {
		const struct section *s = &c->sections[c->holds[i].section];
		if (!s->shared && g.count < sizeof g.locks / sizeof *g.locks)
			g.locks[g.count++] = s->lock;
	}
	for (uint32_t i = slot->begin + 1; i < slot->end && g.count; i++)
		for (uint32_t k = g.count; k-- > 0;)
			if (!holds_alone(c, c->accesses.item[i], g.locks[k]))
				g.locks[k] = g.locks[--g.count];
	return g;
}

/* Whether a lock excludes every pair of accesses of this thread and that one. */
static bool guarded(const struct walk *w, const struct slot *slot)
{
	const struct core *c = &w->r->c;
	const struct slot *first = &c->accesses.slot[c->accesses.first[w->variable]];
	const struct guard *a = &w->guards[slot - first], *b = &w->guards[w->own - first];

	for (uint32_t i = 0; i < a->count; i++)
		for (uint32_t k = 0; k < b->count; k++)
			if (a->locks[i] == b->locks[k])
				return true;
	return false;
}

static bool find_recorded(struct walk *w, uint32_t e2)
{
	const struct core *c = &w->r->c;
	uint32_t first = c->accesses.first[w->variable], end = c->accesses.first[w->variable + 1];
	bool found = false;

	for (uint32_t i = first; i < end && !(found && w->r->o->count_events); i++) {
		const struct slot *slot = &c->accesses.slot[i];
		if (slot == w->own || guarded(w, slot))
			continue;
		uint32_t e1 =
			first_recorded(w, e2, slot, &w->cursors.at[(i - first) * SORTS + sort_of(c, e2)]);
		if (e1 == NONE)
			continue;
		found = true;
		record(w, e1, e2, PREDICT_RECORDED_ORDER);
	}
	return found;
}

/* Asks the search about one pair; true for a race. */
static bool try_pair(struct walk *w, uint32_t e1, uint32_t e2)
{
	struct predictor *r = w->r;
	enum answer a;

	r->out->stats[r->class].searches++;
	if (!r->o->count_events && predict_sp_reach(r, (uint32_t[]){e1, e2}, 2)) {
		record(w, e1, e2, PREDICT_RECORDED_ORDER);
		return true;
	}
	a = r->o->recorded_order_only ? ANSWER_NO : search_run(&r->s, (uint32_t[]){e1, e2}, 2);
	if (a == ANSWER_YES) {
		record(w, e1, e2, PREDICT_EXACT);
		return true;
	}
	r->out->stats[r->class].unknown += a == ANSWER_UNKNOWN;
	*pair_state(r, e1, e2) += PAIR_FAILED;
	return false;
}

static bool worth_trying(struct walk *w, uint32_t e1, uint32_t e2)
{
	const struct core *c = &w->r->c;
	bool all = w->r->o->count_events || w->r->o->max_tries == UINT32_MAX;

	if (!conflict(c, e1, e2) || core_common_lock(c, e1, e2))
		return false;
	if (w->r->o->count_events)
		return true;
	if (pair_known(w->r, e1, e2))
		return false;
	return all || !w->found || *pair_state(w->r, e1, e2) / PAIR_FAILED < 64;
}

static bool find_exact_in(struct walk *w, uint32_t e2, const struct slot *slot)
{
	const struct core *c = &w->r->c;
	uint32_t limit = w->r->o->max_tries ? w->r->o->max_tries : 64, tries = 0, seen = 0;
	uint32_t i =
		slot->begin + predict_slots_below(&c->accesses, slot, before(c, &c->need, e2, slot->thread));
	bool found = false;

	for (; i < slot->end && c->accesses.item[i] < e2 && tries < limit; i++) {
		uint32_t e1 = c->accesses.item[i];
		if (seen++ > 64 * (uint64_t)limit && w->found)
			break;
		if (--w->r->s.total < 0) {
			w->r->out->stats[w->r->class].unknown += !w->cut;
			w->cut = true;
			break;
		}
		if (!worth_trying(w, e1, e2))
			continue;
		tries++;
		if (!try_pair(w, e1, e2))
			continue;
		found = true;
		if (w->r->o->count_events)
			break;
	}
	return found;
}

static bool find_exact(struct walk *w, uint32_t e2)
{
	const struct core *c = &w->r->c;
	bool found = false;

	for (uint32_t i = c->accesses.first[w->variable]; i < c->accesses.first[w->variable + 1]; i++) {
		if (&c->accesses.slot[i] == w->own || guarded(w, &c->accesses.slot[i]))
			continue;
		found |= find_exact_in(w, e2, &c->accesses.slot[i]);
		if (found && w->r->o->count_events)
			break;
	}
	return found;
}

static void decide(struct walk *w, uint32_t e2)
{
	struct predictor *r = w->r;
	struct predict_stats *stats = &r->out->stats[r->class];
	bool recorded = find_recorded(w, e2), racy = recorded;
	bool is_new;

	if (!(recorded && r->o->count_events) && !(r->o->recorded_order_only && r->o->count_events))
		racy |= find_exact(w, e2);
	if (!racy)
		return;
	stats->racy_events++;
	stats->in_recorded_order += recorded;
	rd_umap_put(&r->sites, raw(&r->c, e2)->site, &is_new);
	stats->racy_sites += is_new;
}

static void walk_slot(struct walk *w)
{
	const struct core *c = &w->r->c;
	uint32_t first = c->accesses.first[w->variable], n = c->accesses.first[w->variable + 1] - first;

	RD_GROW(w->cursors.at, w->cursors.capacity, (size_t)n * SORTS);
	for (uint32_t i = 0; i < n; i++)
		for (unsigned sort = 0; sort < SORTS; sort++)
			w->cursors.at[i * SORTS + sort] = c->accesses.slot[first + i].begin;
	for (uint32_t i = w->own->begin; i < w->own->end; i++)
		decide(w, c->accesses.item[i]);
}

void predict_races(struct predictor *r)
{
	const struct core *c = &r->c;
	struct walk w = {.r = r};

	for (w.variable = 0; w.variable < c->variables; w.variable++) {
		uint32_t first = c->accesses.first[w.variable];
		w.found = w.cut = false;
		RD_GROW(w.guards, w.guard_capacity, c->accesses.first[w.variable + 1] - first + 1);
		for (uint32_t i = first; i < c->accesses.first[w.variable + 1]; i++)
			w.guards[i - first] = guard_of(c, &c->accesses.slot[i]);
		for (uint32_t i = c->accesses.first[w.variable]; i < c->accesses.first[w.variable + 1]; i++) {
			w.own = &c->accesses.slot[i];
			walk_slot(&w);
		}
	}
	free(w.guards);
	free(w.cursors.at);
}
