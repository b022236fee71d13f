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
 * variable is known.  The budget must not be spent on a few hard pairs while easy
 * ones wait, so all variables are gone over several times, with growing effort.
 */
#include "predict/internal.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* States of a pair of sites in r->pairs: found in which class. */
enum { PAIR_SOUND = 1, PAIR_SPECULATIVE = 2 };

/* What is tried for each pair: the first e1 in recorded order; others in recorded order; a
 * short search for a few; all that the options allow. */
enum effort { EFFORT_FIRST, EFFORT_RECORDED, EFFORT_FEW, EFFORT_ALL };

#define RECORDED_TRIES 256 /* of a pair of sites, with EFFORT_RECORDED */
#define FEW_TRIES 4
#define FEW_WORK 16 /* a short search has that part of the budget of a question */
#define ALL_TRIES 64

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

/* The accesses of a slot from one site; one group for all if sites do not matter. */
struct group {
	uint32_t slot, site;
	uint32_t begin, end; /* of walk.order */
	bool writes, plain;  /* some of them do, are */
};

/* One variable and one thread's accesses as e2. */
struct walk {
	struct predictor *r;
	enum effort effort;
	uint32_t variable;
	const struct slot *own;
	struct cursors cursors;
	struct guard *guards; /* by slot of the variable */
	size_t guard_capacity;
	struct group *groups; /* of the variable, slot by slot */
	size_t group_count, group_capacity;
	uint32_t *order; /* its accesses, group by group */
	size_t order_capacity;
	struct rd_umap
		failures; /* of a pair of sites: in recorded order, and times FAILED_SEARCH of searches */
	uint8_t *found;	  /* by variable: it has a race */
	bool cut;	  /* the budget ended before all pairs of the variable were seen */
};

#define FAILED_SEARCH (1ull << 32)

static const struct exec_event *raw(const struct core *c, uint32_t e)
{
	return &c->x->events[c->events[e].source];
}

static bool conflict(const struct core *c, uint32_t a, uint32_t b)
{
	return exec_conflict(raw(c, a), raw(c, b));
}

static uint64_t pair_key(const struct predictor *r, uint32_t e1, uint32_t e2)
{
	uint64_t a = raw(&r->c, e1)->site, b = raw(&r->c, e2)->site;
	return a < b ? a << 32 | b : b << 32 | a;
}

/* Whether a pair of these sites needs no further search. */
static bool pair_known(const struct predictor *r, uint32_t e1, uint32_t e2)
{
	const uint64_t *state = rd_umap_get(&r->pairs, pair_key(r, e1, e2));
	return state && *state & (r->class == PREDICT_SOUND ? PAIR_SOUND : PAIR_SOUND | PAIR_SPECULATIVE);
}

static void record(struct walk *w, uint32_t e1, uint32_t e2, enum predict_tier tier)
{
	struct predictor *r = w->r;
	struct predict_result *out = r->out;

	w->found[w->variable] = 1;
	if (pair_known(r, e1, e2))
		return;
	*rd_umap_put(&r->pairs, pair_key(r, e1, e2), NULL) |=
		r->class == PREDICT_SOUND ? PAIR_SOUND : PAIR_SPECULATIVE;
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
		if (!w->r->o->count_events && pair_known(w->r, e1, e2))
			return NONE;
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
	for (uint32_t i = core_held(c, e); i != NONE; i = c->sections.holds[i].next) {
		const struct section *s = &c->sections.list[c->sections.holds[i].section];
		if (s->lock == lock && !s->shared)
			return true;
	}
	return false;
}

static struct guard guard_of(const struct core *c, const struct slot *slot)
{
	struct guard g = {.count = 0};

