// SPDX-License-Identifier: Apache-2.0
/*
 * Chooses which pairs of a variable's accesses to check for a race.  The accesses are given in one
 * slot (order/slots.h) for each thread.  For each chosen pair, this file calls predict_race_ask().
 *
 * Two accesses e1 and e2 of different threads, e1 recorded first, can race only if e2 does not need
 * e1 (core-int.h).  Needs only grow along a thread, so walking both threads at once finds the first
 * such pair.  If the next e1 comes after e2, e2 advances to its thread's first access after e1.  If
 * e2 needs e1, e1 advances to the first access that e2 does not need.  So the number of steps
 * depends on how often the threads alternate, not on the number of accesses.
 *
 * Accesses of one thread with the same site, kind and locks form a group.  For two groups, this
 * file checks once whether they conflict, exclude each other or are already known.  Their pairs are
 * then walked in the same way.  Striped locks may lead to many lock sets, so a slot with more than
 * GROUPS_MAX groups is grouped without regard to locks.
 *
 * Pairs that are rejected without a question have a separate budget.  It is proportional to the
 * number of accesses to the variable, so that a hot variable does not use up the budget of the
 * others.
 */
#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/tuple.h"
#include "predict/race-int.h"

#include <stdlib.h>

/* All three of these constants were set by hand.  They bound only the time. */

/* The largest number of groups of a slot that are distinguished by locks. */
#define GROUPS_MAX 64
/* The budget of a variable, in steps: STEPS_EACH for each of its accesses, plus STEPS_MORE. */
#define STEPS_EACH 8
#define STEPS_MORE (1 << 16)

/* Accesses with the same key form a group. */
struct access_key {
	uint32_t locks; /* 1 + the number of the lock set; 0 if it is empty or not distinguished */
	uint32_t site, sort, event;
};

static int compare_numbers(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	RD_BY(*a, *b);
	return 0;
}

/* Numbers the lock sets.  A lock set is a set of held locks, regardless of the order in which they
 * were acquired. */
void predict_pairs_init(struct race_walk *w)
{
	const struct sections *s = &w->r->c.sections;
	struct rd_tuples sets = {0};
	uint32_t *set = NULL;
	size_t capacity = 0;

	w->held = rd_xmalloc((s->hold_count + 1) * sizeof *w->held);
	for (size_t i = 0; i < s->hold_count; i++) {
		size_t count = 0;
		for (uint32_t h = (uint32_t)i; h != NONE; h = s->holds[h].next) {
			const struct section *o = &s->list[s->holds[h].section];
			RD_ASSERT(s->holds[h].next == NONE || s->holds[h].next < h);
			RD_ASSERT(o->lock <= UINT32_MAX >> 1);
			RD_GROW(set, capacity, count + 1);
			set[count++] = o->lock << 1 | o->shared;
		}
		qsort(set, count, sizeof *set, compare_numbers);
		w->held[i] = rd_tuples_put(&sets, set, count, rd_tuple_hash(set, count), NULL) + 1;
	}
	free(set);
	rd_tuples_release(&sets);
}

void predict_pairs_release(struct race_walk *w)
{
	RD_FREE(w->held, w->keys, w->order, w->groups, w->free, w->summaries);
}

/* ---- properties of slots ---- */

static bool holds_alone(const struct core *c, uint32_t e, uint32_t lock)
{
	for (uint32_t i = core_held(c, e); i != NONE; i = c->sections.holds[i].next) {
		const struct section *s = &c->sections.list[c->sections.holds[i].section];
		if (s->lock == lock && !s->shared)
			return true;
	}
	return false;
}

static struct slot_summary summary_of(const struct core *c, const struct slot *slot)
{
	struct slot_summary h = {.lock_count = 0};

