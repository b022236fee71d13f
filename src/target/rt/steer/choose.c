// SPDX-License-Identifier: Apache-2.0
/*
 * Chooses which thread of a steered process runs next, if only one runs at a time
 * (rt/steer/turn.c).  In: the threads that can run, the decisions of the plan, and a seed.  Out:
 * the next thread, and a list of the decisions that differ from the default.
 */
#include "rt/common/hash.h"
#include "rt/core/control/choose.h"

#include "rt/common/bug.h"
#include "rt/core/io/outside.h"
#include "rt/steer/turn-int.h"

/* After this many points in a row, a thread loses the turn in an exploration, because it may be
 * waiting in a loop. */
#define EXPLORED_STAYS 12

static uint32_t find_slot(uint32_t position)
{
	const struct raddle_steer_thread *threads = raddle_steer_threads(rt_steer()), *at;
	uint32_t count = rt_steer_threads(), parent;

	if (position >= count)
		return RADDLE_STEER_NONE;
	at = &threads[position];
	if (at->parent == RADDLE_STEER_NONE && at->index == 0)
		return 0;
	parent = at->parent < position ? rt_turn_slot(at->parent) : RADDLE_STEER_NONE;
	if (parent == RADDLE_STEER_NONE && at->parent != RADDLE_STEER_NONE)
		return RADDLE_STEER_NONE;
	for (uint32_t i = 1; i < rt_slot_count(); i++)
		if (rt_turn_state(i) != RADDLE_SLOT_UNUSED && rt_slot_at(i)->parent == parent &&
		    rt_slot_at(i)->index == at->index)
			return i;
	return RADDLE_STEER_NONE;
}

uint32_t rt_turn_slot(uint32_t position)
{
	uint32_t known = 0, found;

	if (position < rt_steer()->thread_count + RADDLE_STEER_ROOM)
		known = atomic_load_explicit(&rt_steering()->slots[position], memory_order_acquire);
	if (known)
		return known - 1;
	found = find_slot(position);
	if (found != RADDLE_STEER_NONE)
		atomic_store_explicit(&rt_steering()->slots[position], found + 1, memory_order_release);
	return found;
}

/* Returns the next runnable thread after slot `number`, cyclically, so `number` itself comes last.
 * Returns NONE if no thread can run. */
static uint32_t next_ready(uint32_t number)
{
	const struct rt_set *ready = &rt_steering()->turns.ready;
	uint32_t count = rt_slot_count(), next = rt_set_next(ready, number + 1, count);

	return next != RADDLE_STEER_NONE ? next : rt_set_next(ready, 0, count);
}

/* While threads are led to their goals, one goal may have `front` set.  The thread of that goal
 * runs first and the thread of the other goal runs last.  Returns the former if the argument is
 * true, and the latter if it is false.  Returns NONE if no goal has `front` set. */
static uint32_t in_front(bool front)
{
	const struct raddle_steer *s = rt_steer();

	for (uint32_t i = 0; i < s->goal_count && rt_steer_phase() == RADDLE_LEADING; i++)
		if (s->goals[i].front && !rt_steering()->turns.front_waits)
			return rt_turn_slot(s->goals[front ? i : s->goal_count - 1 - i].thread);
	return RADDLE_STEER_NONE;
}

/* Returns the next runnable thread after slot `number`.  Returns `last` only if no other thread is
 * runnable. */
static uint32_t next_before(uint32_t number, uint32_t last)
{
	uint32_t next = next_ready(number);

	return next == last && last != RADDLE_STEER_NONE ? next_ready(last) : next;
}

static bool leaves_turn(const struct raddle_slot *slot)
{
	return slot->point == RADDLE_POINT_YIELD || slot->point == RADDLE_POINT_SPIN;
}

