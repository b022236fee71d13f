/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations that rt/steer/turn.c, choose.c, watch.c, wait.c and stalled.c share.  Together,
 * these files let only one thread run at a time.  All functions that are not inline are called
 * with the lock of steering held, unless their comments state otherwise.
 */
#ifndef RT_STEER_TURN_INT_H
#define RT_STEER_TURN_INT_H

#include "rt/common/bug.h"
#include "rt/steer/steer-int.h"

/* The number of checks after which a thread that waits for the turn also checks whether the thread
 * that has the turn is stalled. */
#define RT_LOOK_FROM 66

static inline uint32_t rt_turn_running(void)
{
	return atomic_load_explicit(&rt_steer()->running, memory_order_acquire);
}

/* Returns true if threads take turns now.  If they share one kernel thread, they also take turns
 * after the run has diverged. */
static inline bool rt_turn_taken(void)
{
	uint32_t phase;

	if (!rt_takes_turns())
		return false;
	if (rt_steer_has_one())
		return true;
	phase = rt_steer_phase();
	return phase == RADDLE_LEADING || phase == RADDLE_MET || phase == RADDLE_GOES_ON;
}

static inline uint32_t rt_turn_state(uint32_t number)
{
	return atomic_load_explicit(&rt_slot_at(number)->state, memory_order_acquire);
}

static inline bool rt_turn_has(const struct rt_thread *t)
{
	return rt_turn_running() == t->number;
}

static inline bool rt_turn_is_ready(uint32_t number)
{
	return rt_set_has(&rt_steering()->turns.ready, number);
}

/* Notes whether the thread is ready, that is, needs only the turn to continue.  Updates both the
 * set of ready threads and the thread's slot, which the replayer reads.  The thread that has the
 * turn may call this for itself without the lock. */
static inline void rt_turn_set_ready(uint32_t number, bool ready)
{
	struct rt_set *set = &rt_steering()->turns.ready;

	atomic_store_explicit(&rt_slot_at(number)->ready, ready, memory_order_relaxed);
	if (ready)
		rt_set_add(set, number, rt_is_alone());
	else
		rt_set_remove(set, number, rt_is_alone());
}

/* Notes whether the thread waits.  If `since` is 0, it does not wait.  Otherwise `since` is the
 * number of the wait; later waits have higher numbers. */
static inline void rt_turn_set_since(uint32_t number, uint64_t since)
{
	struct rt_set *set = &rt_steering()->turns.waiting;

	rt_slot_at(number)->since = since;
	if (since)
		rt_set_add(set, number, rt_is_alone());
	else
		rt_set_remove(set, number, rt_is_alone());
}

/* Returns true if the thread has the turn, or needs only the turn to continue. */
static inline bool rt_turn_may_run(uint32_t number)
{
	return rt_turn_is_ready(number) || rt_turn_running() == number;
}

/* rt/steer/spin.c.  Returns true if no runnable thread reads what another one changes while it waits in a
 * loop. */
bool rt_spin_is_closed(void);

/* Returns true if no thread has the turn.  Then waiting threads check whether input has arrived. */
static inline bool rt_turn_is_idle(void)
{
	return rt_turn_running() == RADDLE_STEER_NONE;
}

static inline uint32_t rt_turn_count_ready(void)
{
	return atomic_load_explicit(&rt_steering()->turns.ready.count, memory_order_acquire);
}

/* rt/steer/choose.c.  Returns the slot of the thread at `position` in the plan's table of threads,
 * or NONE if the thread has not begun.  Needs no lock. */
uint32_t rt_turn_slot(uint32_t position);
bool rt_turn_waits_outside(uint32_t number);
bool rt_turn_has_decisions(void); /* true if decisions of the plan are left */

/* Called when thread `number` is at a point.  Returns the slot of the thread that runs next, or
 * NONE if no thread can continue.  `wish` is the replayer's choice, or NONE. */
uint32_t rt_turn_choose(uint32_t number, const struct rt_thread *t, uint32_t wish);

