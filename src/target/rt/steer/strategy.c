// SPDX-License-Identifier: Apache-2.0
/*
 * Strategies: how a seed decides which thread continues (enum raddle_strategy).  In: the runnable
 * threads, and the address that each is about to access.  Out: one of them.
 *
 * All choices are made under the lock of steering and use one stream of random numbers.  So the
 * same seed leads to the same schedule, as long as the program behaves the same.  No strategy lets
 * a thread that waits in a loop starve the others.  PCT, POS and ROUND defer a thread that yields,
 * spins or has run for long; the others choose at random.
 */
#include "rt/common/hash.h"
#include "rt/steer/steer-int.h"

#define LOW (1ull << 32)  /* deferred threads, and PCT's changes, have priorities below this */
#define LENGTH_UNKNOWN 64 /* assumed number of choices of a run, if it is not known */
#define QUANTUM_MAX 4	  /* ROUND: maximum number of points in a normal turn */
#define LONGER_ONE_OF 8	  /* ROUND: one turn in this many is longer */
#define LONGER_MAX 16	  /* ROUND: maximum number of points by which a turn is longer */
/* weight of a thread that is not in the plan; high, since it is new */
#define WEIGHT_UNKNOWN 1000000

static uint64_t draw(void)
{
	struct rt_turns *turn = &rt_steering()->turns;

	if (turn->seeded != rt_steer()->seed) {
		turn->random = turn->seeded = rt_steer()->seed;
		turn->lowest = LOW / 2;
	}
	return rt_mixed(turn->random += RT_GOLDEN);
}

#define EACH_THAT_MAY(i)                                                                                     \
	for (uint32_t i = rt_turn_next_that_may(0); i != RADDLE_STEER_NONE; i = rt_turn_next_that_may(i + 1))

/* ---- WALK ---- */

/* Returns a random number below n.  Powers of two are frequent and need no division. */
static uint64_t draw_below(uint64_t n)
{
	return n & (n - 1) ? draw() % n : draw() & (n - 1);
}

/* Returns the runnable thread with index `which`, counted from 0, among the first 64 threads. */
static uint32_t nth_ready(uint64_t which)
{
	uint64_t ready = atomic_load_explicit(&rt_steering()->turns.ready.words[0], memory_order_relaxed);

	if (which & 1) /* with two threads, this replaces the loop */
		ready &= ready - 1;
	for (which &= ~1ull; which; which--)
		ready &= ready - 1;
	return ready ? (uint32_t)__builtin_ctzll(ready) : RADDLE_STEER_NONE;
}

static uint32_t walk(void)
{
	uint32_t n = rt_steering()->turns.ready.count, chosen;

	if (RT_LIKELY(n && rt_slot_count() <= 64 && !(rt_steer()->flags & RADDLE_STEER_TIMEOUTS)))
		return nth_ready(draw_below(n));
	chosen = rt_turn_next_that_may(0);
	n = 0;
	EACH_THAT_MAY(i)
	n++;
	for (uint64_t which = n ? draw_below(n) : 0; which; which--)
		chosen = rt_turn_next_that_may(chosen + 1);
	return chosen;
}

/* ---- PCT: priorities ---- */

static uint64_t high(void)
{
	return LOW + (draw() >> 1);
}

/* Returns true if the thread should let others run, because it yields, spins, or has kept the turn
 * for long. */
static bool is_deferred(const struct raddle_slot *slot)
{
	return slot->point == RADDLE_POINT_YIELD || slot->point == RADDLE_POINT_SPIN ||
	       slot->stays >= RADDLE_STEER_STAYS;
}

static uint64_t stand_back(void)
{
	return --rt_steering()->turns.lowest;
}

static uint32_t highest(void)
{
	uint32_t best = RADDLE_STEER_NONE;

	EACH_THAT_MAY(i)
	if (best == RADDLE_STEER_NONE || rt_slot_at(i)->priority > rt_slot_at(best)->priority)
		best = i;
	return best;
}

static void draw_changes(struct rt_turns *turn)
{
	const struct raddle_steer *s = rt_steer();
	uint64_t length = s->length ? s->length : LENGTH_UNKNOWN;

	for (uint32_t i = 1; i < RT_DEPTH_MAX; i++)
		turn->changes[i] = rt_mixed(s->seed + i * RT_GOLDEN) % length;
	turn->changes_seed = s->seed;
}

