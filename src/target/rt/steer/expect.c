// SPDX-License-Identifier: Apache-2.0
/*
 * Events from outside that may still happen: a signal, a timer, the end of a child process, input.
 * In: threads that look for input without waiting for it, and runnable threads that all wait in
 * loops.  Out: the end of a time limit, a livelock, or a short sleep, after which threads check again.
 *
 * Threads that wait in loops for each other are livelocked.  But a signal handler, a timer or another
 * process may change what they wait for, and that takes real time.  If anything of that kind is
 * possible, the program is not livelocked.  Then the thread that has the turn really sleeps for a
 * moment, and the run counts as influenced by real time (`unsure`).
 */
#include "rt/core/io/outside.h"
#include "rt/steer/expect-int.h"
#include "rt/steer/turn-int.h"

#include <signal.h>
#include <sys/syscall.h>

#define NAP_MS 1 /* how long a thread sleeps before all threads check again */
/* Number of naps for which threads wait for a signal that no known process will send.  Chosen by
 * hand: a user who sends one by hand takes longer anyway. */
#define SIGNAL_NAPS 100

static struct rt_expecting *expecting(void)
{
	return &rt_steering()->entries.expecting;
}

static uint64_t news(void)
{
	return rt_steering()->turns.news;
}

/* ---- what may happen ---- */

void rt_expect_looks(const struct rt_thread *t)
{
	if (rt_steered(t)->slot)
		expecting()->looks[t->number] = news() + 1;
}

/* Returns true if a thread has looked outside since any thread last saw something new. */
static bool looks_outside(void)
{
	for (uint32_t i = 0; i < rt_slot_count(); i++)
		if (expecting()->looks[i] == news() + 1 && rt_turn_state(i) != RADDLE_SLOT_ENDED)
			return true;
	return false;
}

static bool has_handlers(void)
{
	uint64_t handled = 0;

	for (int i = 1; i <= 64 && atomic_load(&rt.interruptible); i++)
		handled |= (uint64_t)rt_signal_is_handled(i) << (i - 1);
	return rt_expect_signals(handled) != 0;
}

void rt_expect_shared(const struct rt_thread *t)
{
	const struct rt_spin *s = &rt_steered(t)->spin;

	for (uint32_t i = 0; i < s->count; i++)
		if (rt_maps_any(rt_expect_is_shared, s->entries[i].address, false)) {
			rt_expect_looks(t);
			return;
		}
}

static bool has_pending_signals(void)
{
	uint64_t pending = 0;

	rt_bare(SYS_rt_sigpending, (long)&pending, sizeof pending);
	return pending != 0;
}

/* Returns true if something other than a signal from an unknown process may still happen. */
static bool expects_event(void)
{
	return rt_steer()->flags & RADDLE_STEER_ACCOMPANIED || looks_outside() || rt_turn_has_timers() ||
	       rt_turn_has_children() || has_pending_signals();
}

/* ---- what follows from that ---- */

/* Calls a function that needs the lock of steering. */
static bool locked(bool (*look)(void))
{
	uint64_t signals;
	bool result;

	rt_steer_lock(&signals);
	result = look();
	rt_steer_unlock(&signals);
	return result;
}

/* Lets the first time limit expire, if no time limit depends on real time.  While all runnable
 * threads wait in loops, time passes as it does when no thread is runnable. */
static bool expires(void)
{
	return !rt_blocking_let_in() && rt_turn_expire_first();
}

/* Lets the thread sleep for a moment in real time.  Points at which threads only let time pass are
 * not counted. */
static void nap(struct rt_thread *t)
{
	struct rt_turns *turns = &rt_steering()->turns;
	_Atomic uint32_t never = 0;

	atomic_fetch_add(&rt_steer()->unsure, 1);
	rt_clock_becomes_real();
	rt_futex_wait(&never, 0, NAP_MS);
	rt_blocking_look();
	turns->points -= turns->points > 0;
	rt_steered(t)->slot->arrivals -= rt_steered(t)->slot->arrivals > 0;
}

/* Counts naps in a row during which threads only wait for a signal.  Returns true if there were too
 * many. */
static bool is_too_long(void)
{
	struct rt_expecting *e = expecting();

	if (e->nap_news != news())
		e->naps = 0;
	e->nap_news = news();
	return ++e->naps > SIGNAL_NAPS;
}

/* Called when nothing more is expected.  Even so, the last event may have happened after a thread
 * last looked, and a handler may have interrupted the runtime, which does not see the accesses of
 * such a handler.  So all threads have to check once more. */
static void end_hope(void)
{
	bool disturbed = atomic_load(&rt.interruptible) || atomic_load(&rt_steer()->unsure);

	if (disturbed && expecting()->calm_news != news())
		expecting()->calm_news = ++rt_steering()->turns.news;
	else if (locked(rt_turn_all_spin) && !atomic_exchange(&rt_steer()->livelock, 1))
		rt_turn_wake_leader();
}

void rt_expect(struct rt_thread *t)
{
	if (!rt_turn_has(t) || rt_steer_phase() != RADDLE_GOES_ON || atomic_load(&rt_steer()->livelock) ||
	    !locked(rt_turn_runnable_spin) || locked(expires))
		return;
	if (!locked(rt_turn_all_spin) || expects_event() || (has_handlers() && !is_too_long()))
		nap(t);
	else if (has_handlers())
		rt_turn_stop(t, RADDLE_LIMIT_OUTSIDE);
	else
		end_hope();
}
