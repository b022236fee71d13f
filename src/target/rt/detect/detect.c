// SPDX-License-Identifier: Apache-2.0
/*
 * The on-line detector: its state, its entry points, and its threads.  rt/detect/object.c handles
 * the operations that order threads, and rt/detect/access.c handles accesses.
 *
 * Signals: `busy` is set while a thread is in the detector.  If a signal handler finds it set, the
 * handler's accesses are skipped, and its synchronisation leads to forgiveness (rt/detect/watch.h).
 * If a handler left the detector by longjmp, the next call notices that in the same way as
 * rt/record/recorder.c does.  It then releases the locks and forgives.
 *
 * The child of a fork is not examined.  Without memory the detector stops, and the races found so
 * far are kept.
 */
#include "rt/detect/watch.h"

#include "raddle/steer.h"
#include "rt/common/bug.h"

static void set_watch(struct rt_thread *t, struct rt_watch *w)
{
	t->layer[RT_LAYER_DETECT] = w;
	t->gather = w ? &w->gather : NULL;
}

bool rt_detect_setup(struct raddle_steer *steer)
{
	struct rt_detect *d = rt_map(sizeof *d);

	if (!d) {
		atomic_store(&steer->detect_over, 1);
		return false;
	}
	d->steer = steer;
	d->arena.left = steer->detect_memory ? steer->detect_memory : UINT64_MAX;
	rt.layer[RT_LAYER_DETECT] = d;
	return true;
}

void rt_detect_stop(void)
{
	rt.layer[RT_LAYER_DETECT] = NULL;
	if (__raddle_self != &rt_placeholder)
		set_watch((struct rt_thread *)__raddle_self, NULL);
}

void rt_watch_over(void)
{
	atomic_store_explicit(&rt_detect()->dead, 1, memory_order_relaxed);
	atomic_store_explicit(&rt_detect()->steer->detect_over, 1, memory_order_relaxed);
}

void rt_watch_forgive(void)
{
	struct rt_detect *d = rt_detect();
	uint32_t count = atomic_load(&d->lane_count);

	for (uint32_t i = 0; i < count; i++) {
		uint64_t epoch = atomic_load(&d->lanes[i].epoch), floor = atomic_load(&d->lanes[i].floor);
		while (floor < epoch && !atomic_compare_exchange_weak(&d->lanes[i].floor, &floor, epoch))
			;
	}
}

void rt_detect_lost(void)
{
	if (rt_detect_is_on())
		rt_watch_forgive();
}

/* Releases the locks that a handler's longjmp left locked. */
__attribute__((noinline, cold)) bool rt_watch_recover(struct rt_watch *w)
{
	const struct rt_thread *t = (const struct rt_thread *)__raddle_self;
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	struct rt_detect *d = rt_detect();

	if (rt_watch(t) != w || frame <= w->busy || frame >= t->stack_high || frame < t->stack_low ||
	    w->busy < t->stack_low)
		return false;
	for (uint32_t i = 0; i < RT_STRIPES; i++)
		rt_spin_recover(&d->stripes[i].lock);
	rt_spin_recover(&d->arena.lock);
	rt_spin_recover(&d->report_lock);
	rt_spin_recover(&d->lane_lock);
	if (w->locked)
		rt_line_unlock(w->locked, 0);
	w->locked = NULL;
	rt_watch_forgive();
	return true;
}

static void set_epoch(struct rt_watch *w, uint64_t epoch)
{
	RT_ASSERT(w->lane < RT_LANES && epoch > w->epoch);
	w->epoch = epoch;
	w->who = RT_WHO(w->lane, epoch);
	atomic_store_explicit(&rt_detect()->lanes[w->lane].epoch, epoch, memory_order_relaxed);
}

void rt_watch_tick(struct rt_watch *w)
{
	if (w->lane == RT_LANE_NONE)
		return;
	RT_ASSERT(w->lane < w->clock.count);
	set_epoch(w, w->epoch + 1);
	w->clock.at[w->lane] = w->epoch;
	w->ticked = true;
}

bool rt_detect_ticked(struct rt_thread *t)
{
	bool ticked = rt_watch(t) && rt_watch(t)->ticked;

	if (ticked)
		rt_watch(t)->ticked = false;
	return ticked;
}

/* Returns an idle lane whose last epoch the creator of the new thread knows.  If there is none,
 * returns a new lane, or RT_LANE_NONE if all are in use. */
static uint32_t choose_lane(struct rt_detect *d, const struct rt_clock *known)
{
	uint32_t *at = &d->idle_lane, lane;

	for (int tries = 0; *at && tries < 64; tries++) {
		struct rt_lane *l = &d->lanes[*at - 1];
		lane = *at - 1;
		if (atomic_load(&l->epoch) <= rt_clock_at(known, lane)) {
			*at = l->next;
			return lane;
		}
		at = &l->next;
	}
	lane = atomic_load(&d->lane_count);
	if (lane == RT_LANES)
		return RT_LANE_NONE;
	atomic_store(&d->lane_count, lane + 1);
	return lane;
}

