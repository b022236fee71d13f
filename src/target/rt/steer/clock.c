// SPDX-License-Identifier: Apache-2.0
/*
 * The clock of a program whose threads take turns, unless its input is recorded or replayed
 * (rt/world/).  In: queries of the time, sleeps, time limits that expire.  Out: times that are the
 * same in all runs of a schedule, relative to the start of the run.
 *
 * Each clock begins with its real time at the start of the program.  Then it advances a little with
 * each query, by the length of a sleep if all runnable threads sleep, and to the end of a time
 * limit when the limit expires.  A thread that only queries the time gets larger and larger steps,
 * so a loop that waits for a certain time ends.
 *
 * If other processes may influence the program, a deadline must not expire before they have had
 * real time to act.  From then on, the clock follows real time, and each query marks the run as
 * influenced by real time.
 *
 * Only the thread that has the turn uses the clock.  A clock never runs backwards.
 */
#include "rt/core/io/outside.h"
#include "rt/steer/turn-int.h"

#include <sys/syscall.h>

#define NS_PER_S 1000000000ull
/* These values were chosen by hand: a loop that waits for a second by queries alone needs some 1,200 of
 * them, and programs that query the time between operations see plausible times. */
#define STEP_NS 1000	/* how far the clocks advance at a query */
#define STEP_QUERIES 16 /* number of queries without an operation after which the step doubles */
#define STEP_DOUBLES 10 /* maximum number of doublings: a step is at most a millisecond */

static struct rt_turn_clock *state(void)
{
	return &rt_steering()->entries.clock;
}

static uint64_t real_time(clockid_t clock)
{
	struct timespec now = {0};

	rt_bare(SYS_clock_gettime, clock, (long)&now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* ---- whether the clock is real ---- */

void rt_clock_becomes_real(void)
{
	state()->real = true;
}

/* Called before the clock advances over time that the program spends waiting.  Lets the clock
 * follow real time if something outside the program may happen. */
static void look_outside(void)
{
	if (!state()->real &&
	    (atomic_load(&rt_steer()->unsure) || rt_turn_has_children() || rt_turn_has_timers()))
		rt_clock_becomes_real();
}

/* ---- time ---- */

static uint64_t time_of(clockid_t clock)
{
	struct rt_turn_clock *c = state();
	uint64_t now = c->real ? real_time(clock) : 0;

	if (now > c->from[clock] && now - c->from[clock] > c->passed)
		c->passed = now - c->from[clock];
	return c->from[clock] + c->passed;
}

/* Returns how far the clocks advance at a query of this thread. */
static uint64_t step_of(const struct rt_thread *t)
{
	struct rt_queries *q = &state()->queries[t->number];
	uint32_t times;

	if (q->n != rt_steered(t)->n)
		*q = (struct rt_queries){.n = rt_steered(t)->n};
	times = q->count++ / STEP_QUERIES;
	return (uint64_t)STEP_NS << (times < STEP_DOUBLES ? times : STEP_DOUBLES);
}

uint64_t rt_clock_now(clockid_t clock)
{
	return state()->on && clock >= 0 && clock < RADDLE_CLOCKS ? time_of(clock) : real_time(clock);
}

void rt_clock_passes(uint64_t ns)
{
	if (state()->on && !state()->real && ns < 1ull << 62)
		state()->passed += ns;
}

/* Returns true if all other runnable threads sleep, too. */
static bool all_sleep(const struct rt_thread *t)
{
	for (uint32_t i = 0; i < rt_slot_count(); i++)
		if (i != t->number && rt_turn_is_ready(i) && rt_slot_at(i)->point != RADDLE_POINT_YIELD)
			return false;
	return true;
}

/* ---- for the program ---- */

static bool is_used(const struct rt_thread *t)
{
	return rt.layer[RT_LAYER_STEER] && rt_steered(t)->slot && rt_turn_has(t);
}

static void sleeps(uint64_t ns)
{
	struct rt_thread *t = rt_self();

	if (!t || !is_used(t))
		return;
	look_outside();
	if (all_sleep(t))
		rt_clock_passes(ns);
}

/* Returns the kernel clock that a source reads, or -1 if the source is not a clock. */
static clockid_t clock_of(enum raddle_source source)
{
	switch (source) {
	case RADDLE_SOURCE_TIMEOFDAY:
	case RADDLE_SOURCE_TIME: return CLOCK_REALTIME;
	case RADDLE_SOURCE_CLOCK: return CLOCK_PROCESS_CPUTIME_ID;
	default: return source < RADDLE_CLOCKS ? (clockid_t)source : -1;
	}
}

static bool gives(struct rt_thread *t, enum raddle_source source, uint64_t *value)
{
	clockid_t clock = clock_of(source);
	uint64_t ns, step;

	if (clock < 0 || !is_used(t))
		return false;
	step = step_of(t);
	if (step > STEP_NS)
		look_outside();
	rt_clock_passes(step);
	if (state()->real)
		atomic_fetch_add(&rt_steer()->unsure, 1);
	ns = time_of(clock);
	*value = source == RADDLE_SOURCE_TIME	 ? ns / NS_PER_S
		 : source == RADDLE_SOURCE_CLOCK ? ns / 1000
						 : ns;
	return true;
}

static void meets_others(struct rt_thread *t, int fd)
{
	(void)fd;
	if (is_used(t))
		rt_clock_becomes_real();
}

static void connects(struct rt_thread *t, int fd, const struct iovec *address, int error)
{
	(void)address;
	(void)error;
	meets_others(t, fd);
}

static const struct rt_outside table = {
	.gives = gives, .passes = sleeps, .bound = meets_others, .connected = connects};

void rt_clock_setup_turns(void)
{
	if (!(rt_steer()->flags & RADDLE_STEER_TURNS) || rt.session->world_offset || rt.session->world)
		return;
	for (clockid_t i = 0; i < RADDLE_CLOCKS; i++)
		state()->from[i] = real_time(i);
	state()->on = true;
	state()->real = rt_steer()->flags & RADDLE_STEER_ACCOMPANIED;
	rt.outside = &table;
}
