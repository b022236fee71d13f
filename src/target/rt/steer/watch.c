// SPDX-License-Identifier: Apache-2.0
/*
 * Watched accesses, that is, accesses that the replayer has asked to be points (struct
 * raddle_steer_watch).  In: accesses and uses of synchronisation objects.  Out: points.
 */
#include "rt/common/bug.h"
#include "rt/core/control/choose.h"
#include "rt/steer/turn-int.h"

/* Returns true if the watch makes each access of each thread a point, as in explorations. */
static bool is_everything(const struct raddle_steer_watch *w)
{
	return !w->site && !w->size && w->how == 3 && w->after == UINT64_MAX && !w->occurrence &&
	       w->thread == RADDLE_STEER_NONE && !w->stand;
}

/* Computes filters over all watches, so that most accesses need not be compared with each watch. */
static void gather_watches(struct rt_turns *turn, uint32_t count)
{
	const struct raddle_steer_watch *watches = raddle_steer_watches(rt_steer());

	*turn->sites = turn->low = turn->high = 0;
	__builtin_memset(turn->sites, 0, sizeof turn->sites);
	turn->low = UINT64_MAX;
	turn->any_site = turn->everything = false;
	for (uint32_t i = 0; i < count; i++) {
		const struct raddle_steer_watch *w = &watches[i];
		uint32_t bit = w->site % RT_WATCH_BITS;

		turn->sites[bit / 64] |= w->site ? 1ull << bit % 64 : 0;
		turn->any_site |= !w->site && !w->size;
		if (w->size && w->address < turn->low)
			turn->low = w->address;
		if (w->size && w->address + w->size > turn->high)
			turn->high = w->address + w->size;
	}
	turn->watches = count;
	turn->everything = count == 1 && is_everything(&watches[0]);
}

static inline bool may_be_watched(const struct rt_touch *touch)
{
	struct rt_turns *turn = &rt_steering()->turns;
	uint32_t count = atomic_load(&rt_steer()->watch_count), bit = touch->site % RT_WATCH_BITS;

	if (!count && !turn->watches)
		return false;
	count = count < RADDLE_STEER_WATCHES ? count : RADDLE_STEER_WATCHES;
	if (count != turn->watches)
		gather_watches(turn, count);
	return count && rt_steer_phase() == RADDLE_GOES_ON &&
	       (turn->any_site || turn->sites[bit / 64] >> bit % 64 & 1 ||
		(touch->address < turn->high && touch->address + touch->size > turn->low));
}

static bool fits(const struct raddle_steer_watch *w, const struct rt_thread *t, const struct rt_touch *touch)
{
	return (!w->site || w->site == touch->site) && (w->how & (touch->write ? 2u : 1u)) &&
	       (!w->size ||
		(touch->address < w->address + w->size && w->address < touch->address + touch->size)) &&
	       (w->after == UINT64_MAX || w->after == rt_steered(t)->n) &&
	       (w->thread == RADDLE_STEER_NONE || rt_turn_slot(w->thread) == t->number);
}

/* A watch whose `stand` is 2 stops a thread only once per operation.  Returns true if the thread
 * has already stopped at such a watch since its last operation, and notes that it stops there now.
 * Only the first STOP_BITS watches are noted. */
#define STOP_BITS 64
static bool has_stopped(const struct rt_thread *t, const struct raddle_steer_watch *w, uint32_t number)
{
	struct rt_steered *d = rt_steered(t);
	uint64_t bit = 1ull << number % STOP_BITS;
	bool stopped_at;

	if (w->stand != 2 || number >= STOP_BITS)
		return false;
	if (d->stopped_n != d->n)
		d->stopped_at = 0;
	stopped_at = d->stopped_at & bit;
	d->stopped_n = d->n;
	d->stopped_at |= bit;
	return stopped_at;
}

/* Counts an access and returns the new count.  Only the thread that has the turn calls this. */
static uint64_t count_seen(struct raddle_steer_watch *w)
{
	uint64_t seen = atomic_load_explicit(&w->seen, memory_order_relaxed) + 1;

	atomic_store_explicit(&w->seen, seen, memory_order_relaxed);
	return seen;
}

/* Returns the number of a watch that the access matches, or NONE.  If several match, this is the
 * last of them that has `stand` set, or else the first.  Each matching watch counts the access,
 * unless has_stopped() returns true for it. */