static uint32_t take_lane(struct rt_watch *w, const struct rt_clock *known, uint32_t number)
{
	struct rt_detect *d = rt_detect();
	struct rt_tenant *tenant = rt_arena_get(&d->arena, sizeof *tenant);
	uint32_t lane;

	if (!tenant || !rt_spin(&d->lane_lock))
		return RT_LANE_NONE;
	lane = choose_lane(d, known);
	if (lane != RT_LANE_NONE) {
		tenant->before = d->lanes[lane].tenant;
		tenant->first = atomic_load(&d->lanes[lane].epoch) + 1;
		tenant->number = number;
		RT_ASSERT(!tenant->before || tenant->before->first <= tenant->first);
		d->lanes[lane].tenant = tenant;
		d->lanes[lane].watch = w;
	}
	rt_spin_leave(&d->lane_lock);
	return lane;
}

/* Makes the lane of an ended thread available to new threads.  Returns false if other threads may
 * still use the watch. */
static bool give_lane(const struct rt_watch *w)
{
	struct rt_detect *d = rt_detect();

	if (w->lane == RT_LANE_NONE)
		return true;
	if (!rt_spin(&d->lane_lock))
		return false;
	RT_ASSERT(d->lanes[w->lane].watch == w);
	d->lanes[w->lane].watch = NULL;
	d->lanes[w->lane].version = w->version + 1;
	d->lanes[w->lane].next = d->idle_lane;
	d->idle_lane = w->lane + 1;
	rt_spin_leave(&d->lane_lock);
	return true;
}

/* Makes a watch whose clock starts with the epochs of `known`. */
static struct rt_watch *make_watch(const struct rt_clock *known, uint32_t number)
{
	struct rt_detect *d = rt_detect();
	struct rt_watch *w = number < RT_THREADS ? rt_arena_get(&d->arena, sizeof *w) : NULL;

	if (!w || !rt_clock_copy(&d->arena, &w->clock, known)) {
		rt_watch_over();
		return NULL;
	}
	w->gather.anew = rt_detect_gather;
	w->lane = take_lane(w, known, number);
	if (w->lane == RT_LANE_NONE)
		return w;
	w->version = d->lanes[w->lane].version;
	set_epoch(w, atomic_load(&d->lanes[w->lane].epoch) + 1);
	if (!rt_clock_set(&d->arena, &w->clock, w->lane, w->epoch))
		rt_watch_over();
	return w;
}

void rt_detect_created(struct rt_thread *parent, struct rt_thread *child)
{
	struct rt_watch *w = rt_watch(parent);

	set_watch(child, NULL);
	if (!rt_detect_is_on() || !w || !rt_watch_enter(w))
		return;
	rt_watch_flush(w);
	set_watch(child, make_watch(&w->clock, child->number));
	rt_watch_tick(w);
	rt_watch_leave(w);
}

/* If the creation of the thread was not reported, the thread is assumed to be ordered after
 * everything that happened so far. */
void rt_detect_start(struct rt_thread *t)
{
	if (!rt_detect_is_on())
		return;
	if (!rt_watch(t)) {
		rt_watch_forgive();
		set_watch(t, make_watch(&(struct rt_clock){0}, t->number));
	}
	if (t->parent != t->number)
		rt_detect_forget(t, t->stack_low, t->stack_high - t->stack_low);
}

/* Stores the clock of the ended thread, for the thread that joins it. */
void rt_detect_end(struct rt_thread *t)
{
	struct rt_watch *w = rt_watch(t);
	struct rt_clock *last;
	bool mine;

	set_watch(t, NULL);
	if (!rt_detect_is_on() || !w)
		return;
	if (rt_watch_enter(w))
		rt_watch_flush(w);
	mine = give_lane(w);
	last = rt_arena_get(&rt_detect()->arena, sizeof *last);
	if (!last) {
		rt_watch_over();
		return;
	}
	*last = w->clock;
	rt_clock_release(&rt_detect()->arena, &w->found);
	RT_ASSERT(t->number < RT_THREADS);
	atomic_store(&rt_detect()->ended[t->number], last);
	if (mine)
		rt_arena_put(&rt_detect()->arena, w, sizeof *w);
}

void rt_detect_joined(struct rt_thread *t, uint32_t number)
{
	struct rt_watch *w = rt_watch(t);
	struct rt_clock *last;

	if (!rt_detect_is_on())
		return;
	last = number < RT_THREADS ? atomic_exchange(&rt_detect()->ended[number], NULL) : NULL;
	if (!last || !w || !rt_watch_enter(w)) {
		rt_watch_forgive();
		return;
	}
	rt_watch_flush(w);
	w->version++;
	if (rt_clock_join(&rt_detect()->arena, &w->clock, last) == RT_JOINED_FAILED)
		rt_watch_over();
	rt_clock_release(&rt_detect()->arena, last);
	rt_arena_put(&rt_detect()->arena, last, sizeof *last);
	rt_watch_leave(w);
}