static __attribute__((noinline)) uint32_t by_default_with_goals(uint32_t number)
{
	const struct raddle_slot *slot = rt_slot_at(number);
	bool leaves = leaves_turn(slot);
	uint32_t front = in_front(true), last = in_front(false);

	if (front == number && leaves)
		rt_steering()->turns.front_waits = true;
	else if (front != RADDLE_STEER_NONE && rt_turn_is_ready(front))
		return front;
	if (leaves)
		return next_ready(number);
	return rt_turn_is_ready(number) && number != last && slot->stays < RADDLE_STEER_STAYS
		       ? number
		       : next_before(number, last);
}

/* Returns true if a goal may have `front` set. */
static inline bool is_led(void)
{
	return rt_steer()->goal_count && rt_steer_phase() == RADDLE_LEADING;
}

static inline uint32_t by_default(uint32_t number)
{
	const struct raddle_slot *slot = rt_slot_at(number);

	if (RT_LIKELY(!leaves_turn(slot) && !is_led() && rt_turn_is_ready(number) &&
		      slot->stays < RADDLE_STEER_STAYS))
		return number;
	return by_default_with_goals(number);
}

/* Returns true if an exploration of a memory model chooses the next thread at this point.  It does
 * so before a watched access, when the thread waits or ends, and before an operation that empties
 * the thread's store buffer. */
static RT_SELDOM bool is_explored_at(uint32_t number)
{
	const struct raddle_memory *plan = rt_memory_plan();
	bool explored = false;

	if (!plan || !plan->explores)
		return false;
	switch (rt_slot_at(number)->point) {
	case RADDLE_POINT_ACCESS:
	case RADDLE_POINT_WAIT:
	case RADDLE_POINT_END: return true;
	case RADDLE_POINT_OP: RT_NOTIFY(buffers, number, &explored); return explored;
	default: return false;
	}
}

static inline bool is_explored(uint32_t number)
{
	return RT_UNLIKELY(rt_steer()->memory_at) && is_explored_at(number);
}

/* Returns a hash of the current points and states of all threads. */
static uint64_t hash_points(void)
{
	uint64_t hash = 1;

	for (uint32_t i = 0; i < rt_slot_count(); i++) {
		const struct raddle_slot *slot = rt_slot_at(i);

		hash = rt_hash(hash ^ (slot->point_n << 32 | slot->point << 24 | slot->point_count));
		hash = rt_hash_add(hash, rt_turn_state(i));
	}
	return hash;
}

/* Lets the exploration choose.  Alternative 0 is the default thread; the other threads follow by
 * slot. */
static RT_SELDOM uint32_t by_choice(uint32_t number, uint32_t usual)
{
	const struct rt_set *ready = &rt_steering()->turns.ready;
	uint32_t n, count = rt_slot_count();

	if (usual == number && rt_slot_at(number)->stays >= EXPLORED_STAYS)
		usual = next_ready(number);
	n = rt_choose((struct raddle_choice){.from = rt_turn_count_ready(),
					     .kind = RADDLE_CHOICE_NEXT,
					     .slot = number,
					     .state = hash_points()});

	for (uint32_t i = rt_set_next(ready, 0, count); n && i < count; i = rt_set_next(ready, i + 1, count))
		if (i != usual && --n == 0)
			return i;
	return usual;
}

static bool is_at(const struct raddle_slot *at, const struct raddle_steer_decision *d)
{
	return at->point_n == d->n && at->point == d->point && at->point_count == d->count;
}

/* Returns true if the thread has passed the point of decision `d`. */
static bool has_missed(const struct raddle_slot *at, const struct raddle_steer_decision *d)
{
	return at->point_n > d->n || at->point == RADDLE_POINT_END ||
	       (at->point_n == d->n && at->point == d->point && at->point_count > d->count);
}

/* Returns the thread that the plan chooses at the current point of thread `number`.  Returns NONE
 * if the plan has no decision for this point, or the decision cannot be followed. */
