/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds races.  A race is a pair of conflicting accesses that can both be next at the same time.
 *
 * For every variable, consider two accesses e1 and e2 of different threads, e1 recorded before e2.
 * At least one is a write, not both are atomic, and neither the must-order nor a common lock
 * excludes a race.  The question is whether some schedule leads to a state in which both are the
 * next events of their threads.
 *
 * In recorded order (tier 1), the answer "no" is monotone: if the closure of the ideal before e1
 * and e2 contains e1, it also does for every later e2 of the same thread.  A common lock is a
 * special case of this.  So one cursor for each pair of threads and each kind of e2 visits each e1
 * once.  The closure never contains e2, since it only adds events earlier than e2.
 *
 * Only pairs that tier 1 does not find go to the exact search.  Unless every event has to be
 * decided (count_events), one race per pair of code sites is enough.  A pair of sites that has
 * failed often is given up once a race on the variable is known.  A few hard pairs must not use up
 * the budget while easy ones wait.  So all variables are visited several times, with growing
 * effort; variables without open questions are skipped.  pair.c chooses the pairs.
 */
#include "predict/race-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* Bits of a pair of sites in r->pairs.  They show in which classes the pair has a known race. */
enum { PAIR_SOUND = 1, PAIR_SPECULATIVE = 2 };

/* How much is tried before the thorough pass (EFFORT_ALL).  Set by hand. */
/* The number of pairs of accesses that are tried for one pair of sites with EFFORT_RECORDED. */
#define RECORDED_TRIES 256
#define FEW_TRIES 4 /* the same limit with EFFORT_FEW */
#define FEW_WORK 16 /* a short search may use 1/FEW_WORK of the budget of a question */

#define KINDS 4 /* kinds of e2: a write or not, atomic or not */

/* The upper half of a word counts failed searches, and the lower half counts failures in recorded
 * order. */
#define FAILED_SEARCH (1ull << 32)

static uint64_t pair_key(const struct predictor *r, uint32_t e1, uint32_t e2)
{
	return predict_pair_key(race_raw(&r->c, e1)->site, race_raw(&r->c, e2)->site);
}

bool predict_race_known(const struct predictor *r, uint32_t e1, uint32_t e2)
{
	uint64_t key = pair_key(r, e1, e2);
	const uint64_t *state = rd_umap_get(r->pairs, key);

	if (r->o->wanted && !rd_umap_get(r->o->wanted, key))
		return true;
	return state && *state & (r->class == PREDICT_SOUND ? PAIR_SOUND : PAIR_SOUND | PAIR_SPECULATIVE);
}

static void record(struct race_walk *w, uint32_t e1, uint32_t e2, enum predict_tier tier)
{
	RD_ASSERT(e1 < e2);
	struct predictor *r = w->r;
	struct predict_result *out = r->out;

	w->found[w->variable] = 1;
	if (predict_race_known(r, e1, e2))
		return;
	*rd_umap_put(r->pairs, pair_key(r, e1, e2), NULL) |=
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
	RD_ASSERT(count > 0);
	if (!search_least(&r->c, &r->c.closed, targets, count, r->p))
		return false;
	predict_sp_close(&r->c, r->p);
	for (uint32_t i = 0; i < count; i++)
		if (core_in(&r->c, r->p, targets[i]))
			return false;
	return core_sure(&r->c, r->p);
}

uint32_t predict_race_before(const struct core *c, const struct rows *rows, uint32_t e, uint32_t thread)
{
	const struct event *v = &c->events[e];

	if (core_begins(c, e))
		return core_fork(c, e) == NONE ? 0 : core_at(c, rows, core_fork(c, e), thread);
	return core_at(c, rows, core_event(c, v->thread, v->index - 1), thread);
}

/* Moves the cursor of `slot` to the first access e1 that races with e2 in the recorded order.
 * Returns that access, or NONE if there is none. */
