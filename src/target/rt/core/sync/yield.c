// SPDX-License-Identifier: Apache-2.0
/*
 * Interposed functions that yield or sleep and so let other threads run.  They write no record.  If
 * a layer runs threads one at a time, the other threads get their turns, and the thread really
 * sleeps only if no other thread could continue.
 */
#include "rt/core/layer.h"
#include "rt/core/io/outside.h"
#include "rt/core/real.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

void rt_member_yield(void);
void rt_member_yield(void)
{
}

/* Called when the thread yields (`ns` is 0), or sleeps for `ns` nanoseconds.  Returns true if a layer let
 * other threads run, so that the real function is not needed. */
static bool yields(uint64_t ns)
{
	struct rt_thread *t = RT_UNLIKELY(rt.callbacks.yields != NULL) ? rt_self() : NULL;
	bool others_ran = false;

	if (t)
		RT_NOTIFY(yields, t, ns, &others_ran);
	return others_ran;
}

/* Called in each iteration of a loop that waits for memory to change, or that never ends
 * (instr/record/spin.c). */
__attribute__((visibility("default"))) void __raddle_round(void)
{
	struct rt_thread *t = RT_UNLIKELY(rt.callbacks.rounds != NULL) ? rt_self() : NULL;

	if (t)
		RT_NOTIFY(rounds, t);
}

__attribute__((visibility("default"))) void __raddle_progress(void)
{
	struct rt_thread *t = RT_UNLIKELY(rt.callbacks.progresses != NULL) ? rt_self() : NULL;

	if (t)
		RT_NOTIFY(progresses, t);
}

/* When input is replayed, a sleep ends as soon as every other thread waits as well. */
static bool sleeps_in_world(uint64_t ns)
{
	struct rt_thread *t = rt.outside && rt.outside->passes ? rt_self() : NULL;
	bool slept = false;

	if (!t)
		return false;
	rt.outside->passes(ns);
	if (rt.outside->idle)
		RT_NOTIFY(sleeps, t, &slept);
	return slept;
}

/* Like yields(), but for a sleep, which is a cancellation point. */
static bool sleeps_by_turns(uint64_t ns)
{
	if (!sleeps_in_world(ns) && !yields(ns))
		return false;
	pthread_testcancel();
	return true;
}

static bool is_time(const struct timespec *time)
{
	return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

static uint64_t length_of(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

/* Returns the length of a sleep until an absolute time in nanoseconds, or 0 if it is not known. */
static uint64_t length_until(clockid_t clock, const struct timespec *time)
{
	return rt.outside && rt.outside->left ? rt.outside->left(clock, time) : 0;
}

INTERPOSE(int, sched_yield, (void))
{
	return yields(0) ? 0 : REAL(sched_yield)();
}

INTERPOSE(void, thrd_yield, (void))
{
	if (!yields(0))
		REAL(thrd_yield)();
}

INTERPOSE(unsigned, sleep, (unsigned seconds))
{
	return seconds && sleeps_by_turns(seconds * 1000000000ull) ? 0 : REAL(sleep)(seconds);
}

INTERPOSE(int, usleep, (useconds_t microseconds))
{
	return sleeps_by_turns(microseconds * 1000ull) ? 0 : REAL(usleep)(microseconds);
}

INTERPOSE(int, nanosleep, (const struct timespec *time, struct timespec *left))
{
	return is_time(time) && sleeps_by_turns(length_of(time)) ? 0 : REAL(nanosleep)(time, left);
}

INTERPOSE(int, clock_nanosleep,
	  (clockid_t clock, int flags, const struct timespec *time, struct timespec *left))
{
	return is_time(time) && sleeps_by_turns(flags & TIMER_ABSTIME ? length_until(clock, time)
								      : length_of(time))
		       ? 0
		       : REAL(clock_nanosleep)(clock, flags, time, left);
}

INTERPOSE(int, thrd_sleep, (const struct timespec *time, struct timespec *left))
{
	return is_time(time) && sleeps_by_turns(length_of(time)) ? 0 : REAL(thrd_sleep)(time, left);
}
