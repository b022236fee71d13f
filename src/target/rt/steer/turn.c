// SPDX-License-Identifier: Apache-2.0
/*
 * Turns: one thread of a steered process runs at a time, and the plan decides which
 * (raddle/steer.h defines how).
 *
 * In: threads that reach points, have to wait, or are stopped.  Out: `running`, and the decisions.
 *
 * Invariants, under the lock of steering:
 * 1. Only the thread that has the turn chooses the next thread.  If it is stalled, another thread
 *    chooses in its place.
 * 2. The next thread is chosen only when all others are stopped, including newly created ones.  So
 *    the set of runnable threads does not depend on their speed.
 * 3. `ready` is set by the thread that releases a waiting thread, not by the latter when it wakes.
 *
 * No thread waits in the kernel for a lock of the program.  It tries to take the lock; if that
 * fails, it waits here until the lock is released, and tries again when it has the turn.
 */
#include "rt/common/bug.h"
#include "rt/core/io/outside.h"
#include "rt/steer/turn-int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* A thread that waits until the others are stopped yields this many times between its checks.
 * After that it sleeps between them. */
#define SETTLE_YIELDS 200
/* It no longer waits for another thread that has meanwhile used this much CPU time, because that
 * thread computes. */
#define SETTLE_CPU_NS 2000000000u
/* After this many sleeps of 1 ms, it no longer waits for a thread that has not begun yet.  Only a
 * safety net: a busy machine may delay the start of a thread by seconds. */
#define SETTLE_NAPS 20000
/* after this many sleeps, it asks the kernel whether the other thread is asleep */
#define SETTLE_ASKS 20

void rt_turn_setup(void)
{
	rt_steering()->turns.looked_at = rt_steer()->ask.watch = RADDLE_STEER_NONE;
}

uint32_t rt_turn_find_unsettled(uint32_t self)
{
	uint32_t count = atomic_load(&rt.session->processes[rt.process].threads);

	for (uint32_t i = 0; i < count && i < RADDLE_SLOTS; i++) {
		uint32_t state = rt_turn_state(i);

		if (i != self && !atomic_load(&rt_slot_at(i)->away) &&
		    (state == RADDLE_SLOT_UNUSED || state == RADDLE_SLOT_RUNS))
			return i;
	}
	return RADDLE_STEER_NONE;
}

/* Returns true if a thread may be running without the turn.  Examples are a new thread before its
 * first stop, a thread in a signal handler, and a thread that returns from the kernel. */
static bool may_be_unsettled(void)
{
	return atomic_load(&rt_steering()->turns.settled) !=
		       atomic_load(&rt.session->processes[rt.process].threads) ||
	       atomic_load_explicit(&rt.interruptible, memory_order_relaxed) ||
	       atomic_load(&rt_steer()->unsure);
}

/* Called when the thread is stopped or has ended.  The first time, it counts the thread as
 * settled. */
static void note_settled(struct rt_thread *t)
{
	if (RT_LIKELY(rt_steered(t)->settled))
		return;
	rt_steered(t)->settled = true;
	atomic_fetch_add(&rt_steering()->turns.settled, 1);
}

/* A thread that another one waits for, and its CPU time when the waiting thread first looked at
 * it. */
struct unsettled {
	uint32_t number;
	uint64_t cpu;
};

/* Returns true if it is useless to wait for the thread any longer: it sleeps or computes, or does
 * not begin. */
static RT_SELDOM bool is_lost(struct unsettled *u, uint32_t other, uint32_t naps)
{
	bool known = rt_turn_state(other) != RADDLE_SLOT_UNUSED;

	if (!known || naps <= SETTLE_ASKS)
		return naps > SETTLE_NAPS;
	if (u->number != other)
		*u = (struct unsettled){other, rt_steer_time_of(other)};
	return rt_turn_sleeps(rt_slot_at(other)->tid) || rt_steer_time_of(other) - u->cpu > SETTLE_CPU_NS;
}

/* Waits until every other thread is stopped, waiting or asleep.  The lock is released meanwhile,
 * but the thread keeps the turn. */
static RT_SELDOM void settle(struct rt_thread *t, uint64_t *signals)
{
	struct unsettled waits_for = {RADDLE_STEER_NONE, 0};
	uint32_t other;

	for (uint32_t round = 0;
	     rt_turn_taken() && (other = rt_turn_find_unsettled(t->number)) != RADDLE_STEER_NONE; round++) {
		uint32_t naps = round < SETTLE_YIELDS ? 0 : round - SETTLE_YIELDS;

		if (is_lost(&waits_for, other, naps)) {
			atomic_store(&rt_slot_at(other)->away, 1);
			atomic_fetch_add(&rt_steer()->unsure, 1);
			continue;
		}
		rt_steer_unlock(signals);
		if (rt_context_switch(t, other))
			;
		else if (naps)
			rt_futex_wait(&rt_steer()->made_count, atomic_load(&rt_steer()->made_count), 1);
		else
			syscall(SYS_sched_yield);
		rt_steer_lock(signals);
	}
}