/* If a priority changes at this choice, returns the number of that change, from 1; otherwise 0. */
static uint32_t change_at(uint64_t choice)
{
	struct rt_turns *turn = &rt_steering()->turns;
	uint32_t depth = rt_steer()->depth < RT_DEPTH_MAX ? rt_steer()->depth : RT_DEPTH_MAX;

	if (turn->changes_seed != rt_steer()->seed)
		draw_changes(turn);
	for (uint32_t i = 1; i < depth; i++)
		if (turn->changes[i] == choice)
			return i;
	return 0;
}

static uint32_t by_priority(uint32_t number)
{
	uint32_t change = change_at(atomic_load(&rt_steer()->choices)),
		 *ranked = &rt_steering()->turns.ranked;
	struct raddle_slot *at = rt_slot_at(number);

	for (; *ranked < rt_slot_count(); ++*ranked)
		if (!rt_slot_at(*ranked)->priority)
			rt_slot_at(*ranked)->priority = high();
	if (is_deferred(at))
		at->priority = stand_back();
	else if (change)
		at->priority = LOW - change;
	return highest();
}

/* ---- POS: partial orders ---- */

/* Discards the priorities of pending events that touch the same object as the chosen event, so that
 * new ones are drawn.  Their old priorities are known to be lower than that of the chosen event, so
 * keeping them would make late positions more likely. */
static void draw_rivals(uint32_t chosen)
{
	uint64_t pending = rt_slot_at(chosen)->pending;

	for (uint32_t i = 0; pending && i < rt_slot_count(); i++)
		if (i != chosen && rt_slot_at(i)->pending == pending)
			rt_slot_at(i)->drawn = 0;
}

static uint32_t by_event(uint32_t number)
{
	uint32_t chosen;

	for (uint32_t i = 0; i < rt_slot_count(); i++) {
		struct raddle_slot *slot = rt_slot_at(i);

		if (slot->drawn == (uint64_t)slot->arrivals + 1)
			continue;
		slot->priority = i == number && is_deferred(slot) ? stand_back() : high();
		slot->drawn = (uint64_t)slot->arrivals + 1;
	}
	chosen = highest();
	if (chosen != RADDLE_STEER_NONE)
		draw_rivals(chosen);
	return chosen;
}

/* ---- WEIGHTED: by remaining points ---- */

/* Returns how many points a thread of the plan has left after `done` points, at least 1. */
static uint64_t left_of(uint32_t position, uint64_t done)
{
	uint64_t expected = raddle_steer_threads(rt_steer())[position].expected;

	return expected > done ? expected - done : 1;
}

/* Adds the points of each thread that does not exist yet to the weight of the thread that will
 * create it.  A thread has a higher position than its creator, so the loop runs downwards. */
static void weigh_unborn(struct rt_turns *turn, uint32_t count)
{
	const struct raddle_steer_thread *threads = raddle_steer_threads(rt_steer());

	__builtin_memset(turn->begun, 0, count);
	__builtin_memset(turn->unborn, 0, count * sizeof *turn->unborn);
	turn->weighed = atomic_load(&turn->settled);
	for (uint32_t i = 0; i < rt_slot_count(); i++)
		if (rt_slot_at(i)->thread < count)
			turn->begun[rt_slot_at(i)->thread] = true;
	for (uint32_t i = count; i-- > 0;)
		if (!turn->begun[i] && threads[i].parent < i)
			turn->unborn[threads[i].parent] += left_of(i, 0) + turn->unborn[i];
}

/* If a thread is chosen in proportion to the points it has left, all remaining orders are about
 * equally likely. */
static uint32_t by_weight(uint32_t number)
{
	uint32_t count = rt_steer_threads(), chosen = RADDLE_STEER_NONE;
	struct rt_turns *turn = &rt_steering()->turns;
	uint64_t sum = 0;

	if (is_deferred(rt_slot_at(number)))
		return walk();
	count = count < RADDLE_SLOTS ? count : RADDLE_SLOTS;
	if (turn->weighed != atomic_load(&turn->settled))
		weigh_unborn(turn, count);
	EACH_THAT_MAY(i)
	{
		const struct raddle_slot *slot = rt_slot_at(i);
		uint64_t weight = slot->thread < count
					  ? left_of(slot->thread, slot->arrivals) + turn->unborn[slot->thread]
					  : WEIGHT_UNKNOWN;

		sum += weight;
		if (draw() % sum < weight)
			chosen = i;
	}
	return chosen;
}

/* ---- ROUND: round robin ---- */

/* Returns true if the thread keeps the turn at its current point.  Its first turn is longer by
 * `priority` - 1 points, so that the turns of threads with the same code start at different places.
 * In half of the schedules the initial thread's first turn lasts until it waits or reaches a
 * watched access.  Then all threads that it creates exist before the first of them runs. */