static inline void rt_turn_hand_over(uint32_t from, uint32_t next)
{
	struct raddle_slot *slot = rt_slot_at(from);

	RT_ASSERT(from < RADDLE_SLOTS && (next < rt_slot_count() || next == RADDLE_STEER_NONE));
	slot->stays = next == from ? slot->stays + 1 : 0;
	rt_steer()->passed = from;
	/* wake() orders the store before it looks for a sleeper */
	atomic_store_explicit(&rt_steer()->running, next, memory_order_release);
	if (next < RADDLE_SLOTS && next != from)
		rt_steer_wake(&rt_steering()->own[next]);
}

/* rt/steer/turn.c.  Returns the slot of a thread other than `self` that runs without the turn, or
 * NONE. */
uint32_t rt_turn_find_unsettled(uint32_t self);
void rt_turn_note(struct rt_thread *t, uint64_t n, enum raddle_point point);
/* Called for the initial thread: resets its count of points. */
void rt_turn_start_counts(struct rt_thread *t);
void rt_turn_wake_leader(void);
/* Called when the run has reached a limit.  No thread continues until the replayer ends the run. */
void rt_turn_stop(struct rt_thread *t, enum raddle_limit limit);
/* These return true if the process has child processes, or timers in the kernel. */
bool rt_turn_has_children(void);
bool rt_turn_has_timers(void);
/* Called by the thread that has the turn.  Chooses the next thread, which may be the same one. */
void rt_turn_pass(struct rt_thread *t, bool asks, uint64_t *signals);
/* Called without the lock when the thread is at a point.  Returns when the thread has the turn. */
void rt_turn_come_to(struct rt_thread *t, uint64_t n, enum raddle_point point, bool asks);

/* rt/steer/wait.c.  rt_turn_is_over() returns true if the time limit has expired, and
 * rt_turn_left() returns how many nanoseconds are left. */
bool rt_turn_is_over(const struct rt_until *until);
int64_t rt_turn_left(const struct rt_until *until);

/* rt/steer/expect.c. rt_expect_looks() is called when the thread has checked for input from
 * outside, without waiting. rt_expect_shared() is called when the thread waits in a loop that may
 * read memory shared with other processes. */
void rt_expect_looks(const struct rt_thread *t);
void rt_expect_shared(const struct rt_thread *t);

/* rt/steer/choose.c.  Called with the lock held.  Finds the earliest wait that has a time limit,
 * and makes the limit expire.  Returns false if it made no limit expire. */
bool rt_turn_expire_first(void);

/* rt/steer/expect.c.  expect(): the thread, which has the turn, is about to reach a point, and waits in
 * a loop. */
void rt_expect(struct rt_thread *t);

/* rt/steer/clock.c.  rt_clock_now() returns the time of the program's clock in nanoseconds, or of
 * the real clock if the program has no clock of its own.  rt_clock_passes() advances the program's
 * clock.  After rt_clock_becomes_real(), the program's clock follows real time. */
void rt_clock_setup_turns(void);
uint64_t rt_clock_now(clockid_t clock);
void rt_clock_passes(uint64_t ns);
void rt_clock_becomes_real(void);

/* rt/steer/signal.c.  Returns true if the signal has a handler. */
bool rt_signal_is_handled(int number);

/* rt/steer/maps.c.  Returns true if the function `is` accepts some line of /proc/self/maps,
 * together with `argument`.  Returns `otherwise` if the file cannot be read. */
bool rt_maps_any(bool (*is)(const char *line, uintptr_t argument), uintptr_t argument, bool otherwise);

/* rt/steer/stalled.c.  Returns true if the kernel reports that the thread is asleep.  Needs no
 * lock. */
bool rt_turn_sleeps(uint32_t tid);
/* Returns how long the thread has waited for a processor so far, in nanoseconds; 0 if unknown. */
uint64_t rt_turn_delay(uint32_t tid);

#endif