static __attribute__((noinline)) uint32_t by_plan(uint32_t number, const struct rt_thread *t)
{
	struct raddle_steer *s = rt_steer();
	uint32_t past = atomic_load(&s->past_count), next;
	const struct raddle_steer_decision *d = &raddle_steer_decisions(s)[past];
	const struct raddle_slot *at = rt_slot_at(number);

	RT_ASSERT(number < RADDLE_SLOTS);
	if (rt_turn_slot(d->thread) != number)
		return RADDLE_STEER_NONE;
	if (is_at(at, d)) {
		atomic_store(&s->past_count, past + 1);
		next = rt_turn_slot(d->next);
		if (next != RADDLE_STEER_NONE && rt_turn_can(next))
			return next;
		rt_steer_differs(t, RADDLE_CAUSE_CANNOT, d->next, d->point);
	} else if (has_missed(at, d)) {
		rt_steer_differs(t, RADDLE_CAUSE_MISSED, d->thread, d->point);
	}
	return RADDLE_STEER_NONE;
}

bool rt_turn_has_decisions(void)
{
	uint32_t count = atomic_load(&rt_steer()->decision_count);

	return atomic_load(&rt_steer()->past_count) <
	       (count < RADDLE_STEER_DECISIONS ? count : RADDLE_STEER_DECISIONS);
}

/* Freezes the program before a decision is taken, if the plan requests it.  Up to here, the run is the
 * same for all plans that begin with the same decisions and have no other decision before this point.
 * No strategy has chosen a thread yet, since it chooses only after the last decision. */
static RT_SELDOM void freeze_before(uint32_t number)
{
	const struct raddle_steer *s = rt_steer();
	uint32_t past = atomic_load(&s->past_count);
	const struct raddle_steer_decision *d = &raddle_steer_decisions(rt_steer())[past];

	if (past == s->freezing.after && rt_turn_has_decisions() && rt_turn_slot(d->thread) == number &&
	    is_at(rt_slot_at(number), d))
		rt_freeze_at(RADDLE_FREEZE_DECISION);
}

static void remember(uint32_t number, uint32_t next, uint32_t usual)
{
	struct raddle_steer *s = rt_steer();
	const struct raddle_slot *at = rt_slot_at(number);
	uint64_t trail = atomic_load_explicit(&s->trail, memory_order_relaxed),
		 choices = atomic_load_explicit(&s->choices, memory_order_relaxed),
		 what[] = {number, at->point_n, at->point, at->point_count, next};
	uint32_t made = atomic_load(&s->made_count);

	RT_ASSERT(number < RADDLE_SLOTS && next < RADDLE_SLOTS);
	for (uint32_t i = 0; i < sizeof what / sizeof *what; i++)
		trail = rt_hash_add(trail, what[i]);
	atomic_store_explicit(&s->trail, trail, memory_order_relaxed);
	atomic_store_explicit(&s->choices, choices + 1, memory_order_release);
	if (next == usual)
		return;
	if (made < RADDLE_STEER_DECISIONS)
		raddle_steer_made(s)[made] = (struct raddle_steer_decision){.thread = number,
									    .next = next,
									    .n = at->point_n,
									    .point = at->point,
									    .count = at->point_count,
									    .site = at->point_site};
	atomic_store_explicit(&s->made_count, made + 1, memory_order_release);
}

/* Returns true if the thread waits with a time limit, which could expire now. */
static bool is_timed(uint32_t number)
{
	return rt_slot_at(number)->since && atomic_load(&rt_slot_at(number)->timed);
}

static void time_out(uint32_t number)
{
	rt_slot_at(number)->due = 1;
	rt_turn_set_ready(number, true);
}

bool rt_turn_can(uint32_t number)
{
	if (!rt_turn_is_ready(number) && is_timed(number))
		time_out(number);
	return rt_turn_is_ready(number);
}

/* Whether the strategy may let the time limit of the thread expire at any point.  A limit of a wait for
 * something outside is real: what the thread waits for may need that time. */
static bool may_expire(uint32_t number)
{
	return is_timed(number) &&
	       (!rt_steering()->entries.waits[number].look || atomic_load(&rt_slot_at(number)->inside));
}