static void await_turn(struct rt_thread *t)
{
	uint32_t round = 0;

	for (uint32_t seen = rt_steer_seen(t); rt_turn_taken() && !rt_turn_has(t); seen = rt_steer_seen(t)) {
		if (rt.one && rt_context_switch(t, rt_turn_running()))
			continue;
		if (round > RT_LOOK_FROM)
			rt_turn_look();
		rt_steer_nap(t, seen, round++);
	}
}

/* Wakes the replayer, which may be asleep on this futex. */
void rt_turn_wake_leader(void)
{
	atomic_fetch_add(&rt.session->sealed_futex, 1);
	rt_futex_wake(&rt.session->sealed_futex, 1);
}

/* Returns true if the run has reached its limit of points.  Points count from the creation of the
 * second thread, as they do in a copy of a frozen program (rt/steer/freeze.c). */
static bool has_run_on(void)
{
	const struct raddle_steer *s = rt_steer();

	return s->most && rt_steering()->turns.points >= s->most && rt_steer_phase() == RADDLE_GOES_ON &&
	       atomic_load(&rt.session->processes[rt.process].threads) > 1;
}

/* Called when the run has reached its limit of points.  If a thread waits with a time limit, the
 * others may only be running until that limit expires.  So one limit is made to expire, once per
 * run.  The watchdog ends the run at twice the limit of points. */
static RT_SELDOM bool expires_at_limit(void)
{
	struct rt_expecting *e = &rt_steering()->entries.expecting;

	if (e->extended || rt_blocking_let_in() || !rt_turn_expire_first())
		return false;
	e->extended = true;
	rt_steering()->turns.points = 0;
	return true;
}

/* Called when the run has reached a limit.  No thread continues until the replayer ends the run. */
static RT_SELDOM void stop_here(struct rt_thread *t, enum raddle_limit limit, uint64_t *signals)
{
	struct raddle_steer *s = rt_steer();

	atomic_store(&s->ran_on, limit);
	rt_turn_wake_leader();
	rt_steer_unlock(signals);
	for (uint32_t round = RT_LOOK_FROM; rt_turn_taken(); round++) {
		/* The old value makes nap() check the command without sleeping. */
		rt_steer_nap(t, rt_steer_seen(t) - 1, round);
		rt_futex_wait(&s->freezing.quits, 0, RT_NAP_MS);
	}
	rt_steer_lock(signals);
}

void rt_turn_stop(struct rt_thread *t, enum raddle_limit limit)
{
	uint64_t signals;

	rt_steer_lock(&signals);
	stop_here(t, limit, &signals);
	rt_steer_unlock(&signals);
}

/* Stops the program until the replayer answers.  Returns the slot of the thread that shall
 * continue. */
static RT_SELDOM uint32_t ask(struct rt_thread *t, uint64_t *signals)
{
	struct raddle_steer *s = rt_steer();
	uint32_t asks = atomic_load(&s->asks) + 1, answers;

	s->next = RADDLE_STEER_NONE;
	s->ask.slot = t->number;
	atomic_store(&s->running, RADDLE_STEER_ASKING);
	atomic_store(&s->asks, asks);
	rt_futex_wake(&s->asks, INT32_MAX);
	rt_turn_wake_leader();
	rt_steer_unlock(signals);
	for (uint32_t round = RT_LOOK_FROM; rt_turn_taken() && (answers = atomic_load(&s->answers)) != asks;
	     round++) {
		/* The old value makes nap() check the command without sleeping. */
		rt_steer_nap(t, rt_steer_seen(t) - 1, round);
		rt_futex_wait(&s->answers, answers, 20);
	}
	rt_steer_lock(signals);
	return s->next;
}

/* Returns true if the thread may become runnable although no thread runs, that is, by a timeout, by
 * input, or by returning from the kernel. */
static bool may_wake_up(uint32_t number)
{
	const struct raddle_slot *slot = rt_slot_at(number);

	return atomic_load(&slot->away) || rt_turn_waits_outside(number) ||
	       (slot->since && atomic_load(&slot->timed));
}

