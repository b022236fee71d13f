/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches over ideals (search-int.h).
 *
 * The search starts from the smallest ideal that every witness must contain.  It grows the ideal
 * only where a witness must be larger:
 *   - two conflicting sections are open: one of them must end;
 *   - there are more takes than the initial value and the posts allow: another post is needed;
 *   - a target waits for a semaphore that is not zero: another take is needed.
 *
 * If the ideal cannot be scheduled, the search adds something that could help: the end of an open
 * section whose lock others in the ideal use, another post, or a wake that consumes a notification.
 *
 * The search is complete, which can be seen by following any witness.  At each branch, one
 * alternative adds only events of the witness.  When none of the above reasons to grow is left, the
 * witness restricted to the ideal is a schedule of the ideal.
 */
#include "predict/search-int.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/compare.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* After this many ideals without a schedule, the search checks whether any choices are left.  Set
 * by hand. */
#define REFUTED_BEFORE_CHECK 16

static void build_must_next(struct predict_search *s)
{
	const struct core *c = s->c;
	struct core_list *l = &s->must_next;
	uint32_t n = c->must.first[c->count];

	l->first = rd_xcalloc((size_t)c->count + 2, sizeof *l->first);
	l->item = rd_xmalloc(((size_t)n + 1) * sizeof *l->item);
	for (uint32_t i = 0; i < n; i++)
		l->first[c->must.item[i] + 2]++;
	for (uint32_t i = 1; i < c->count + 2; i++)
		l->first[i] += l->first[i - 1];
	for (uint32_t e = 0; e < c->count; e++)
		for (uint32_t i = c->must.first[e]; i < c->must.first[e + 1]; i++)
			l->item[l->first[c->must.item[i] + 1]++] = e;
}

void search_init(struct predict_search *s, const struct core *c, int64_t work_limit)
{
	RD_ASSERT(work_limit > 0);
	*s = (struct predict_search){.c = c, .work_limit = work_limit, .cost = 1 + c->threads / 16};
	build_must_next(s);
	order_init(s);
	sched_init(s);
	s->ideal = rd_xcalloc((size_t)c->threads + 1, sizeof *s->ideal);
	s->schedule = rd_xmalloc(((size_t)c->count + 1) * sizeof *s->schedule);
}

void search_release(struct predict_search *s)
{
	order_release(s);
	sched_release(s);
	rd_tuples_release(&s->seen);
	RD_FREE(s->must_next.first, s->must_next.item, s->ideal, s->schedule);
}

bool search_late(struct predict_search *s)
{
	s->late |= s->deadline_ns && rd_now_ns() > s->deadline_ns;
	if (s->late)
		s->total = s->work = -1;
	return s->late;
}

/* ---- the least ideal ---- */

/* The targets, and the rows by which they are decided. */
struct aim {
	const struct core *c;
	const struct rows *r;
	const uint32_t *targets;
	uint32_t count;
};

static bool needs_target(const struct aim *a, uint32_t e)
{
	for (uint32_t i = 0; i < a->count; i++) {
		const struct event *v = &a->c->events[a->targets[i]];
		if (core_at(a->c, a->r, e, v->thread) > v->index)
			return true;
	}
	return false;
}

/* Adds to `p` the events of `slots` on `object` that can happen without passing a target. */
static void include_suppliers(const struct aim *a, uint32_t *p, const struct slots *slots, uint32_t object)
{
	for (uint32_t i = slots->first[object]; i < slots->first[object + 1]; i++) {
		const struct slot *slot = &slots->slot[i];
		uint32_t end = slot->begin;
		RD_BISECT(end, slot->end, at, !needs_target(a, slots->item[at]));
		if (end > slot->begin)
			core_include(a->c, a->r, p, slots->item[end - 1]);
	}
}

bool search_least(const struct core *c, const struct rows *r, const uint32_t *targets, uint32_t count,
		  uint32_t *p)
{
	struct aim a = {c, r, targets, count};

	memcpy(p, c->base, c->threads * sizeof *p);
	for (uint32_t i = 0; i < count; i++) {
		const struct event *v = &c->events[targets[i]];
		core_include_before(c, r, p, targets[i]);
		if (v->kind == EXEC_WAKE)
			include_suppliers(&a, p, &c->notes, v->object);
		else if (v->kind == EXEC_TAKE)
			include_suppliers(&a, p, &c->posts, v->object);
	}
	for (uint32_t i = 0; i < count; i++)
		if (core_in(c, p, targets[i]))
			return false;
	return true;
}