bool rt_turn_may(uint32_t number)
{
	return rt_turn_is_ready(number) || (rt_steer()->flags & RADDLE_STEER_TIMEOUTS && may_expire(number));
}

uint32_t rt_turn_next_that_may(uint32_t from)
{
	const struct rt_turns *turns = &rt_steering()->turns;
	uint32_t count = rt_slot_count(), ready = rt_set_next(&turns->ready, from, count),
		 end = ready < count ? ready : count;

	if (!(rt_steer()->flags & RADDLE_STEER_TIMEOUTS))
		return ready;
	for (uint32_t i = rt_set_next(&turns->waiting, from, end); i < end;
	     i = rt_set_next(&turns->waiting, i + 1, end))
		if (may_expire(i))
			return i;
	return ready;
}

/* Called when no thread can continue, or when every thread that can continue waits in a loop. */
bool rt_turn_expire_first(void)
{
	uint32_t best = RADDLE_STEER_NONE;

	for (uint32_t i = 0; i < rt_slot_count(); i++) {
		if (atomic_load(&rt_slot_at(i)->away))
			return false;
		if (is_timed(i) &&
		    (best == RADDLE_STEER_NONE || rt_slot_at(i)->since < rt_slot_at(best)->since))
			best = i;
	}
	if (best != RADDLE_STEER_NONE)
		time_out(best);
	return best != RADDLE_STEER_NONE;
}

bool rt_turn_waits_outside(uint32_t number)
{
	return rt_slot_at(number)->since && atomic_load(&rt_slot_at(number)->object) == RT_OUTSIDE_OBJECT;
}

/* Called when no thread can continue.  Lets input arrive from outside, if a thread waits for it. */
static RT_SELDOM bool let_in(void)
{
	bool any = false, timed = false;

	for (uint32_t i = 0; i < rt_slot_count(); i++) {
		any |= rt_turn_waits_outside(i);
		timed |= rt_slot_at(i)->since && atomic_load(&rt_slot_at(i)->timed);
	}
	if ((!any && !timed) || !rt.outside || !rt.outside->idle || !rt.outside->idle(timed))
		return false;
	for (uint32_t i = 0; i < rt_slot_count(); i++)
		if (rt_turn_waits_outside(i))
			rt_turn_set_ready(i, true);
	return true;
}

/* The program defines this variable if it uses raddle/annotate.h. */
extern unsigned __raddle_waits __attribute__((weak));

static bool is_too_early(void)
{
	return &__raddle_waits && __atomic_load_n(&__raddle_waits, __ATOMIC_SEQ_CST);
}

/* Returns true if the seed chooses the next thread here. */
static bool has_choice(uint32_t ready)
{
	return rt_steer()->seed && !is_too_early() &&
	       (ready > 1 || rt_steer()->flags & RADDLE_STEER_TIMEOUTS);
}

uint32_t rt_turn_choose(uint32_t number, const struct rt_thread *t, uint32_t wish)
{
	uint32_t usual, next = wish, count;

	if (RT_UNLIKELY(rt_steer()->freezing.where == RADDLE_FREEZE_DECISION))
		freeze_before(number);
	if (!rt_turn_count_ready() && !rt_blocking_let_in() && !let_in())
		rt_turn_expire_first();
	usual = by_default(number);
	count = rt_turn_count_ready();
	if (rt_steer_phase() != RADDLE_GOES_ON || usual == RADDLE_STEER_NONE)
		return usual;
	if (wish >= RADDLE_SLOTS || !rt_turn_is_ready(wish))
		next = rt_turn_has_decisions() ? by_plan(number, t)
		       : is_explored(number)   ? by_choice(number, usual)
		       : has_choice(count)     ? rt_strategy_choose(number)
					       : usual;
	if (next == RADDLE_STEER_NONE)
		next = usual;
	if (count > 1 || next != usual)
		remember(number, next, usual);
	return next;
}
