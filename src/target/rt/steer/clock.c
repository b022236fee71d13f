// SPDX-License-Identifier: Apache-2.0
/*
 * The clock of a program whose threads take turns, unless its input is recorded or replayed
 * (rt/world/).  In: queries of the time, sleeps, time limits that expire.  Out: times that are the
 * same in all runs of a schedule, relative to the start of the run.
 *
 * Each clock begins with its real time at the start of the program.  Then it advances by a little with each
 * query, to the first end of a sleep if all runnable threads sleep, and to the end of a time limit when
 * that expires.  A thread that queries the time while no thread works gets larger and larger steps, so a loop
 * that waits for a certain time ends.
 *
 * If other processes may influence the program, a deadline must not expire before they have had
 * real time to act.  From then on, the clock follows real time, and each query marks the run as
 * influenced by real time.
 *
 * Only the thread that has the turn uses the clock.  A clock never runs backwards.
 */
#include "rt/core/io/outside.h"
#include "rt/steer/ledger-int.h"
#include "rt/steer/turn-int.h"

#include <sys/syscall.h>

#define NS_PER_S 1000000000ull
/* These values were chosen by hand: a loop that waits for a second by queries alone needs some 1,200 of
 * them, and programs that query the time between operations see plausible times. */
#define STEP_NS 1000	/* how far the clocks advance at a query */
#define STEP_QUERIES 16 /* number of queries, while no thread works, after which the step doubles */
/* number of new things that a thread may see after a query before that counts as work */
#define QUIET 64
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

/* When a runnable thread that does not have the turn continues by itself: the end of its sleep.  A
 * thread that waits in a loop never does, and one that works does so now. */
static uint64_t wakes_at(uint32_t number)
{
	const struct raddle_slot *slot = rt_slot_at(number);
	const struct rt_sleep *s = &state()->sleeps[number];

	if (slot->point == RADDLE_POINT_YIELD && slot->arrivals == s->arrivals)
		return s->end;
	return slot->spins && slot->news == rt_steering()->turns.news ? UINT64_MAX : 0;
}

/* Whether a thread has queried the time since its last operation. */
static bool polls(uint32_t number)
{
	const struct rt_queries *q = &state()->queries[number];

	return q->count && q->n == atomic_load(&rt_slot_at(number)->n);
}

/* Whether all other runnable threads sleep, wait in loops or query the time.  A thread that could work
 * may not have got the turn for long. */
static bool others_wait(const struct rt_thread *t)
{
	for (uint32_t i = 0; i < rt_slot_count(); i++)
		if (i != t->number && rt_turn_is_ready(i) && wakes_at(i) <= state()->passed && !polls(i))
			return false;
	return true;
}

/* A counter that grows while other threads work: they do operations, or see something new other than
 * the time. */
static uint64_t work_of_others(const struct rt_thread *t)
{
	return state()->work - rt_steered(t)->work;
}

/* Returns how far the clocks advance at a query of this thread. */
static uint64_t step_of(struct rt_thread *t)
{
	struct rt_queries *q = &state()->queries[t->number];
	uint64_t n = rt_steered(t)->n, others = work_of_others(t);
	uint32_t times;

	if (q->n != n || q->others != others || !others_wait(t))
		*q = (struct rt_queries){.n = n, .others = others};
	rt_steered(t)->quiet = QUIET;
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

/* Time passes until the first runnable thread wakes up.  So no deadline passes while another thread
 * could work. */
static void sleep_by(struct rt_thread *t, uint64_t ns)
{
	struct rt_turn_clock *c = state();
	uint64_t first = c->passed + ns;

	c->sleeps[t->number] = (struct rt_sleep){first, rt_steered(t)->slot->arrivals + 1};
	for (uint32_t i = 0; i < rt_slot_count(); i++)
		if (i != t->number && rt_turn_is_ready(i) && wakes_at(i) < first)
			first = wakes_at(i);
	if (first > c->passed)
		rt_clock_passes(first - c->passed);
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
	if (ns < 1ull << 62)
		sleep_by(t, ns);
}

/* The time until a deadline. */
static uint64_t left(clockid_t clock, const struct timespec *end)
{
	const struct rt_thread *t = rt_self();
	int64_t ns = t && is_used(t) ? rt_turn_left(&(struct rt_until){clock, end}) : 0;

	return ns > 0 ? (uint64_t)ns : 0;
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
	rt_spin_news(t); /* a loop that queries the time may wait for it */
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
	.gives = gives, .passes = sleeps, .left = left, .bound = meets_others, .connected = connects};

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