/* ---- growing ---- */

static enum answer solve(struct predict_search *s, const uint32_t *p);

/* Searches for a witness that contains the ideal `p` and the event `e`. */
static enum answer grow(struct predict_search *s, const uint32_t *p, uint32_t e)
{
	RD_ASSERT(e < s->c->count);
	size_t size = s->c->threads * sizeof *p;
	uint32_t *larger = rd_xmalloc(size);

	memcpy(larger, p, size);
	core_include(s->c, &s->c->need, larger, e);
	enum answer a = solve(s, larger);
	free(larger);
	return a;
}

/* Searches for a witness that contains the ideal `p` and the event `e`.  Returns true if there is
 * one.  Stores the answer in `*sum`, unless it is "no". */
static bool try_grow(struct predict_search *s, const uint32_t *p, uint32_t e, enum answer *sum)
{
	enum answer a = grow(s, p, e);

	if (a != ANSWER_NO)
		*sum = a;
	return a == ANSWER_YES;
}

bool search_stays_open(const struct predict_search *s, uint32_t section)
{
	const struct aim a = {s->c, &s->c->need, s->targets, s->target_count};
	uint32_t release = s->c->sections.list[section].release;

	return release == NONE || needs_target(&a, release);
}

struct conflict {
	uint32_t first, second; /* the two sections, both open */
	bool found;
};

/* Finds two open critical sections of different threads that exclude each other.  Prefers a pair
 * in which one section must stay open, because then the other one must end. */
static bool open_conflict(const struct predict_search *s, const uint32_t *p, uint32_t thread,
			  struct conflict *k)
{
	const struct core *c = s->c;

	for (uint32_t h = core_open(c, thread, p[thread]); h != NONE; h = c->sections.holds[h].next) {
		const struct section *o = &c->sections.list[c->sections.holds[h].section];
		for (uint32_t i = 0, last; core_next_rival(c, p, o, &i, &last);) {
			uint32_t other = c->events[last].section;
			if (!section_open(c, p, other))
				continue;
			*k = (struct conflict){c->sections.holds[h].section, other, true};
			if (search_stays_open(s, k->first) || search_stays_open(s, k->second))
				return true;
		}
	}
	return false;
}

static bool find_conflict(const struct predict_search *s, const uint32_t *p, struct conflict *k)
{
	*k = (struct conflict){.found = false};
	for (uint32_t t = 0; t < s->c->threads; t++)
		if (open_conflict(s, p, t, k))
			return true;
	return k->found;
}

static enum answer solve_conflict(struct predict_search *s, const uint32_t *p, const struct conflict *k)
{
	const struct section *sections = s->c->sections.list;
	enum answer sum = ANSWER_NO;
	bool swap = sections[k->first].acquire > sections[k->second].acquire;
	uint32_t first = swap ? k->second : k->first, second = swap ? k->first : k->second;

	if (!search_stays_open(s, first) && try_grow(s, p, sections[first].release, &sum))
		return sum;
	if (!search_stays_open(s, second))
		try_grow(s, p, sections[second].release, &sum);
	return sum;
}

static int64_t count_in(const struct slots *slots, uint32_t object, const uint32_t *p)
{
	int64_t n = 0;

	for (uint32_t i = slots->first[object]; i < slots->first[object + 1]; i++)
		n += slots_below(slots, &slots->slot[i], p[slots->slot[i].thread]);
	return n;
}

static int64_t sem_value(const struct core *c, uint32_t sem, const uint32_t *p)
{
	int64_t initial = exec_sem_initial(c->x, sem);
	return initial + count_in(&c->posts, sem, p) - count_in(&c->takes, sem, p);
}

/* Tries to extend the ideal `p` by an event of `slots` on `object`.  Tries the next such event of
 * each thread in turn. */
static enum answer solve_next(struct predict_search *s, const uint32_t *p, const struct slots *slots,
			      uint32_t object)
{
	enum answer sum = ANSWER_NO;

	for (uint32_t i = slots->first[object]; i < slots->first[object + 1]; i++) {
		const struct slot *slot = &slots->slot[i];
		uint32_t n = slots_below(slots, slot, p[slot->thread]);
		if (slot->begin + n < slot->end && try_grow(s, p, slots->item[slot->begin + n], &sum))
			break;
	}
	return sum;
}