	for (uint32_t i = core_held(c, c->accesses.item[slot->begin]); i != NONE;
	     i = c->sections.holds[i].next) {
		const struct section *s = &c->sections.list[c->sections.holds[i].section];
		if (!s->shared && h.lock_count < sizeof h.locks / sizeof *h.locks)
			h.locks[h.lock_count++] = s->lock;
	}
	for (uint32_t i = slot->begin; i < slot->end; i++) {
		uint32_t e = c->accesses.item[i];
		h.writes |= exec_writes(c->events[e].kind);
		h.plain |= !(c->events[e].flags & EXEC_ATOMIC);
		for (uint32_t k = h.lock_count; k-- > 0;)
			if (!holds_alone(c, e, h.locks[k]))
				h.locks[k] = h.locks[--h.lock_count];
	}
	return h;
}

/* Returns true if accesses of two slots can conflict, and no lock excludes all their pairs. */
static bool may_race(const struct slot_summary *a, const struct slot_summary *b)
{
	if (!(a->writes || b->writes) || !(a->plain || b->plain))
		return false;
	for (uint32_t i = 0; i < a->lock_count; i++)
		for (uint32_t k = 0; k < b->lock_count; k++)
			if (a->locks[i] == b->locks[k])
				return false;
	return true;
}

/* ---- the first pair of two threads ---- */

/* Returns the first index, from `i` on, whose entry is at least `least`.  The `n` entries are in
 * ascending order.  Uses a galloping search, because the result is usually near. */
static uint32_t first_from(const uint32_t *item, uint32_t i, uint32_t n, uint32_t least)
{
	RD_ASSERT(i <= n);
	uint32_t step = 1, high = i;

	while (high < n && item[high] < least) {
		i = high + 1;
		high = n - high > step ? high + step : n;
		step *= 2;
	}
	return (uint32_t)rd_lower_bound(item, i, high, least);
}

static uint32_t first_free(const struct core *c, const struct slot *a, const struct slot *b)
{
	const uint32_t *item = c->accesses.item;
	uint32_t i = a->begin, j = b->begin;

	while (i < a->end && j < b->end) {
		uint32_t needed;
		if (item[i] > item[j]) {
			j = first_from(item, j, b->end, item[i]);
			continue;
		}
		needed = predict_race_before(c, &c->need, item[j], a->thread);
		if (c->accesses.index[i] >= needed)
			return item[j];
		i = first_from(c->accesses.index, i, a->end, needed);
	}
	return NONE;
}

bool predict_pairs_free(struct race_walk *w)
{
	const struct core *c = &w->r->c;
	const struct slot *slot = &c->accesses.slot[w->first];
	bool any = false;

	RD_GROW(w->summaries, w->summary_capacity, (size_t)w->slots + 1);
	RD_GROW(w->free, w->free_capacity, (size_t)w->slots * w->slots + 1);
	for (uint32_t i = 0; i < w->slots; i++)
		w->summaries[i] = summary_of(c, &slot[i]);
	for (uint32_t i = 0; i < w->slots; i++)
		for (uint32_t k = 0; k < w->slots; k++) {
			uint32_t *first = &w->free[(size_t)i * w->slots + k];
			*first = i != k && may_race(&w->summaries[i], &w->summaries[k])
					 ? first_free(c, &slot[i], &slot[k])
					 : NONE;
			any |= *first != NONE;
		}
	return any;
}

/* ---- groups ---- */

static bool same_group(const struct access_key *a, const struct access_key *b)
{
	return a->site == b->site && a->sort == b->sort && a->locks == b->locks;
}

RD_COMPARISON(compare_keys, struct access_key, site, sort, locks, event)

static void make_keys(struct race_walk *w, const struct slot *slot, bool mixed)
{
	const struct core *c = &w->r->c;
	uint32_t n = slot->end - slot->begin;
	bool sorted = true;

	RD_GROW(w->keys, w->key_capacity, (size_t)n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t e = c->accesses.item[slot->begin + i], h = core_held(c, e);
		w->keys[i] = (struct access_key){.locks = h == NONE || mixed ? 0 : w->held[h],
						 .site = race_raw(c, e)->site,
						 .sort = race_kind(c, e),
						 .event = e};
		sorted &= !i || compare_keys(&w->keys[i - 1], &w->keys[i]) < 0;
	}
	if (!sorted)
		qsort(w->keys, n, sizeof *w->keys, compare_keys);
}

