// SPDX-License-Identifier: Apache-2.0
/*
 * Waiting where one thread runs at a time (rt/steer/turn.c).  A thread that cannot continue passes
 * the turn on, and stays without it until the object that it waits for is released or its time is
 * up.  In: waits and releases.  Out: `ready` in the slots.
 */
#include "rt/common/bug.h"
#include "rt/core/io/outside.h"
#include "rt/steer/turn-int.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

int64_t rt_turn_left(const struct rt_until *until)
{
	uint64_t ns = rt_clock_now(until->clock);
	struct timespec now = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	int64_t left;

	if (__builtin_mul_overflow(until->time->tv_sec - now.tv_sec, 1000000000, &left))
		return until->time->tv_sec < now.tv_sec ? 0 : INT64_MAX / 2;
	return left + until->time->tv_nsec - now.tv_nsec;
}

bool rt_turn_is_over(const struct rt_until *until)
{
	return until && rt_turn_left(until) <= 0;
}

static void begin_wait(struct rt_step *step)
{
	struct raddle_slot *slot = rt_steered(step->t)->slot;
	uint64_t signals;

	RT_ASSERT(rt_steered(step->t)->slot != NULL);
	rt_steer_lock(&signals);
	atomic_store_explicit(&slot->away, 0, memory_order_relaxed);
	rt_turn_set_since(step->t->number, ++rt_steering()->turns.waits);
	if (rt_turn_has(step->t)) {
		rt_turn_set_ready(step->t->number, false);
		slot->due = 0;
		rt_turn_note(step->t, step->n, RADDLE_POINT_WAIT);
		rt_turn_pass(step->t, false, &signals);
	}
	rt_steer_unlock(&signals);
}

bool rt_turn_wait(struct rt_step *step, const struct rt_until *until)
{
	struct rt_thread *t = step->t;
	struct raddle_slot *slot = rt_steered(t)->slot;
	uint32_t round = 0, seen = rt_steer_seen(t);
	bool idle = false, due;

	rt_steering()->entries.waits[t->number].until = until;

	if (rt_turn_taken()) {
		begin_wait(step);
	} else {
		rt_turn_set_since(t->number, 1);
		rt_steer_nap(t, seen, RT_LOOK_FROM);
	}
	for (; rt_turn_taken() && !rt_turn_has(t) && !idle; seen = rt_steer_seen(t)) {
		if (round > RT_LOOK_FROM)
			rt_turn_look();
		if (!rt.one || !rt_context_switch(t, rt_turn_running()))
			rt_steer_nap(t, seen, round++);
		/* a signal handler has run meanwhile */
		if (rt_turn_state(t->number) == RADDLE_SLOT_RUNS)
			rt_steer_show(t, RADDLE_SLOT_BLOCKED);
		idle = round > RT_LOOK_FROM && rt_turn_is_idle();
	}
	due = slot->due || (!rt_turn_has(t) && rt_turn_is_over(until));
	if (slot->due && until && rt_turn_left(until) > 0)
		rt_clock_passes((uint64_t)rt_turn_left(until));
	rt_steering()->entries.waits[t->number].until = NULL;
	slot->due = 0;
	rt_turn_set_since(t->number, 0);
	if (rt_turn_has(t))
		rt_turn_set_ready(t->number, false);
	return !due;
}

/* Lets other threads run until the object is released or the time limit expires. */
static enum rt_idle wait_for(struct rt_thread *t, uint64_t object, bool timed)
{
	struct raddle_slot *slot = rt_steered(t)->slot;
	struct rt_step step = {.t = t, .n = rt_steered(t)->n};
	bool goes_on;

	if (!slot || t->busy || !rt_turn_taken())
		return RT_IS_NOT_IDLE;
	if (!rt_turn_has(t))
		rt_turn_take(t);
	atomic_store(&slot->object, object);
	atomic_store(&slot->kind, RADDLE_CHANNEL_RECEIVE);
	atomic_store_explicit(&slot->timed, timed, memory_order_relaxed);
	rt_steer_show(t, RADDLE_SLOT_BLOCKED);
	goes_on = rt_turn_wait(&step, NULL);
	rt_turn_take(t);
	rt_steer_show(t, RADDLE_SLOT_RUNS);
	atomic_store(&slot->object, 0);
	return goes_on ? RT_LOOK_AGAIN : RT_TIME_UP;
}

enum rt_idle rt_turn_idle(struct rt_thread *t, bool timed)
{
	return wait_for(t, RT_OUTSIDE_OBJECT, timed);
}

bool rt_turn_sleep(struct rt_thread *t)
{
	enum rt_idle how;

	do
		how = wait_for(t, RT_SLEEP_OBJECT, true);
	while (how == RT_LOOK_AGAIN);
	return how == RT_TIME_UP;
}

void rt_turn_ready(const struct rt_thread *t)
{
	struct raddle_slot *slot = rt_steered(t)->slot;
	uint64_t signals;

	if (!slot || !rt_takes_turns())
		return;
	rt_steer_lock(&signals);
	if (slot->since)
		rt_turn_set_ready(t->number, true);
	rt_steer_unlock(&signals);
	if (!rt_turn_taken() || rt_turn_is_idle())
		rt_steer_wake(rt_steered(t)->place);
}

/* Lets thread `number` check again; it is cancelled if it waits at a cancellation point. */
void rt_turn_cancelled(uint32_t number)
{
	struct raddle_slot *slot = number < rt_slot_count() ? rt_slot_at(number) : NULL;
	uint64_t signals;

	if (!slot || !rt_takes_turns())
		return;
	rt_steer_lock(&signals);
	if (slot->since) {
		rt_turn_set_ready(number, true);
		if (!rt_turn_taken())
			rt_steer_wake(&rt_steering()->own[number]);
	}
	rt_steer_unlock(&signals);
}

void rt_turn_released(uint64_t object)
{
	const struct rt_set *waiting = &rt_steering()->turns.waiting;
	uint32_t count = rt_slot_count();
	uint64_t signals;

	if (!rt_takes_turns() || !atomic_load(&waiting->count))
		return;
	rt_steer_lock(&signals);
	for (uint32_t i = rt_set_next(waiting, 0, count); i < count; i = rt_set_next(waiting, i + 1, count)) {
		if (atomic_load(&rt_slot_at(i)->object) != object)
			continue;
		rt_turn_set_ready(i, true);
		if (!rt_turn_taken())
			rt_steer_wake(&rt_steering()->own[i]);
	}
	rt_steer_unlock(&signals);
}