bool rt_turn_is_alone(const struct rt_thread *t)
{
	if (!rt_turn_has(t) || rt_turn_count_ready() ||
	    rt_turn_find_unsettled(t->number) != RADDLE_STEER_NONE)
		return false;
	for (uint32_t i = 0; i < rt_slot_count(); i++)
		if (i != t->number && may_wake_up(i))
			return false;
	return true;
}

bool rt_turn_runnable_spin(void)
{
	uint64_t news = rt_steering()->turns.news;
	uint32_t spinning = 0;

	for (uint32_t i = 0; i < rt_slot_count(); i++) {
		const struct raddle_slot *slot = rt_slot_at(i);
		bool runs = rt_turn_may_run(i);

		if (runs && (slot->spins < RADDLE_STEER_SPINS || slot->news != news))
			return false;
		spinning += runs;
	}
	return spinning != 0;
}

bool rt_turn_all_spin(void)
{
	for (uint32_t i = 0; i < rt_slot_count(); i++)
		if (may_wake_up(i))
			return false;
	return rt_turn_runnable_spin() && rt_spin_is_closed();
}

/* Returns true if the program has to stop and ask the replayer at the point that the thread has
 * reached. */
static bool is_to_ask(const struct rt_thread *t)
{
	struct raddle_steer *s = rt_steer();

	if (s->flags & RADDLE_STEER_ASK_START && atomic_load(&s->asks) == 0)
		return true;
	if (!(s->flags & RADDLE_STEER_ASK) || rt_steer_phase() != RADDLE_GOES_ON)
		return false;
	return s->flags & RADDLE_STEER_LOOK ? rt_steered(t)->slot->point != RADDLE_POINT_ACCESS
					    : !rt_turn_has_decisions();
}

/* Called after the turn was passed on.  If no thread can ever take the turn, this wakes the
 * replayer, which would otherwise keep waiting. */
static RT_SELDOM void note_stuck(void)
{
	struct raddle_steer *s = rt_steer();
	bool stuck = rt_turn_is_idle() && !atomic_load_explicit(&rt.interruptible, memory_order_relaxed);

	for (uint32_t i = 0; stuck && i < rt_slot_count(); i++)
		stuck = !may_wake_up(i);
	if (atomic_load_explicit(&s->stuck, memory_order_relaxed) == stuck)
		return;
	atomic_store(&s->stuck, stuck);
	if (stuck)
		rt_turn_wake_leader();
}

static inline __attribute__((always_inline)) void pass(struct rt_thread *t, bool asks, uint64_t *signals)
{
	uint32_t wish = RADDLE_STEER_NONE;

	RT_ASSERT(rt_turn_has(t));
	if (RT_UNLIKELY(may_be_unsettled()))
		settle(t, signals);
	if (RT_UNLIKELY(has_run_on()) && !expires_at_limit())
		stop_here(t, RADDLE_LIMIT_POINTS, signals);
	if (asks || (rt_turn_count_ready() && is_to_ask(t)))
		wish = ask(t, signals);
	rt_steer()->ask.watch = RADDLE_STEER_NONE;
	if (rt_turn_taken())
		rt_turn_hand_over(t->number, rt_turn_choose(t->number, t, wish));
	if (RT_UNLIKELY(rt_turn_is_idle() || atomic_load_explicit(&rt_steer()->stuck, memory_order_relaxed)))
		note_stuck();
}

void rt_turn_pass(struct rt_thread *t, bool asks, uint64_t *signals)
{
	pass(t, asks, signals);
}

void rt_turn_give(struct rt_thread *t, uint32_t state)
{
	uint64_t signals;

	if (!rt_steered(t)->slot || !rt_turn_taken())
		return;
	rt_steer_lock(&signals);
	rt_turn_set_ready(t->number, false);
	atomic_store(&rt_steered(t)->slot->away, 0);
	rt_steer_show(t, state);
	note_settled(t);
	if (rt_turn_has(t))
		rt_turn_pass(t, false, &signals);
	rt_steer_unlock(&signals);
}

/* Called when a thread continues.  Once the phases LEADING and MET are over, each further access is
 * examined. */
static void see_all(struct rt_thread *t)
{
	if (rt_steer_is_leading() || rt_steered(t)->sees_all)
		return;
	rt_steered(t)->sees_all = true;
	rt_see_again(t);
}

/* Called when the thread is ready.  Returns when it has the turn. */
static inline __attribute__((always_inline)) void go(struct rt_thread *t)
{
	if (!rt_turn_has(t))
		await_turn(t);
	rt_turn_set_ready(t->number, false);
	rt_steer_show(t, RADDLE_SLOT_RUNS);
	see_all(t);
}