/* Appends the groups of a slot.  Their accesses are stored in w->order from `begin` on. */
static void group_slot(struct race_walk *w, uint32_t number, uint32_t begin, bool mixed)
{
	const struct slot *slot = &w->r->c.accesses.slot[number];
	uint32_t n = slot->end - slot->begin;
	size_t before = w->group_count;

	make_keys(w, slot, mixed);
	for (uint32_t i = 0; i < n; i++) {
		w->order[begin + i] = w->keys[i].event;
		if (!i || !same_group(&w->keys[i - 1], &w->keys[i])) {
			RD_GROW(w->groups, w->group_capacity, w->group_count + 1);
			w->groups[w->group_count++] = (struct race_group){
				.items = w->order + begin + i, .slot = number, .mixed = mixed};
		}
		w->groups[w->group_count - 1].count++;
	}
	if (mixed || w->group_count - before <= GROUPS_MAX)
		return;
	w->group_count = before;
	group_slot(w, number, begin, true);
}

/* ---- pairs of groups ---- */

/* Counts a step; returns true once the budget is used up. */
static bool spend(struct race_walk *w)
{
	if (w->r->s.total >= 0 && --w->steps >= 0)
		return false;
	if (!w->cut)
		w->r->out->stats[w->r->class].unknown += w->effort == EFFORT_ALL;
	w->cut = w->live = true;
	return true;
}

/* Returns the first access of the group, from number `i` on, that is at or after `position` in its
 * thread. */
static uint32_t first_after(const struct core *c, const struct race_group *g, uint32_t i, uint32_t position)
{
	if (i < g->count && c->events[g->items[i]].index >= position)
		return i;
	RD_BISECT(i, g->count, at, c->events[g->items[at]].index < position);
	return i;
}

/* Asks about the pairs that consist of an access e1 of group `a` and an access e2 of group `b`.
 * Accesses of group `b` before `from` are not considered. */
static void walk_groups(struct race_walk *w, const struct race_group *a, const struct race_group *b,
			uint32_t from)
{
	RD_ASSERT(a->slot != b->slot);
	const struct core *c = &w->r->c;
	uint32_t thread = c->accesses.slot[a->slot].thread, i = 0;
	uint32_t j = first_from(b->items, 0, b->count, from);

	while (j < b->count && !spend(w)) {
		uint32_t e2 = b->items[j];
		i = first_after(c, a, i, predict_race_before(c, &c->need, e2, thread));
		if (i == a->count)
			return;
		if (a->items[i] > e2) {
			j = first_from(b->items, j, b->count, a->items[i]);
			continue;
		}
		w->live = true;
		if (predict_race_ask(w, e2, a, i) || !predict_race_wanted(w, a->items[i], e2))
			return;
		j++;
	}
}

static void consider(struct race_walk *w, const struct race_group *a, const struct race_group *b)
{
	const struct core *c = &w->r->c;
	uint32_t e1 = a->items[0], e2 = b->items[0];
	uint32_t from = race_free(w, a->slot - w->first, b->slot - w->first);

	if (from == NONE || !race_conflict(c, e1, e2))
		return;
	w->steps--;
	if ((!a->mixed && !b->mixed && core_common_lock(c, e1, e2)) || predict_race_known(w->r, e1, e2))
		return;
	if (predict_race_wanted(w, e1, e2))
		walk_groups(w, a, b, from);
	else
		w->live = true;
}

void predict_pairs_walk(struct race_walk *w)
{
	const struct slot *slot = &w->r->c.accesses.slot[w->first];
	uint32_t begin = slot->begin, count = slot[w->slots - 1].end - begin;

	w->group_count = 0;
	w->steps = w->r->o->max_tries == UINT32_MAX ? INT64_MAX : STEPS_EACH * (int64_t)count + STEPS_MORE;
	RD_GROW(w->order, w->order_capacity, (size_t)count);
	for (uint32_t i = 0; i < w->slots; i++)
		group_slot(w, w->first + i, slot[i].begin - begin, false);
	for (size_t k = 0; k < w->group_count; k++)
		for (size_t i = 0; i < w->group_count && !w->cut; i++)
			consider(w, &w->groups[i], &w->groups[k]);
}