static uint32_t first_recorded(struct race_walk *w, uint32_t e2, const struct slot *slot, uint32_t *cursor)
{
	const struct core *c = &w->r->c;
	uint32_t needed = predict_race_before(c, &c->closed, e2, slot->thread);

	for (; *cursor < slot->end; ++*cursor) {
		uint32_t e1 = c->accesses.item[*cursor];
		if (e1 > e2)
			return NONE;
		if (c->accesses.index[*cursor] < needed || !race_conflict(c, e1, e2) ||
		    core_common_lock(c, e1, e2))
			continue;
		if (!w->r->o->count_events && predict_race_known(w->r, e1, e2))
			return NONE;
		w->r->out->stats[w->r->class].candidates++;
		if (predict_sp_reach(w->r, (uint32_t[]){e1, e2}, 2))
			return e1;
	}
	return NONE;
}

static bool find_recorded(struct race_walk *w, uint32_t e2)
{
	const struct core *c = &w->r->c;
	const struct slot *slots = &c->accesses.slot[w->first];
	bool found = false;

	for (uint32_t i = 0; i < w->slots && !(found && w->r->o->count_events); i++) {
		uint32_t from = race_free(w, i, (uint32_t)(w->slot - slots));
		if (from == NONE || e2 < from)
			continue;
		uint32_t e1 = first_recorded(w, e2, &slots[i], &w->cursors[i * KINDS + race_kind(c, e2)]);
		if (e1 == NONE)
			continue;
		found = true;
		record(w, e1, e2, PREDICT_RECORDED_ORDER);
	}
	return found;
}