static bool is_target(const struct predict_search *s, uint8_t kind, uint32_t object)
{
	for (uint32_t i = 0; i < s->target_count; i++) {
		const struct event *v = &s->c->events[s->targets[i]];
		if (v->kind == kind && v->object == object)
			return true;
	}
	return false;
}

/* Looks for a semaphore that has an impossible value after the events of the ideal `p`.  A value
 * is impossible if it is below 0, or if it is above 0 although a target waits for the semaphore.
 * If there is such a semaphore, tries larger ideals, stores the answer in *a and returns true. */
static bool solve_sems(struct predict_search *s, const uint32_t *p, enum answer *a)
{
	for (uint32_t sem = 0; sem < s->c->sems; sem++) {
		int64_t value = sem_value(s->c, sem, p);
		if (value < 0) {
			*a = solve_next(s, p, &s->c->posts, sem);
			return true;
		}
		if (value > 0 && is_target(s, EXEC_TAKE, sem)) {
			*a = solve_next(s, p, &s->c->takes, sem);
			return true;
		}
	}
	return false;
}

static void keep_schedule(struct predict_search *s, const uint32_t *p)
{
	memcpy(s->ideal, p, s->c->threads * sizeof *p);
	s->schedule_length = s->sched.step_count;
	for (size_t i = 0; i < s->sched.step_count; i++)
		s->schedule[i] = s->sched.steps[i].event;
}

static enum answer run_scheduler(struct predict_search *s, const uint32_t *p, bool greedy)
{
	sched_reset(s);
	enum answer a = sched_run(s, p, greedy);
	if (a == ANSWER_YES)
		keep_schedule(s, p);
	sched_reset(s);
	return a;
}

/* Decides whether the ideal itself has a schedule.  Tries quick ways first. */
static enum answer solve_order(struct predict_search *s, const uint32_t *p)
{
	order_reset(s);
	s->order.shallow = !order_seed(s, p);
	if (s->order.shallow)
		return ANSWER_NO;
	if (run_scheduler(s, p, true) == ANSWER_YES)
		return ANSWER_YES;
	if (!order_saturate(s, p))
		return ANSWER_NO;
	return run_scheduler(s, p, false);
}

static bool has_rival(const struct core *c, const uint32_t *p, const struct section *o)
{
	uint32_t first = 0, last;

	return core_next_rival(c, p, o, &first, &last);
}

/* Returns true if the order of the events in the ideal `p` has no contradictions.  Skips
 * order_saturate() if order_seed() alone was enough to refute the latest ideal. */
static bool is_consistent(struct predict_search *s, const uint32_t *p)
{
	order_reset(s);
	return order_seed(s, p) && (s->order.shallow || order_saturate(s, p));
}

/* Finds an event outside the ideal that every witness containing the ideal must also contain.
 * There are two kinds of such events:
 *   - an event that must precede an event of the ideal;
 *   - the end of a critical section that cannot stay open.
 * The function uses only facts that remain true in larger ideals: the order of closed sections,
 * and of open sections that no witness can close.  It may also find that no witness contains the
 * ideal. */
static enum answer find_forced(struct predict_search *s, const uint32_t *p, uint32_t *event)
{
	const struct core *c = s->c;
	enum answer a = ANSWER_UNKNOWN;

	s->order.firm = true;
	s->order.also = NONE;
	if (!is_consistent(s, p)) {
		*event = s->order.outside;
		a = *event == NONE ? ANSWER_NO : ANSWER_YES;
	}
	for (uint32_t t = 0; t < c->threads && a == ANSWER_UNKNOWN; t++)
		for (uint32_t h = core_open(c, t, p[t]); h != NONE && a == ANSWER_UNKNOWN;
		     h = c->sections.holds[h].next) {
			const struct section *o = &c->sections.list[c->sections.holds[h].section];
			if (search_stays_open(s, c->sections.holds[h].section) || !has_rival(c, p, o))
				continue;
			s->order.also = c->sections.holds[h].section;
			if (is_consistent(s, p) || s->order.outside != NONE)
				continue;
			*event = o->release;
			a = ANSWER_YES;
		}
	s->order.firm = false;
	return a;
}

/* Counts the open sections that a witness could close and that block other threads. */
static uint32_t count_choices(const struct predict_search *s, const uint32_t *p)
{
	const struct core *c = s->c;
	uint32_t n = 0;

	for (uint32_t t = 0; t < c->threads; t++)
		for (uint32_t h = core_open(c, t, p[t]); h != NONE; h = c->sections.holds[h].next)
			n += !search_stays_open(s, c->sections.holds[h].section) &&
			     has_rival(c, p, &c->sections.list[c->sections.holds[h].section]);
	return n;
}