void rt_turn_take(struct rt_thread *t)
{
	struct raddle_slot *slot = rt_steered(t)->slot;
	uint64_t signals;

	if (!slot || !rt_turn_taken())
		return;
	if (rt_turn_has(t)) {
		see_all(t); /* it may have got the turn before it woke up */
		return;
	}
	rt_steer_lock(&signals);
	atomic_store(&slot->away, 0);
	rt_turn_set_ready(t->number, true);
	if (rt_turn_state(t->number) == RADDLE_SLOT_RUNS)
		rt_steer_show(t, RADDLE_SLOT_GATE);
	note_settled(t);
	if (rt_turn_running() == RADDLE_STEER_NONE)
		atomic_store(&rt_steer()->running, t->number);
	rt_steer_unlock(&signals);
	go(t);
}

void rt_turn_owner(uint32_t position)
{
	uint64_t signals;
	uint32_t number;

	if (!rt_turn_taken())
		return;
	rt_steer_lock(&signals);
	number = rt_turn_slot(position);
	if (number != RADDLE_STEER_NONE && rt_turn_state(number) == RADDLE_SLOT_GATE)
		rt_turn_set_ready(number, true);
	rt_steer_unlock(&signals);
}

/* Makes the threads runnable that the plan has stopped. */
static void make_ready(void)
{
	for (uint32_t i = 0; i < rt_slot_count(); i++) {
		uint32_t state = rt_turn_state(i);

		if (state == RADDLE_SLOT_GATE || state == RADDLE_SLOT_LIMIT || state == RADDLE_SLOT_GOAL ||
		    state == RADDLE_SLOT_STOP)
			rt_turn_set_ready(i, true);
	}
}

/* If each thread has its own kernel thread, there is nothing to do, because threads no longer take
 * turns. */
void rt_turn_release_all(void)
{
	if (!rt_steer_has_one())
		return;
	make_ready();
	if (rt_turn_is_idle())
		atomic_store(&rt_steer()->running,
			     rt_set_next(&rt_steering()->turns.ready, 0, rt_slot_count()));
}

void rt_turn_go_on(struct rt_thread *t, uint32_t first)
{
	uint64_t signals;

	rt_steer_lock(&signals);
	make_ready();
	if (first != t->number) {
		rt_turn_set_ready(t->number, true);
		rt_steer_show(t, RADDLE_SLOT_GOAL);
	}
	if (rt_steer_change_phase(RADDLE_MET, RADDLE_GOES_ON))
		rt_turn_hand_over(t->number, first);
	rt_steer_unlock(&signals);
	go(t);
}

/* Returns the address that the thread is about to access at the point, or 0. */
static uint64_t pending_at(const struct rt_steered *d, enum raddle_point point)
{
	switch (point) {
	case RADDLE_POINT_OP:
	case RADDLE_POINT_WAIT: return atomic_load_explicit(&d->slot->object, memory_order_relaxed);
	case RADDLE_POINT_ACCESS: return d->touches;
	default: return 0;
	}
}

void rt_turn_note(struct rt_thread *t, uint64_t n, enum raddle_point point)
{
	struct rt_steered *d = rt_steered(t);

	RT_ASSERT(point < RADDLE_POINTS);
	if (d->point_n != n)
		__builtin_memset(d->points, 0, sizeof d->points);
	d->point_n = d->slot->point_n = n;
	d->slot->point = point;
	d->slot->point_count = ++d->points[point];
	d->slot->arrivals++;
	rt_steering()->turns.points++;
	d->slot->pending = pending_at(d, point);
	d->slot->point_site = point == RADDLE_POINT_OP || point == RADDLE_POINT_WAIT
				      ? atomic_load_explicit(&d->slot->site, memory_order_relaxed)
				      : atomic_load_explicit(&d->slot->touched, memory_order_relaxed);
	d->looks = 0;
}

void rt_turn_start_counts(struct rt_thread *t)
{
	struct rt_turns *turn = &rt_steering()->turns;
	struct raddle_slot *slot = rt_steered(t)->slot;

	slot->stays = slot->spins = slot->arrivals = 0;
	slot->priority = slot->drawn = 0;
	rt_steered(t)->looks = 0;
	turn->points = turn->seeded = 0;
	turn->ranked = 0;
}