static enum answer search(struct race_walk *w, uint32_t e1, uint32_t e2)
{
	RD_ASSERT(e1 < e2);
	struct predict_search *s = &w->r->s;
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

static bool try_pair(struct race_walk *w, uint32_t e1, uint32_t e2)
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

bool predict_race_wanted(const struct race_walk *w, uint32_t e1, uint32_t e2)
{
	const uint64_t *failures;
	bool all = w->r->o->max_tries == UINT32_MAX || !w->found[w->variable];

	if (w->r->o->count_events)
		return true;
	if (predict_race_known(w->r, e1, e2))
		return false;
	failures = rd_umap_get(&w->failures, pair_key(w->r, e1, e2));
	if (!failures)
		return true;
	if (w->effort == EFFORT_RECORDED)
		return (uint32_t)*failures < RECORDED_TRIES;
	if (w->effort == EFFORT_FEW)
		return *failures / FAILED_SEARCH < FEW_TRIES;
	return all || *failures / FAILED_SEARCH < RACE_TRIES;
}

/* Counts a step; returns true once the budget is used up. */
static bool spend(struct race_walk *w)
{
	bool count = w->r->o->count_events;

	if (count ? --w->r->s.total < 0 : w->r->s.total < 0 || --w->steps < 0) {
		w->r->out->stats[w->r->class].unknown += w->effort == EFFORT_ALL;
		w->cut = w->live = true;
	}
	return w->cut;
}

bool predict_race_ask(struct race_walk *w, uint32_t e2, const struct race_group *g, uint32_t from)
{
	const struct core *c = &w->r->c;
	uint32_t limit = w->r->o->max_tries ? w->r->o->max_tries : RACE_TRIES, tries = 0, seen = 0;

	for (uint32_t i = from; i < g->count && g->items[i] < e2 && tries < limit && !w->cut; i++) {
		uint32_t e1 = g->items[i];
		if (seen++ > 64 * (uint64_t)limit && w->found[w->variable])
			break;
		if (spend(w))
			break;
		if (!race_conflict(c, e1, e2) || core_common_lock(c, e1, e2))
			continue;
		tries++;
		if (try_pair(w, e1, e2))
			return true;
		if (!predict_race_wanted(w, e1, e2))
			break;
	}
	return false;
}

/* Returns true if e2 races with an access of any thread.  Used with count_events. */
static bool find_exact(struct race_walk *w, uint32_t e2)
{
	const struct core *c = &w->r->c;
	const struct slot *slots = &c->accesses.slot[w->first];
	bool found = false, writes = exec_writes(c->events[e2].kind),
	     plain = !(c->events[e2].flags & EXEC_ATOMIC);

	for (uint32_t i = 0; i < w->slots && !found; i++) {
		const struct slot *slot = &slots[i];
		struct race_group all = {.items = c->accesses.item + slot->begin,
					 .count = slot->end - slot->begin,
					 .slot = w->first + i};
		uint32_t from = race_free(w, i, (uint32_t)(w->slot - slots));
		if (from == NONE || e2 < from || !(writes || w->summaries[i].writes) ||
		    !(plain || w->summaries[i].plain))
			continue;
		found = predict_race_ask(
			w, e2, &all,
			slots_below(&c->accesses, slot, predict_race_before(c, &c->need, e2, slot->thread)));
	}
	return found;
}

/* Decides, for e2 and each other thread, whether e2 races with an access of that thread. */
static void decide(struct race_walk *w, uint32_t e2)
{
	struct predictor *r = w->r;
	bool racy = find_recorded(w, e2);

	if (!racy && !r->o->recorded_order_only)
		racy = find_exact(w, e2);
	if (racy)
		r->out->racy[r->c.events[e2].source] |= (uint8_t)(1u << r->class);
}

static void walk_slot(struct race_walk *w)
{
	const struct core *c = &w->r->c;

	RD_GROW(w->cursors, w->cursor_capacity, (size_t)w->slots * KINDS);
	for (uint32_t i = 0; i < w->slots; i++)
		for (unsigned sort = 0; sort < KINDS; sort++)
			w->cursors[i * KINDS + sort] = c->accesses.slot[w->first + i].begin;
	for (uint32_t i = w->slot->begin; i < w->slot->end; i++) {
		if (w->r->o->count_events)
			decide(w, c->accesses.item[i]);
		else
			find_recorded(w, c->accesses.item[i]);
	}
}

/* Returns true if the budget was used up before the variable could be examined. */
static bool is_late(struct race_walk *w)
{
	bool asks = w->effort != EFFORT_FIRST && !w->r->o->count_events;

	if (!search_late(&w->r->s) && (!asks || w->r->s.total >= 0))
		return false;
	w->r->out->stats[w->r->class].unknown += w->effort == EFFORT_ALL;
	return true;
}

static void walk_variable(struct race_walk *w)
{
	const struct core *c = &w->r->c;

	w->first = c->accesses.first[w->variable];
	w->slots = slots_threads(&c->accesses, w->variable);
	w->cut = w->live = false;
	if (w->dead[w->variable] || w->slots < 2 || is_late(w))
		return;
	if (!predict_pairs_free(w)) {
		w->dead[w->variable] = 1;
	} else if (w->effort != EFFORT_FIRST && !w->r->o->count_events) {
		predict_pairs_walk(w);
		w->dead[w->variable] = !w->live;
	} else {
		for (uint32_t i = 0; i < w->slots; i++) {
			w->slot = &c->accesses.slot[w->first + i];
			walk_slot(w);
		}
	}
}

void predict_races_open(struct predictor *r)
{
	struct race_walk *w = rd_xcalloc(1, sizeof *w);

	RD_ASSERT(!r->walk);
	*w = (struct race_walk){.r = r, .failures = RD_UMAP_INIT};
	w->effort = r->o->count_events ? EFFORT_ALL : EFFORT_FIRST;
	w->found = rd_xcalloc((size_t)r->c.variables + 1, 1);
	w->dead = rd_xcalloc((size_t)r->c.variables + 1, 1);
	predict_pairs_init(w);
	r->walk = w;
}

bool predict_races_next(struct predictor *r)
{
	struct race_walk *w = r->walk;

	if (w->effort > EFFORT_ALL)
		return false;
	for (w->variable = 0; w->variable < r->c.variables; w->variable++)
		walk_variable(w);
	r->out->looked |= w->effort == EFFORT_FIRST && !r->s.late;
	w->effort++;
	return true;
}

void predict_races_close(struct predictor *r)
{
	struct race_walk *w = r->walk;

	predict_pairs_release(w);
	rd_umap_release(&w->failures);
	RD_FREE(w->found, w->dead, w->cursors);
	free(w);
	r->walk = NULL;
}