static uint32_t find_watch(const struct rt_thread *t, const struct rt_touch *touch)
{
	struct raddle_steer_watch *watches = raddle_steer_watches(rt_steer());
	uint32_t found = RADDLE_STEER_NONE;

	if (rt_steering()->turns.everything) {
		count_seen(&watches[0]);
		return 0;
	}
	for (uint32_t i = 0; i < rt_steering()->turns.watches; i++) {
		if (!fits(&watches[i], t, touch) || has_stopped(t, &watches[i], i))
			continue;
		uint64_t seen = count_seen(&watches[i]);
		if ((!watches[i].occurrence || watches[i].occurrence == seen) &&
		    (found == RADDLE_STEER_NONE || watches[i].stand))
			found = i;
	}
	return found;
}

/* Returns true if the thread has buffered stores, which its next action will flush.  Then other
 * threads may run first. */
static bool empties_buffer(const struct rt_thread *t)
{
	bool waits = false;

	if (rt_steer()->memory_at && rt_memory_plan())
		RT_NOTIFY(buffers, t->number, &waits);
	return waits;
}

void rt_turn_barrier(struct rt_thread *t)
{
	if (rt_steered(t)->sees_all && empties_buffer(t))
		rt_turn_point(t, rt_steered(t)->n, RADDLE_POINT_ACCESS);
}

/* Returns true if the program may stop at the watch and ask the replayer. */
static bool may_ask(const struct raddle_steer_watch *watch)
{
	return watch->stand || rt_steer()->flags & (RADDLE_STEER_ASK | RADDLE_STEER_ASK_START);
}

/* Notes an access for the replayer, which reads it after the run.  To stop the program for each access
 * takes a hundred times as long.  If there is no room left, the run ends. */
static void note_seen(struct rt_thread *t, const struct rt_touch *touch)
{
	struct raddle_steer *s = rt_steer();
	uint32_t count = atomic_load_explicit(&s->seen_count, memory_order_relaxed);

	if (count >= RADDLE_STEER_SEEN)
		return;
	s->seen[count] = (struct raddle_steer_seen){.slot = t->number,
						    .site = touch->site,
						    .address = touch->address,
						    .size = touch->size,
						    .n = rt_steered(t)->n,
						    .write = touch->write};
	atomic_store(&s->seen_count, count + 1);
	if (count + 1 == RADDLE_STEER_SEEN)
		rt_turn_stop(t, RADDLE_LIMIT_POINTS);
}

static void come_to_watched(struct rt_thread *t, const struct rt_touch *touch, uint32_t number)
{
	const struct raddle_steer_watch *watch = &raddle_steer_watches(rt_steer())[number];

	RT_ASSERT(number < RADDLE_STEER_WATCHES);
	if (watch->note) {
		note_seen(t, touch);
	} else if (may_ask(watch)) {
		rt_steer()->ask.watch = number;
		rt_steer_spot_of(t, touch, &rt_steer()->ask.spot);
	}
	rt_steered(t)->touches = touch->address;
	atomic_store_explicit(&rt_steered(t)->slot->touched, touch->site, memory_order_relaxed);
	rt_turn_come_to(t, rt_steered(t)->n, RADDLE_POINT_ACCESS, watch->stand && !watch->note);
}

void rt_turn_access(struct rt_thread *t, const struct rt_touch *touch)
{
	uint32_t watch;

	if (!rt_steered(t)->slot || t->busy || !rt_turn_taken())
		return;
	if (!rt_turn_has(t))
		rt_turn_take(t);
	watch = may_be_watched(touch) ? find_watch(t, touch) : RADDLE_STEER_NONE;
	if (watch == RADDLE_STEER_NONE && touch->atomic && touch->write && empties_buffer(t)) {
		rt_turn_come_to(t, rt_steered(t)->n, RADDLE_POINT_ACCESS, false);
		return;
	}
	if (watch == RADDLE_STEER_NONE) {
		if (++rt_steered(t)->looks < RADDLE_STEER_LOOKS)
			return;
		RT_NOTIFY(pauses, t);
		rt_spin_comes_round(t);
		rt_turn_come_to(t, rt_steered(t)->n, RADDLE_POINT_SPIN, false);
		return;
	}
	RT_NOTIFY(pauses, t);
	come_to_watched(t, touch, watch);
}

void rt_turn_handle(struct rt_thread *t, const struct rt_touch *touch)
{
	uint32_t watch;

	if (!rt_steered(t)->slot || t->busy || !rt_turn_taken() || !may_be_watched(touch))
		return;
	if (!rt_turn_has(t))
		rt_turn_take(t);
	watch = find_watch(t, touch);
	if (watch != RADDLE_STEER_NONE && raddle_steer_watches(rt_steer())[watch].site)
		come_to_watched(t, touch, watch);
}