static bool close_sections(struct predict_search *s, const uint32_t *p, enum answer *sum)
{
	const struct core *c = s->c;

	for (uint32_t t = 0; t < c->threads; t++)
		for (uint32_t h = core_open(c, t, p[t]); h != NONE; h = c->sections.holds[h].next) {
			const struct section *o = &c->sections.list[c->sections.holds[h].section];
			if (!search_stays_open(s, c->sections.holds[h].section) && has_rival(c, p, o) &&
			    try_grow(s, p, o->release, sum))
				return true;
		}
	return false;
}

static bool add_posts(struct predict_search *s, const uint32_t *p, enum answer *sum)
{
	for (uint32_t sem = 0; sem < s->c->sems; sem++) {
		if (!count_in(&s->c->takes, sem, p))
			continue;
		enum answer a = solve_next(s, p, &s->c->posts, sem);
		if (a != ANSWER_NO)
			*sum = a;
		if (a == ANSWER_YES)
			return true;
	}
	return false;
}

static bool add_wakes(struct predict_search *s, const uint32_t *p, uint32_t cond, enum answer *sum)
{
	const struct core *c = s->c;
	const struct slots *notes = &c->notes;

	for (uint32_t i = notes->first[cond]; i < notes->first[cond + 1]; i++) {
		const struct slot *slot = &notes->slot[i];
		uint32_t n = slots_below(notes, slot, p[slot->thread]);
		for (uint32_t k = slot->begin; k < slot->begin + n; k++)
			for (uint32_t w = c->wakes.first[notes->item[k]];
			     w < c->wakes.first[notes->item[k] + 1]; w++)
				if (!core_in(c, p, c->wakes.item[w]) && try_grow(s, p, c->wakes.item[w], sum))
					return true;
	}
	return false;
}

static bool consume_notes(struct predict_search *s, const uint32_t *p, enum answer *sum)
{
	for (uint32_t i = 0; i < s->target_count; i++) {
		const struct event *v = &s->c->events[s->targets[i]];
		if (v->kind == EXEC_WAKE && add_wakes(s, p, v->object, sum))
			return true;
	}
	return false;
}

static enum answer solve(struct predict_search *s, const uint32_t *p)
{
	const struct core *c = s->c;
	struct conflict conflict;
	uint32_t event;
	enum answer sum;
	bool is_new;

	rd_tuples_put(&s->seen, p, c->threads, rd_tuple_hash(p, c->threads), &is_new);
	if (!is_new)
		return ANSWER_NO;
	for (uint32_t i = 0; i < s->target_count; i++)
		if (core_in(c, p, s->targets[i]))
			return ANSWER_NO;
	if (!core_sure(c, p))
		return ANSWER_NO;
	s->work -= s->cost;
	if (s->work < 0 || search_late(s))
		return ANSWER_UNKNOWN;
	if (find_conflict(s, p, &conflict))
		return solve_conflict(s, p, &conflict);
	if (c->has_sems && solve_sems(s, p, &sum))
		return sum;
	sum = solve_order(s, p);
	if (sum == ANSWER_YES)
		return sum;
	bool hard = ++s->refuted > REFUTED_BEFORE_CHECK && count_choices(s, p) > 1;
	enum answer forced = hard ? find_forced(s, p, &event) : ANSWER_UNKNOWN;
	if (forced != ANSWER_UNKNOWN)
		return forced == ANSWER_NO ? ANSWER_NO : grow(s, p, event);
	if (close_sections(s, p, &sum) || add_posts(s, p, &sum))
		return sum;
	consume_notes(s, p, &sum);
	return sum;
}

enum answer search_run(struct predict_search *s, const uint32_t *targets, uint32_t count)
{
	RD_ASSERT(count > 0);
	uint32_t *p = rd_xcalloc((size_t)s->c->threads + 1, sizeof *p);
	enum answer a = ANSWER_NO;

	if (search_late(s) || s->total < 0) {
		free(p);
		return ANSWER_UNKNOWN;
	}
	s->targets = targets;
	s->target_count = count;
	s->work = s->work_limit;
	s->refuted = 0;
	rd_tuples_clear(&s->seen);
	if (search_least(s->c, &s->c->need, targets, count, p))
		a = solve(s, p);
	s->total -= s->work_limit - s->work;
	free(p);
	return a == ANSWER_NO && s->work < 0 ? ANSWER_UNKNOWN : a;
}