	for (uint32_t i = core_held(c, c->accesses.item[slot->begin]); i != NONE;
	     i = c->sections.holds[i].next) {
		const struct section *s = &c->sections.list[c->sections.holds[i].section];
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

static enum answer search(struct walk *w, uint32_t e1, uint32_t e2)
{
	struct search *s = &w->r->s;
	int64_t limit = s->work_limit;
	enum answer a;

	if (w->effort == EFFORT_RECORDED || w->r->o->recorded_order_only)
		return ANSWER_NO;
	if (w->effort == EFFORT_FEW)
		s->work_limit /= FEW_WORK;
	w->r->out->stats[w->r->class].searches++;
	a = search_run(s, (uint32_t[]){e1, e2}, 2);
	s->work_limit = limit;
	return a;
}

/* Asks about one pair; true for a race. */
static bool try_pair(struct walk *w, uint32_t e1, uint32_t e2)
{
	struct predictor *r = w->r;
	enum answer a;

	if (!r->o->count_events && predict_sp_reach(r, (uint32_t[]){e1, e2}, 2)) {
		record(w, e1, e2, PREDICT_RECORDED_ORDER);
		return true;
	}
	a = search(w, e1, e2);
	if (a == ANSWER_YES) {
		record(w, e1, e2, PREDICT_EXACT);
		return true;
	}
	r->out->stats[r->class].unknown += a == ANSWER_UNKNOWN && w->effort == EFFORT_ALL;
	*rd_umap_put(&w->failures, pair_key(r, e1, e2), NULL) +=
		w->effort == EFFORT_RECORDED ? 1 : FAILED_SEARCH;
	return false;
}

/* Whether more pairs of these sites are tried. */
static bool is_wanted(const struct walk *w, uint32_t e1, uint32_t e2)
{
	const uint64_t *failures;
	bool all = w->r->o->max_tries == UINT32_MAX || !w->found[w->variable];

	if (w->r->o->count_events)
		return true;
	if (pair_known(w->r, e1, e2))
		return false;
	failures = rd_umap_get(&w->failures, pair_key(w->r, e1, e2));
	if (!failures)
		return true;
	if (w->effort == EFFORT_RECORDED)
		return (uint32_t)*failures < RECORDED_TRIES;
	if (w->effort == EFFORT_FEW)
		return *failures / FAILED_SEARCH < FEW_TRIES;
	return all || *failures / FAILED_SEARCH < ALL_TRIES;
}

/* The first access of the group at or behind a position of its thread. */
static uint32_t first_behind(const struct walk *w, const struct group *g, uint32_t position)
{
	uint32_t low = g->begin, high = g->end;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (w->r->c.events[w->order[middle]].index < position)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool may_conflict(const struct core *c, uint32_t e2, const struct group *g)
{
	const struct exec_event *e = raw(c, e2);

	return (exec_writes(e->kind) || g->writes) && (!(e->flags & EXEC_ATOMIC) || g->plain);
}

static bool find_exact_in(struct walk *w, uint32_t e2, const struct group *g)
{
	const struct core *c = &w->r->c;
	uint32_t limit = w->r->o->max_tries ? w->r->o->max_tries : ALL_TRIES, tries = 0, seen = 0;
	uint32_t i = first_behind(w, g, before(c, &c->need, e2, c->accesses.slot[g->slot].thread));

	for (; i < g->end && w->order[i] < e2 && tries < limit && !w->cut; i++) {
		uint32_t e1 = w->order[i];
		if (seen++ > 64 * (uint64_t)limit && w->found[w->variable])
			break;
		--w->r->s.total;
		if (!conflict(c, e1, e2) || core_common_lock(c, e1, e2))
			continue;
		if (w->r->s.total < 0) {
			w->r->out->stats[w->r->class].unknown += w->effort == EFFORT_ALL;
			w->cut = true;
			break;
		}
		tries++;
		if (try_pair(w, e1, e2))
			return true;
		if (!is_wanted(w, e1, e2))
			break;
	}
	return false;
}

static bool find_exact(struct walk *w, uint32_t e2)
{
	const struct core *c = &w->r->c;
	bool found = false;

	for (size_t i = 0; i < w->group_count && !(found && w->r->o->count_events); i++) {
		const struct group *g = &w->groups[i];
		const struct slot *slot = &c->accesses.slot[g->slot];
		if (slot != w->own && may_conflict(c, e2, g) && !guarded(w, slot) &&
		    is_wanted(w, w->order[g->begin], e2))
			found |= find_exact_in(w, e2, g);
	}
	return found;
}

/* Decides the event altogether. */
static void decide(struct walk *w, uint32_t e2)
{
	struct predictor *r = w->r;
	bool racy = find_recorded(w, e2);

	if (!racy && !r->o->recorded_order_only)
		racy = find_exact(w, e2);
	if (racy)
		r->out->racy[r->c.events[e2].source] |= (uint8_t)(1u << r->class);
}

static void walk_slot(struct walk *w)
{
	const struct core *c = &w->r->c;
	uint32_t first = c->accesses.first[w->variable], n = c->accesses.first[w->variable + 1] - first;

	RD_GROW(w->cursors.at, w->cursors.capacity, (size_t)n * SORTS);
	for (uint32_t i = 0; i < n; i++)
		for (unsigned sort = 0; sort < SORTS; sort++)
			w->cursors.at[i * SORTS + sort] = c->accesses.slot[first + i].begin;
	for (uint32_t i = w->own->begin; i < w->own->end; i++) {
		uint32_t e2 = c->accesses.item[i];
		if (w->r->o->count_events)
			decide(w, e2);
		else if (w->effort == EFFORT_FIRST)
			find_recorded(w, e2);
		else if (!w->cut)
			find_exact(w, e2);
	}
}

static int compare_sites(const void *left, const void *right, void *context)
{
	const struct core *c = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint32_t sites[] = {raw(c, a)->site, raw(c, b)->site};

	if (sites[0] != sites[1])
		return sites[0] < sites[1] ? -1 : 1;
	return (a > b) - (a < b);
}

/* Appends the groups of a slot. */
static void group_slot(struct walk *w, uint32_t number)
{
	const struct core *c = &w->r->c;
	const struct slot *slot = &c->accesses.slot[number];
	uint32_t begin = w->group_count ? w->groups[w->group_count - 1].end : 0, n = slot->end - slot->begin;
	bool apart = !w->r->o->count_events;

	RD_GROW(w->order, w->order_capacity, (size_t)begin + n);
	memcpy(w->order + begin, c->accesses.item + slot->begin, n * sizeof *w->order);
	if (apart)
		qsort_r(w->order + begin, n, sizeof *w->order, compare_sites, (void *)c);
	for (uint32_t i = begin; i < begin + n; i++) {
		uint32_t site = apart ? raw(c, w->order[i])->site : 0;
		if (i == begin || site != w->groups[w->group_count - 1].site) {
			RD_GROW(w->groups, w->group_capacity, w->group_count + 1);
			w->groups[w->group_count++] =
				(struct group){.slot = number, .site = site, .begin = i};
		}
		struct group *g = &w->groups[w->group_count - 1];
		g->end = i + 1;
		g->writes |= exec_writes(raw(c, w->order[i])->kind);
		g->plain |= !(raw(c, w->order[i])->flags & EXEC_ATOMIC);
	}
}

static void walk_variable(struct walk *w)
{
	const struct core *c = &w->r->c;
	uint32_t first = c->accesses.first[w->variable], end = c->accesses.first[w->variable + 1];

	w->cut = false;
	w->group_count = 0;
	RD_GROW(w->guards, w->guard_capacity, end - first + 1);
	for (uint32_t i = first; i < end; i++) {
		w->guards[i - first] = guard_of(c, &c->accesses.slot[i]);
		if (w->effort != EFFORT_FIRST)
			group_slot(w, i);
	}
	for (uint32_t i = first; i < end; i++) {
		w->own = &c->accesses.slot[i];
		walk_slot(w);
	}
}

void predict_races(struct predictor *r)
{
	struct walk w = {.r = r, .failures = RD_UMAP_INIT};

	w.found = rd_xcalloc((size_t)r->c.variables + 1, 1);
	for (w.effort = r->o->count_events ? EFFORT_ALL : EFFORT_FIRST; w.effort <= EFFORT_ALL; w.effort++)
		for (w.variable = 0; w.variable < r->c.variables; w.variable++)
			walk_variable(&w);
	rd_umap_release(&w.failures);
	RD_FREE(w.found, w.groups, w.order, w.guards, w.cursors.at);
}