static bool keeps_turn(uint32_t number)
{
	uint64_t kind = rt_mixed(rt_steer()->seed), quantum = 1 + kind % QUANTUM_MAX;
	struct raddle_slot *at = rt_slot_at(number);

	if (!at->priority)
		at->priority = number == 0 && kind >> 63
				       ? LOW
				       : 1 + (kind >> 62 & 1 ? draw() : kind >> 32) % quantum;
	if (!rt_turn_may(number) || is_deferred(at) ||
	    (at->priority == LOW && at->point == RADDLE_POINT_ACCESS))
		return false;
	return at->stays + 1 < quantum + at->priority - 1;
}

/* Returns 1 plus the number of points by which the thread's next turn is longer than normal.  In
 * half of the schedules turns are never longer; in the other half, few are. */
static uint64_t next_turn(void)
{
	return rt_mixed(rt_steer()->seed) >> 62 & 1 && draw() % LONGER_ONE_OF == 0 ? 1 + draw() % LONGER_MAX
										   : 1;
}

/* Returns true if the thread runs only when no other thread can.  In half of the schedules, this
 * applies to the initial thread once its first turn is over, since that thread often examines what
 * the others have done. */
static bool comes_last(uint32_t number)
{
	return number == 0 && rt_slot_at(0)->priority && rt_mixed(rt_steer()->seed) >> 60 & 1;
}

/* Finds bugs that need threads to alternate for a long time, which random schedules rarely do. */
static uint32_t by_turn(uint32_t number)
{
	uint32_t count = rt_slot_count(), step = rt_mixed(rt_steer()->seed) >> 61 & 1 ? 1 : count - 1;

	if (keeps_turn(number))
		return number;
	rt_slot_at(number)->priority = next_turn();
	for (uint32_t i = 0; i < count; i++) {
		number = (number + step) % count;
		if (rt_turn_may(number) && !comes_last(number))
			return number;
	}
	return rt_turn_may(0) ? 0 : RADDLE_STEER_NONE;
}

/* ---- KINDS: threads by function ---- */

void rt_strategy_meet(const struct rt_thread *t)
{
	struct rt_turn_kind *kinds = rt_steering()->turns.kinds;
	uintptr_t start = t->start ? (uintptr_t)t->start : (uintptr_t)t->start_c11;
	uint32_t first = 0;

	while (first < t->number && (!start || kinds[first].start != start))
		first++;
	kinds[t->number] = (struct rt_turn_kind){start, first};
}

/* Returns true if the initial thread runs alone now.  In half of the schedules it does so until it
 * first waits, so that all the threads that it creates exist before the first of them runs. */
static bool begins_alone(uint32_t number)
{
	struct raddle_slot *at = rt_slot_at(number);

	if (number != 0 || at->priority || !(rt_mixed(rt_steer()->seed) >> 63))
		return false;
	if (rt_turn_may(0) && !is_deferred(at))
		return true;
	at->priority = 1;
	return false;
}

/* If many threads do the same and few do something else, a random walk hardly ever chooses the
 * few.  So the threads that run one function share one chance. */
static uint32_t by_kind(uint32_t number)
{
	const struct rt_turn_kind *kinds = rt_steering()->turns.kinds;
	uint32_t chosen = RADDLE_STEER_NONE;
	uint64_t drawn, best = 0, best_own = 0;

	if (begins_alone(number))
		return number;
	drawn = draw();
	EACH_THAT_MAY(i)
	{
		uint64_t kind = rt_mixed(drawn ^ ((uint64_t)kinds[i].first + 1) << 32),
			 own = rt_mixed(drawn + i);

		if (kind < best || (kind == best && own < best_own))
			continue;
		chosen = i;
		best = kind;
		best_own = own;
	}
	return chosen;
}

uint32_t rt_strategy_choose(uint32_t number)
{
	uint32_t chosen;

	switch (rt_steer()->strategy) {
	case RADDLE_STRATEGY_PCT: chosen = by_priority(number); break;
	case RADDLE_STRATEGY_POS: chosen = by_event(number); break;
	case RADDLE_STRATEGY_WEIGHTED: chosen = by_weight(number); break;
	case RADDLE_STRATEGY_ROUND: chosen = by_turn(number); break;
	case RADDLE_STRATEGY_KINDS: chosen = by_kind(number); break;
	default: chosen = walk();
	}
	if (RT_LIKELY(chosen < RADDLE_SLOTS && rt_set_has(&rt_steering()->turns.ready, chosen)))
		return chosen;
	return chosen != RADDLE_STEER_NONE && rt_turn_can(chosen) ? chosen : RADDLE_STEER_NONE;
}