void rt_turn_come_to(struct rt_thread *t, uint64_t n, enum raddle_point point, bool asks)
{
	uint64_t signals;

	if (RT_UNLIKELY(rt_steered(t)->slot->spins >= RADDLE_STEER_SPINS))
		rt_expect(t);
	rt_steer_lock(&signals);
	rt_turn_note(t, n, point);
	rt_turn_set_ready(t->number, true);
	atomic_store_explicit(&rt_steered(t)->slot->away, 0, memory_order_relaxed);
	rt_steer_show(t, point == RADDLE_POINT_ACCESS ? RADDLE_SLOT_GOAL : RADDLE_SLOT_GATE);
	note_settled(t);
	if (rt_turn_has(t))
		pass(t, asks, &signals);
	else if (rt_turn_running() == RADDLE_STEER_NONE)
		atomic_store(&rt_steer()->running, t->number);
	rt_steer_unlock(&signals);
	go(t);
}

void rt_turn_point(struct rt_thread *t, uint64_t n, enum raddle_point point)
{
	if (rt_steered(t)->slot && !t->busy && rt_turn_taken())
		rt_turn_come_to(t, n, point, false);
}

static bool has_interval_timer(int which)
{
	struct itimerval left = {0};

	rt_bare(SYS_getitimer, which, (long)&left);
	return left.it_value.tv_sec || left.it_value.tv_usec;
}

/* Returns true if the process has POSIX timers or an interval timer.  If the kernel does not list
 * POSIX timers, the process is assumed to have none.  The filter of a copy (rt/steer/changes.c) does not
 * see these calls, so they do not count as changes. */
bool rt_turn_has_timers(void)
{
	long fd = rt_bare(SYS_openat, AT_FDCWD, (long)"/proc/self/timers", O_RDONLY | O_CLOEXEC);
	char first;
	bool any = fd >= 0 && rt_bare(SYS_read, fd, (long)&first, 1) == 1;

	if (fd >= 0)
		rt_bare(SYS_close, fd);
	return any || has_interval_timer(ITIMER_REAL) || has_interval_timer(ITIMER_VIRTUAL) ||
	       has_interval_timer(ITIMER_PROF);
}

bool rt_turn_has_children(void)
{
	siginfo_t info;

	return rt_bare(SYS_waitid, P_ALL, 0, (long)&info, WEXITED | WNOWAIT | WNOHANG) == 0;
}

/* Called when only one thread can continue and it is about to sleep.  Returns true if the sleep
 * ends at once.  It does if input and time are replayed and the process has no children or timers,
 * which would need real time. */
static bool is_time_given(void)
{
	int saved = errno;
	bool given = rt.session->world_offset && rt.outside && rt.outside->passes &&
		     !rt_turn_has_children() && !rt_turn_has_timers();

	errno = saved;
	return given;
}

/* Returns true if the thread has the turn and no other thread could take it. */
static bool is_only_one(const struct rt_thread *t)
{
	return rt_turn_has(t) && !rt_turn_count_ready() &&
	       rt_turn_find_unsettled(t->number) == RADDLE_STEER_NONE;
}

bool rt_turn_yield(struct rt_thread *t)
{
	bool only;

	if (!rt_steered(t)->slot || t->busy || !rt_turn_taken())
		return false;
	rt_spin_yields(t);
	only = is_only_one(t);
	if (only && rt_steered(t)->slot->spins >= RADDLE_STEER_SPINS) {
		rt_expect(t);
		only = is_only_one(t);
	}
	if (only)
		return rt_steer_phase() ==
			       /* stopped threads wait for this thread, not for time */
			       RADDLE_LEADING ||
		       is_time_given();
	rt_turn_come_to(t, rt_steered(t)->n, RADDLE_POINT_YIELD, false);
	return true;
}

/* Lets threads check again that wait for a lock which an ended thread still held.  A robust mutex
 * passes to its next owner this way. */
static void release_held(const struct raddle_slot *slot)
{
	for (uint32_t i = 0; i < RADDLE_SLOT_HELD; i++)
		if (atomic_load(&slot->held[i]))
			rt_turn_released(atomic_load(&slot->held[i]) & ~1ull);
}

void rt_turn_end(struct rt_thread *t)
{
	uint64_t signals;

	if (!rt_steered(t)->slot || !rt_turn_taken())
		return;
	rt_steer_lock(&signals);
	rt_turn_note(t, rt_steered(t)->n, RADDLE_POINT_END);
	rt_turn_set_ready(t->number, false);
	rt_steer_show(t, RADDLE_SLOT_ENDED);
	note_settled(t);
	rt_steer_unlock(&signals);
	rt_turn_released(t->number);
	release_held(rt_steered(t)->slot);
	rt_steer_lock(&signals);
	if (rt_turn_has(t))
		rt_turn_pass(t, false, &signals);
	rt_steer_unlock(&signals);
}
