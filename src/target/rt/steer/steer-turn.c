// SPDX-License-Identifier: Apache-2.0
/*
 * Turns: one thread of a steered process runs at a time, and the plan decides which
 * (raddle/steer.h says how).
 *
 * In: threads that come to points, have to wait, or stand; decisions, watches, a seed.  Out: `running`,
 * and what was decided.
 *
 * Invariants, under the lock of steering:
 * 1. Only the thread that has the turn chooses the next one, or somebody for it when it is away.
 * 2. Nobody is chosen before all others stand: who was just created is waited for.  So who can go on does
 *    not depend on how fast anybody is.
 * 3. `ready` is set by the one who makes it so, not by the sleeper when it wakes.
 *
 * No thread waits in the kernel for a lock of the program: it tries, and when it fails it waits here until
 * somebody has released the thing, and tries again when it is its turn.
 */
#include "rt/core/choose.h"
#include "rt/core/outside.h"
#include "rt/steer/steer-int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_FROM 66	    /* rounds of waiting before one looks whether the other moves */
#define AWAY_NS 40000000u   /* how long a thread must have slept in the kernel */
#define SPIN_NS 3000000000u /* and how long it may compute without a sign of life */
#define SETTLE_YIELDS 200   /* before it sleeps between two looks */
#define SETTLE_NAPS 2000    /* of a millisecond */
#define SETTLE_ASKS 20	    /* naps until the kernel is asked */
#define EXPLORED_STAYS 12   /* points that a thread goes on in an exploration: it may wait in a loop */

static uint32_t running(void)
{
	return atomic_load_explicit(&rt_steer()->running, memory_order_acquire);
}

static bool turns(void)
{
	uint32_t phase;

	if (!rt_takes_turns())
		return false;
	phase = rt_steer_phase();
	return phase == RADDLE_LEADING || phase == RADDLE_MET || phase == RADDLE_GOES_ON;
}

static uint32_t state_of(uint32_t number)
{
	return atomic_load_explicit(&rt_slot_at(number)->state, memory_order_acquire);
}

static bool has_turn(const struct rt_thread *t)
{
	return running() == t->number;
}

/* The slot of a thread of the plan; NONE: it has not begun. */
static uint32_t slot_of(uint32_t position)
{
	const struct raddle_steer_thread *threads = raddle_steer_threads(rt_steer()), *at;
	uint32_t count = rt_steer()->thread_count + atomic_load(&rt_steer()->thread_added), parent;

	if (position >= count)
		return RADDLE_STEER_NONE;
	at = &threads[position];
	if (at->parent == RADDLE_STEER_NONE && at->index == 0)
		return 0;
	parent = at->parent < position ? slot_of(at->parent) : RADDLE_STEER_NONE;
	if (parent == RADDLE_STEER_NONE && at->parent != RADDLE_STEER_NONE)
		return RADDLE_STEER_NONE;
	for (uint32_t i = 1; i < rt_slot_count(); i++)
		if (state_of(i) != RADDLE_SLOT_UNUSED && rt_slot_at(i)->parent == parent &&
		    rt_slot_at(i)->index == at->index)
			return i;
	return RADDLE_STEER_NONE;
}

void rt_turn_setup(void)
{
	rt_steering()->turns.looked_at = rt_steer()->ask.watch = RADDLE_STEER_NONE;
}

/* ---- choosing ---- */

static bool is_ready(uint32_t number)
{
	return atomic_load(&rt_slot_at(number)->ready) != 0;
}

static uint32_t count_ready(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < rt_slot_count(); i++)
		n += is_ready(i);
	return n;
}

/* The next one behind `number` that can go on, itself last; NONE: nobody can. */
static uint32_t next_ready(uint32_t number)
{
	uint32_t count = rt_slot_count();

	for (uint32_t i = 1; i <= count; i++)
		if (is_ready((number + i) % count))
			return (number + i) % count;
	return RADDLE_STEER_NONE;
}

/* On the way to the goals, the thread that goes in front, or that of the other goal, which goes last; NONE:
 * there is none. */
static uint32_t in_front(bool front)
{
	const struct raddle_steer *s = rt_steer();

	for (uint32_t i = 0; i < s->goal_count && rt_steer_phase() == RADDLE_LEADING; i++)
		if (s->goals[i].front && !rt_steering()->turns.front_waits)
			return slot_of(s->goals[front ? i : s->goal_count - 1 - i].thread);
	return RADDLE_STEER_NONE;
}

/* The next one behind `number` that can go on, `last` only if nobody else can. */
static uint32_t next_before(uint32_t number, uint32_t last)
{
	uint32_t next = next_ready(number);

	return next == last && last != RADDLE_STEER_NONE ? next_ready(last) : next;
}

static uint32_t by_default(uint32_t number)
{
	const struct raddle_slot *slot = rt_slot_at(number);
	bool leaves = slot->point == RADDLE_POINT_YIELD || slot->point == RADDLE_POINT_SPIN;
	uint32_t front = in_front(true), last = in_front(false);

	if (front == number && leaves)
		rt_steering()->turns.front_waits = true;
	else if (front != RADDLE_STEER_NONE && is_ready(front))
		return front;
	if (leaves)
		return next_ready(number);
	return is_ready(number) && number != last && slot->stays < RADDLE_STEER_STAYS
		       ? number
		       : next_before(number, last);
}

/* Whether it is a choice of an exploration who goes on at the point of a thread: before its accesses, where
 * it cannot go on itself, and before an operation that empties its store buffer. */
static bool is_explored(uint32_t number)
{
	const struct raddle_memory *plan = rt_memory_plan();
	bool explored = false;

	if (!plan || !plan->explores)
		return false;
	switch (rt_slot_at(number)->point) {
	case RADDLE_POINT_ACCESS:
	case RADDLE_POINT_WAIT:
	case RADDLE_POINT_END: return true;
	case RADDLE_POINT_OP: RT_TELL(buffers, number, &explored); return explored;
	default: return false;
	}
}

/* A hash of where the threads are. */
static uint64_t hash_points(void)
{
	uint64_t hash = 1;

	for (uint32_t i = 0; i < rt_slot_count(); i++) {
		const struct raddle_slot *slot = rt_slot_at(i);

		hash = (hash ^ (slot->point_n << 32 | slot->point << 24 | slot->point_count)) *
		       0x9e3779b97f4a7c15ull;
		hash = (hash ^ state_of(i)) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	return hash;
}

/* The usual one is the first alternative, then come the others by number. */
static uint32_t by_choice(uint32_t number, uint32_t usual)
{
	uint32_t n;

	if (usual == number && rt_slot_at(number)->stays >= EXPLORED_STAYS)
		usual = next_ready(number);
	n = rt_choose((struct raddle_choice){
		.from = count_ready(), .kind = RADDLE_CHOICE_NEXT, .slot = number, .state = hash_points()});

	for (uint32_t i = 0; n && i < rt_slot_count(); i++)
		if (is_ready(i) && i != usual && --n == 0)
			return i;
	return usual;
}

/* Whether the thread has gone past the point of a decision about it. */
static bool has_missed(const struct raddle_slot *at, const struct raddle_steer_decision *d)
{
	return at->point_n > d->n || at->point == RADDLE_POINT_END ||
	       (at->point_n == d->n && at->point == d->point && at->point_count > d->count);
}

/* Whom the plan chooses at the point of a thread; NONE: it does not say, or cannot be kept. */
static uint32_t by_plan(uint32_t number, const struct rt_thread *t)
{
	struct raddle_steer *s = rt_steer();
	uint32_t past = atomic_load(&s->past_count), next;
	const struct raddle_steer_decision *d = &raddle_steer_decisions(s)[past];
	const struct raddle_slot *at = rt_slot_at(number);

	if (slot_of(d->thread) != number)
		return RADDLE_STEER_NONE;
	if (at->point_n == d->n && at->point == d->point && at->point_count == d->count) {
		atomic_store(&s->past_count, past + 1);
		next = slot_of(d->next);
		if (next != RADDLE_STEER_NONE && rt_turn_can(next))
			return next;
		rt_steer_differs(t, RADDLE_CAUSE_CANNOT, d->next, d->point);
	} else if (has_missed(at, d)) {
		rt_steer_differs(t, RADDLE_CAUSE_MISSED, d->thread, d->point);
	}
	return RADDLE_STEER_NONE;
}

static bool is_left(void)
{
	uint32_t count = atomic_load(&rt_steer()->decision_count);

	return atomic_load(&rt_steer()->past_count) <
	       (count < RADDLE_STEER_DECISIONS ? count : RADDLE_STEER_DECISIONS);
}

static void remember(uint32_t number, uint32_t next, uint32_t usual)
{
	struct raddle_steer *s = rt_steer();
	const struct raddle_slot *at = rt_slot_at(number);
	uint64_t trail = atomic_load(&s->trail),
		 what[] = {number, at->point_n, at->point, at->point_count, next};
	uint32_t made = atomic_load(&s->made_count);

	for (uint32_t i = 0; i < sizeof what / sizeof *what; i++) {
		trail = (trail ^ what[i]) * 0x9e3779b97f4a7c15ull;
		trail ^= trail >> 29;
	}
	atomic_store(&s->trail, trail);
	atomic_fetch_add(&s->choices, 1);
	if (next == usual)
		return;
	if (made < RADDLE_STEER_DECISIONS)
		raddle_steer_made(s)[made] = (struct raddle_steer_decision){.thread = number,
									    .next = next,
									    .n = at->point_n,
									    .point = at->point,
									    .count = at->point_count,
									    .site = at->point_site};
	atomic_store(&s->made_count, made + 1);
}

/* Whether its time limit could run out now. */
static bool is_timed(uint32_t number)
{
	return rt_slot_at(number)->since && atomic_load(&rt_slot_at(number)->timed);
}

bool rt_turn_can(uint32_t number)
{
	if (!is_ready(number) && is_timed(number))
		rt_slot_at(number)->due = rt_slot_at(number)->ready = 1;
	return is_ready(number);
}

bool rt_turn_may(uint32_t number)
{
	return is_ready(number) || (rt_steer()->flags & RADDLE_STEER_TIMEOUTS && is_timed(number));
}

/* Nobody can go on: the one that has waited longest with a time limit gets tired of it. */
static void wake_timed(void)
{
	struct raddle_slot *best = NULL;

	for (uint32_t i = 0; i < rt_slot_count(); i++) {
		struct raddle_slot *slot = rt_slot_at(i);

		if (atomic_load(&slot->away))
			return;
		if (is_timed(i) && (!best || slot->since < best->since))
			best = slot;
	}
	if (best)
		best->due = best->ready = 1;
}

static bool waits_outside(uint32_t number)
{
	return rt_slot_at(number)->since && atomic_load(&rt_slot_at(number)->object) == RT_OUTSIDE_OBJECT;
}

/* Nobody can go on: something from outside may come in, if somebody waits for it. */
static bool let_in(void)
{
	bool any = false, timed = false;

	for (uint32_t i = 0; i < rt_slot_count(); i++) {
		any |= waits_outside(i);
		timed |= rt_slot_at(i)->since && atomic_load(&rt_slot_at(i)->timed);
	}
	if ((!any && !timed) || !rt.outside || !rt.outside->idle || !rt.outside->idle(timed))
		return false;
	for (uint32_t i = 0; i < rt_slot_count(); i++)
		if (waits_outside(i))
			atomic_store(&rt_slot_at(i)->ready, 1);
	return true;
}

/* Whether the program is to stand at the point that a thread has come to. */
static bool is_to_ask(const struct rt_thread *t)
{
	struct raddle_steer *s = rt_steer();

	if (s->flags & RADDLE_STEER_ASK_START && atomic_load(&s->asks) == 0)
		return true;
	if (!(s->flags & RADDLE_STEER_ASK) || rt_steer_phase() != RADDLE_GOES_ON)
		return false;
	return s->flags & RADDLE_STEER_LOOK ? rt_steered(t)->slot->point != RADDLE_POINT_ACCESS : !is_left();
}

/* Of the program's, if it has annotations. */
extern unsigned __raddle_waits __attribute__((weak));

static bool is_too_early(void)
{
	return &__raddle_waits && __atomic_load_n(&__raddle_waits, __ATOMIC_SEQ_CST);
}

/* Whether a seed decides here. */
static bool has_choice(uint32_t ready)
{
	return rt_steer()->seed && !is_too_early() &&
	       (ready > 1 || rt_steer()->flags & RADDLE_STEER_TIMEOUTS);
}

/* Who goes on behind a point of `number`; NONE: nobody can. */
static uint32_t choose(uint32_t number, const struct rt_thread *t, uint32_t wish)
{
	uint32_t usual, next = wish, count;

	if (!count_ready() && !let_in())
		wake_timed();
	usual = by_default(number);
	count = count_ready();
	if (rt_steer_phase() != RADDLE_GOES_ON || usual == RADDLE_STEER_NONE)
		return usual;
	if (wish >= RADDLE_SLOTS || !is_ready(wish))
		next = is_left()	     ? by_plan(number, t)
		       : is_explored(number) ? by_choice(number, usual)
		       : has_choice(count)   ? rt_strategy_choose(number)
					     : usual;
	if (next == RADDLE_STEER_NONE)
		next = usual;
	if (count > 1 || next != usual)
		remember(number, next, usual);
	return next;
}

static void hand_over(uint32_t from, uint32_t next)
{
	rt_slot_at(from)->stays = next == from ? rt_slot_at(from)->stays + 1 : 0;
	atomic_store(&rt_steer()->running, next);
	if (next < RADDLE_SLOTS && next != from)
		rt_steer_wake(&rt_steering()->own[next]);
}

/* ---- standing ---- */

/* Whether the kernel says that the thread sleeps. */
static bool sleeps(uint32_t tid)
{
	char path[48] = "/proc/self/task/", text[512], digits[12];
	uint32_t at = 16, n = 0;
	int saved = errno;
	long fd, length;

	for (; tid; tid /= 10)
		digits[n++] = (char)('0' + tid % 10);
	while (n)
		path[at++] = digits[--n];
	__builtin_memcpy(path + at, "/stat", 6);
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	length = fd < 0 ? 0 : syscall(SYS_read, fd, text, sizeof text);
	if (fd >= 0)
		syscall(SYS_close, fd);
	errno = saved;
	while (length > 2 && text[length - 1] != ')')
		length--;
	return length > 2 && length + 1 < (long)sizeof text && text[length + 1] == 'S';
}

/* A thread that has not come to where it stands; NONE: all have. */
static uint32_t find_unsettled(uint32_t self)
{
	uint32_t count = atomic_load(&rt.session->processes[rt.process].threads);

	for (uint32_t i = 0; i < count && i < RADDLE_SLOTS; i++) {
		uint32_t state = state_of(i);

		if (i != self && !atomic_load(&rt_slot_at(i)->away) &&
		    (state == RADDLE_SLOT_UNUSED || state == RADDLE_SLOT_RUNS))
			return i;
	}
	return RADDLE_STEER_NONE;
}

/* Waits until all others stand, wait or sleep.  The lock is let go meanwhile, but the turn is not. */
static void settle(uint32_t self, uint64_t *signals)
{
	uint32_t other;

	for (uint32_t round = 0; turns() && (other = find_unsettled(self)) != RADDLE_STEER_NONE; round++) {
		uint32_t naps = round < SETTLE_YIELDS ? 0 : round - SETTLE_YIELDS;
		bool known = state_of(other) != RADDLE_SLOT_UNUSED;

		if (naps > SETTLE_NAPS || (known && naps > SETTLE_ASKS && sleeps(rt_slot_at(other)->tid))) {
			atomic_store(&rt_slot_at(other)->away, 1);
			atomic_fetch_add(&rt_steer()->unsure, 1);
			continue;
		}
		rt_steer_unlock(signals);
		if (naps)
			rt_futex_wait(&rt_steer()->made_count, atomic_load(&rt_steer()->made_count), 1);
		else
			syscall(SYS_sched_yield);
		rt_steer_lock(signals);
	}
}

static void await_turn(struct rt_thread *t)
{
	uint32_t round = 0;

	for (uint32_t seen = rt_steer_seen(t); turns() && !has_turn(t); seen = rt_steer_seen(t)) {
		if (round > LOOK_FROM)
			rt_turn_look();
		rt_steer_nap(t, seen, round++);
	}
}

/* Who leads may sleep there. */
static void wake_leader(void)
{
	atomic_fetch_add(&rt.session->sealed_futex, 1);
	rt_futex_wake(&rt.session->sealed_futex, 1);
}

static bool has_run_on(void)
{
	const struct raddle_steer *s = rt_steer();

	return s->most && rt_steering()->turns.points >= s->most && rt_steer_phase() == RADDLE_GOES_ON;
}

/* The run has come as far as it may, and will be ended: nobody goes on. */
static void stand(struct rt_thread *t, uint64_t *signals)
{
	struct raddle_steer *s = rt_steer();

	atomic_store(&s->ran_on, 1);
	wake_leader();
	rt_steer_unlock(signals);
	for (uint32_t round = LOOK_FROM; turns(); round++) {
		rt_steer_nap(t, rt_steer_seen(t) - 1, round); /* does not sleep, but looks at the command */
		rt_futex_wait(&s->ran_on, 1, 20);
	}
	rt_steer_lock(signals);
}

/* The program stands until it is told how to go on.  Returns the slot that is to. */
static uint32_t ask(struct rt_thread *t, uint64_t *signals)
{
	struct raddle_steer *s = rt_steer();
	uint32_t asks = atomic_load(&s->asks) + 1, answers;

	s->next = RADDLE_STEER_NONE;
	s->ask.slot = t->number;
	atomic_store(&s->running, RADDLE_STEER_ASKING);
	atomic_store(&s->asks, asks);
	rt_futex_wake(&s->asks, INT32_MAX);
	wake_leader();
	rt_steer_unlock(signals);
	for (uint32_t round = LOOK_FROM; turns() && (answers = atomic_load(&s->answers)) != asks; round++) {
		rt_steer_nap(t, rt_steer_seen(t) - 1, round); /* does not sleep, but looks at the command */
		rt_futex_wait(&s->answers, answers, 20);
	}
	rt_steer_lock(signals);
	return s->next;
}

bool rt_turn_is_alone(const struct rt_thread *t)
{
	if (!has_turn(t) || count_ready() || find_unsettled(t->number) != RADDLE_STEER_NONE)
		return false;
	for (uint32_t i = 0; i < rt_slot_count(); i++)
		if (i != t->number && (atomic_load(&rt_slot_at(i)->away) || waits_outside(i) ||
				       (rt_slot_at(i)->since && atomic_load(&rt_slot_at(i)->timed))))
			return false;
	return true;
}

bool rt_turn_all_spin(void)
{
	uint64_t news = rt_steering()->turns.news;
	uint32_t spinning = 0;

	for (uint32_t i = 0; i < rt_slot_count(); i++) {
		const struct raddle_slot *slot = rt_slot_at(i);

		if (atomic_load(&slot->away) || waits_outside(i) ||
		    (slot->since && atomic_load(&slot->timed)) ||
		    (is_ready(i) && (slot->spins < RADDLE_STEER_SPINS || slot->news != news)))
			return false;
		spinning += is_ready(i);
	}
	return spinning != 0;
}

/* The thread, which has the turn, passes it on or keeps it. */
static void pass(struct rt_thread *t, bool asks, uint64_t *signals)
{
	uint32_t wish = RADDLE_STEER_NONE;

	settle(t->number, signals);
	if (has_run_on())
		stand(t, signals);
	if (rt_slot_at(t->number)->spins >= RADDLE_STEER_SPINS && rt_turn_all_spin() &&
	    rt_steer_phase() == RADDLE_GOES_ON)
		atomic_store(&rt_steer()->livelock, 1);
	if (asks || (count_ready() && is_to_ask(t)))
		wish = ask(t, signals);
	rt_steer()->ask.watch = RADDLE_STEER_NONE;
	if (turns())
		hand_over(t->number, choose(t->number, t, wish));
}

void rt_turn_give(struct rt_thread *t, uint32_t state)
{
	uint64_t signals;

	if (!rt_steered(t)->slot || !turns())
		return;
	rt_steer_lock(&signals);
	atomic_store(&rt_steered(t)->slot->ready, 0);
	atomic_store(&rt_steered(t)->slot->away, 0);
	rt_steer_show(t, state);
	if (has_turn(t))
		pass(t, false, &signals);
	rt_steer_unlock(&signals);
}

/* Behind the meeting each access is looked at, from the next one on. */
static void see_all(struct rt_thread *t)
{
	if (rt_steer_phase() != RADDLE_GOES_ON || rt_steered(t)->sees_all)
		return;
	rt_steered(t)->sees_all = true;
	rt_see_again(t);
}

/* It could go on, and does when it has the turn. */
static void go(struct rt_thread *t)
{
	await_turn(t);
	atomic_store(&rt_steered(t)->slot->ready, 0);
	rt_steer_show(t, RADDLE_SLOT_RUNS);
	see_all(t);
}

void rt_turn_take(struct rt_thread *t)
{
	struct raddle_slot *slot = rt_steered(t)->slot;
	uint64_t signals;

	if (!slot || !turns())
		return;
	if (has_turn(t)) {
		see_all(t); /* it may have got the turn before it woke up */
		return;
	}
	rt_steer_lock(&signals);
	atomic_store(&slot->away, 0);
	atomic_store(&slot->ready, 1);
	if (state_of(t->number) == RADDLE_SLOT_RUNS)
		rt_steer_show(t, RADDLE_SLOT_GATE);
	if (running() == RADDLE_STEER_NONE)
		atomic_store(&rt_steer()->running, t->number);
	rt_steer_unlock(&signals);
	go(t);
}

void rt_turn_owner(uint32_t position)
{
	uint64_t signals;
	uint32_t number;

	if (!turns())
		return;
	rt_steer_lock(&signals);
	number = slot_of(position);
	if (number != RADDLE_STEER_NONE && state_of(number) == RADDLE_SLOT_GATE)
		atomic_store(&rt_slot_at(number)->ready, 1);
	rt_steer_unlock(&signals);
}

void rt_turn_go_on(struct rt_thread *t, uint32_t first)
{
	uint64_t signals;

	rt_steer_lock(&signals);
	for (uint32_t i = 0; i < rt_slot_count(); i++) {
		uint32_t state = state_of(i);

		if (state == RADDLE_SLOT_GATE || state == RADDLE_SLOT_LIMIT || state == RADDLE_SLOT_GOAL)
			atomic_store(&rt_slot_at(i)->ready, 1);
	}
	if (first != t->number) {
		atomic_store(&rt_steered(t)->slot->ready, 1);
		rt_steer_show(t, RADDLE_SLOT_GOAL);
	}
	if (rt_steer_change_phase(RADDLE_MET, RADDLE_GOES_ON))
		hand_over(t->number, first);
	rt_steer_unlock(&signals);
	go(t);
}

/* ---- points ---- */

/* What the thread is about to touch at a point. */
static uint64_t pending_at(const struct rt_steered *d, enum raddle_point point)
{
	switch (point) {
	case RADDLE_POINT_OP:
	case RADDLE_POINT_WAIT: return atomic_load_explicit(&d->slot->object, memory_order_relaxed);
	case RADDLE_POINT_ACCESS: return d->touches;
	default: return 0;
	}
}

static void note(struct rt_thread *t, uint64_t n, enum raddle_point point)
{
	struct rt_steered *d = rt_steered(t);

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

static void come_to(struct rt_thread *t, uint64_t n, enum raddle_point point, bool asks)
{
	uint64_t signals;

	rt_steer_lock(&signals);
	note(t, n, point);
	atomic_store(&rt_steered(t)->slot->ready, 1);
	atomic_store(&rt_steered(t)->slot->away, 0);
	rt_steer_show(t, point == RADDLE_POINT_ACCESS ? RADDLE_SLOT_GOAL : RADDLE_SLOT_GATE);
	if (has_turn(t))
		pass(t, asks, &signals);
	else if (running() == RADDLE_STEER_NONE)
		atomic_store(&rt_steer()->running, t->number);
	rt_steer_unlock(&signals);
	go(t);
}

void rt_turn_point(struct rt_thread *t, uint64_t n, enum raddle_point point)
{
	if (rt_steered(t)->slot && !t->busy && turns())
		come_to(t, n, point, false);
}

/* Whether the process has timers that the kernel knows; one that does not tell has none. */
static bool has_timers(void)
{
	struct itimerval left = {0};
	long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/timers", O_RDONLY | O_CLOEXEC, 0);
	char first;
	bool any = fd >= 0 && syscall(SYS_read, fd, &first, 1) == 1;

	if (fd >= 0)
		syscall(SYS_close, fd);
	syscall(SYS_getitimer, ITIMER_REAL, &left);
	return any || left.it_value.tv_sec || left.it_value.tv_usec;
}

static bool has_children(void)
{
	siginfo_t info;

	return syscall(SYS_waitid, P_ALL, 0, &info, WEXITED | WNOWAIT | WNOHANG, NULL) == 0;
}

/* Whether a sleep of the only thread that can go on is over at once: the world is given back, with its time,
 * and nothing that takes real time can happen meanwhile. */
static bool is_time_given(void)
{
	int saved = errno;
	bool given = rt.outside && rt.outside->passes && !has_children() && !has_timers();

	errno = saved;
	return given;
}

bool rt_turn_yield(struct rt_thread *t)
{
	if (!rt_steered(t)->slot || t->busy || !turns())
		return false;
	rt_spin_yields(t);
	if (has_turn(t) && !count_ready() && find_unsettled(t->number) == RADDLE_STEER_NONE)
		return rt_steer_phase() ==
			       RADDLE_LEADING || /* those who stand wait for us, not for the time */
		       is_time_given();
	come_to(t, rt_steered(t)->n, RADDLE_POINT_YIELD, false);
	return true;
}

/* Who waits for a lock that an ended thread has looks again: a robust one goes to the next. */
static void release_held(const struct raddle_slot *slot)
{
	for (uint32_t i = 0; i < RADDLE_SLOT_HELD; i++)
		if (atomic_load(&slot->held[i]))
			rt_turn_released(atomic_load(&slot->held[i]) & ~1ull);
}

void rt_turn_end(struct rt_thread *t)
{
	uint64_t signals;

	if (!rt_steered(t)->slot || !turns())
		return;
	rt_steer_lock(&signals);
	note(t, rt_steered(t)->n, RADDLE_POINT_END);
	atomic_store(&rt_steered(t)->slot->ready, 0);
	rt_steer_show(t, RADDLE_SLOT_ENDED);
	rt_steer_unlock(&signals);
	rt_turn_released(t->number);
	release_held(rt_steered(t)->slot);
	rt_steer_lock(&signals);
	if (has_turn(t))
		pass(t, false, &signals);
	rt_steer_unlock(&signals);
}

/* ---- watched accesses ---- */

/* Gathers what the watches have in common, so that most accesses need no closer look. */
static void gather_watches(struct rt_turns *turn, uint32_t count)
{
	const struct raddle_steer_watch *watches = raddle_steer_watches(rt_steer());

	*turn->sites = turn->low = turn->high = 0;
	__builtin_memset(turn->sites, 0, sizeof turn->sites);
	turn->low = UINT64_MAX;
	turn->any_site = false;
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
}

static bool may_be_watched(const struct raddle_steer_spot *spot)
{
	struct rt_turns *turn = &rt_steering()->turns;
	uint32_t count = atomic_load(&rt_steer()->watch_count), bit = spot->site % RT_WATCH_BITS;

	count = count < RADDLE_STEER_WATCHES ? count : RADDLE_STEER_WATCHES;
	if (count != turn->watches)
		gather_watches(turn, count);
	return count && (turn->any_site || turn->sites[bit / 64] >> bit % 64 & 1 ||
			 (spot->address < turn->high && spot->address + spot->size > turn->low));
}

static bool fits(const struct raddle_steer_watch *w, const struct rt_thread *t,
		 const struct raddle_steer_spot *spot)
{
	return (!w->site || w->site == spot->site) && (w->how & (spot->write ? 2u : 1u)) &&
	       (!w->size ||
		(spot->address < w->address + w->size && w->address < spot->address + spot->size)) &&
	       (w->after == UINT64_MAX || w->after == rt_steered(t)->n) &&
	       (w->thread == RADDLE_STEER_NONE || slot_of(w->thread) == t->number);
}

/* Whether the thread has stood at the watch behind this operation, if once is enough.  It has from now on. */
#define STOOD_BITS 64
static bool has_stood(const struct rt_thread *t, const struct raddle_steer_watch *w, uint32_t number)
{
	struct rt_steered *d = rt_steered(t);
	uint64_t bit = 1ull << number % STOOD_BITS;
	bool stood;

	if (w->stand != 2 || number >= STOOD_BITS)
		return false;
	if (d->stood_n != d->n)
		d->stood = 0;
	stood = d->stood & bit;
	d->stood_n = d->n;
	d->stood |= bit;
	return stood;
}

/* The first watch that the access is one of; all that it fits count it. */
static uint32_t find_watch(const struct rt_thread *t, const struct raddle_steer_spot *spot)
{
	struct raddle_steer_watch *watches = raddle_steer_watches(rt_steer());
	uint32_t found = RADDLE_STEER_NONE;

	for (uint32_t i = 0; i < rt_steering()->turns.watches; i++) {
		if (!fits(&watches[i], t, spot) || has_stood(t, &watches[i], i))
			continue;
		uint64_t seen = atomic_fetch_add(&watches[i].seen, 1) + 1;
		if ((!watches[i].occurrence || watches[i].occurrence == seen) &&
		    (found == RADDLE_STEER_NONE || watches[i].stand))
			found = i;
	}
	return found;
}

/* Whether the thread's stores wait in a buffer that what it is about to do will empty: others may go first.
 */
static bool empties_buffer(const struct rt_thread *t)
{
	bool waits = false;

	if (rt_memory_plan())
		RT_TELL(buffers, t->number, &waits);
	return waits;
}

void rt_turn_barrier(struct rt_thread *t)
{
	if (rt_steered(t)->sees_all && empties_buffer(t))
		rt_turn_point(t, rt_steered(t)->n, RADDLE_POINT_ACCESS);
}

static void come_to_watched(struct rt_thread *t, struct raddle_steer_spot *spot, uint32_t watch)
{
	rt_steer_fill_spot(t, spot);
	rt_steer()->ask.watch = watch;
	rt_steer()->ask.spot = *spot;
	rt_steered(t)->touches = spot->address;
	atomic_store_explicit(&rt_steered(t)->slot->touched, spot->site, memory_order_relaxed);
	come_to(t, rt_steered(t)->n, RADDLE_POINT_ACCESS, raddle_steer_watches(rt_steer())[watch].stand);
}

void rt_turn_access(struct rt_thread *t, struct raddle_steer_spot *spot)
{
	uint32_t watch;

	if (!rt_steered(t)->slot || t->busy || !turns())
		return;
	if (!has_turn(t))
		rt_turn_take(t);
	watch = may_be_watched(spot) ? find_watch(t, spot) : RADDLE_STEER_NONE;
	if (watch == RADDLE_STEER_NONE && spot->atomic && spot->write && empties_buffer(t)) {
		come_to(t, rt_steered(t)->n, RADDLE_POINT_ACCESS, false);
		return;
	}
	if (watch == RADDLE_STEER_NONE) {
		if (++rt_steered(t)->looks < RADDLE_STEER_LOOKS)
			return;
		RT_TELL(pauses, t);
		rt_spin_comes_round(t);
		come_to(t, rt_steered(t)->n, RADDLE_POINT_SPIN, false);
		return;
	}
	RT_TELL(pauses, t);
	come_to_watched(t, spot, watch);
}

void rt_turn_handle(struct rt_thread *t, struct raddle_steer_spot *spot)
{
	uint32_t watch;

	if (!rt_steered(t)->slot || t->busy || !turns() || !may_be_watched(spot))
		return;
	if (!has_turn(t))
		rt_turn_take(t);
	watch = find_watch(t, spot);
	if (watch != RADDLE_STEER_NONE && raddle_steer_watches(rt_steer())[watch].site)
		come_to_watched(t, spot, watch);
}

/* ---- waiting ---- */

static bool is_over(const struct rt_until *until)
{
	struct timespec now = {0};
	int saved = errno;

	if (!until)
		return false;
	syscall(SYS_clock_gettime, until->clock, &now);
	errno = saved;
	return now.tv_sec > until->time->tv_sec ||
	       (now.tv_sec == until->time->tv_sec && now.tv_nsec >= until->time->tv_nsec);
}

static void begin_wait(struct rt_step *step)
{
	struct raddle_slot *slot = rt_steered(step->t)->slot;
	uint64_t signals;

	rt_steer_lock(&signals);
	atomic_store(&slot->away, 0);
	slot->since = ++rt_steering()->turns.waits;
	if (has_turn(step->t)) {
		atomic_store(&slot->ready, 0);
		slot->due = 0;
		note(step->t, step->n, RADDLE_POINT_WAIT);
		pass(step->t, false, &signals);
	}
	rt_steer_unlock(&signals);
}

/* Nobody has the turn: perhaps what it waits for has come from elsewhere. */
static bool nobody_runs(void)
{
	return running() == RADDLE_STEER_NONE;
}

bool rt_turn_wait(struct rt_step *step, const struct rt_until *until)
{
	struct rt_thread *t = step->t;
	struct raddle_slot *slot = rt_steered(t)->slot;
	uint32_t round = 0, seen = rt_steer_seen(t);
	bool idle = false, due;

	if (turns()) {
		begin_wait(step);
	} else {
		slot->since = 1;
		rt_steer_nap(t, seen, LOOK_FROM);
	}
	for (; turns() && !has_turn(t) && !idle; seen = rt_steer_seen(t)) {
		if (round > LOOK_FROM)
			rt_turn_look();
		rt_steer_nap(t, seen, round++);
		if (state_of(t->number) == RADDLE_SLOT_RUNS) /* a handler has run meanwhile */
			rt_steer_show(t, RADDLE_SLOT_BLOCKED);
		idle = round > LOOK_FROM && nobody_runs();
	}
	due = slot->due || (!has_turn(t) && is_over(until));
	slot->since = slot->due = 0;
	if (has_turn(t))
		atomic_store(&slot->ready, 0);
	return !due;
}

/* Lets others run until somebody wakes the thread who knows the object, or the time is up. */
static enum rt_idle wait_for(struct rt_thread *t, uint64_t object, bool timed)
{
	struct raddle_slot *slot = rt_steered(t)->slot;
	struct rt_step step = {.t = t, .n = rt_steered(t)->n};
	bool goes_on;

	if (!slot || t->busy || !turns())
		return RT_IS_NOT_IDLE;
	if (!has_turn(t))
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
		atomic_store(&slot->ready, 1);
	rt_steer_unlock(&signals);
	if (!turns() || nobody_runs())
		rt_steer_wake(rt_steered(t)->place);
}

/* It looks again, and ends if that is a place where it can. */
void rt_turn_cancelled(uint32_t number)
{
	struct raddle_slot *slot = number < rt_slot_count() ? rt_slot_at(number) : NULL;
	uint64_t signals;

	if (!slot || !rt_takes_turns())
		return;
	rt_steer_lock(&signals);
	if (slot->since) {
		atomic_store(&slot->ready, 1);
		if (!turns())
			rt_steer_wake(&rt_steering()->own[number]);
	}
	rt_steer_unlock(&signals);
}

void rt_turn_released(uint64_t object)
{
	uint64_t signals;

	if (!rt_takes_turns())
		return;
	rt_steer_lock(&signals);
	for (uint32_t i = 0; i < rt_slot_count(); i++) {
		struct raddle_slot *slot = rt_slot_at(i);

		if (!slot->since || atomic_load(&slot->object) != object)
			continue;
		atomic_store(&slot->ready, 1);
		if (!turns())
			rt_steer_wake(&rt_steering()->own[i]);
	}
	rt_steer_unlock(&signals);
}

/* ---- who is away ---- */

/* Whether the thread that has the turn does nothing with it: it sleeps in the kernel, or has computed for
 * long without a sign. */
static bool is_still(struct rt_turns *turn, uint32_t number)
{
	const struct raddle_slot *slot = rt_slot_at(number);
	uint64_t choices = atomic_load(&rt_steer()->choices), accesses = atomic_load(&slot->accesses),
		 cpu = rt_steer_time_of(number), now = rt_now();

	if (turn->looked_at != number || turn->choices != choices || turn->accesses != accesses) {
		turn->looked_at = number;
		turn->choices = choices;
		turn->accesses = accesses;
		turn->cpu = cpu;
		turn->still_cpu = UINT64_MAX;
	}
	if (turn->still_cpu != cpu) {
		turn->still_cpu = cpu;
		turn->still_since = now;
	}
	if (cpu - turn->cpu > SPIN_NS)
		return true;
	return now - turn->still_since > AWAY_NS && sleeps(slot->tid);
}

static bool is_away(struct rt_turns *turn, uint32_t number)
{
	uint32_t state = state_of(number);

	return (state == RADDLE_SLOT_RUNS || (state == RADDLE_SLOT_BLOCKED && !rt_slot_at(number)->since)) &&
	       is_still(turn, number);
}

/* Passes the turn on for it. */
static void leave_behind(uint32_t number)
{
	struct raddle_slot *slot = rt_slot_at(number);
	bool again = slot->point == RADDLE_POINT_AWAY && slot->point_n == atomic_load(&slot->n);

	atomic_store(&slot->away, 1);
	atomic_fetch_add(&rt_steer()->unsure, 1);
	slot->point_count = again ? slot->point_count + 1 : 1;
	slot->point_n = atomic_load(&slot->n);
	slot->point = RADDLE_POINT_AWAY;
	hand_over(number, choose(number, NULL, RADDLE_STEER_NONE));
}

void rt_turn_look(void)
{
	struct rt_turns *turn = &rt_steering()->turns;
	uint32_t number = running();
	uint64_t signals;

	if (number >= RADDLE_SLOTS || !turns() || atomic_exchange(&turn->looking, 1))
		return;
	if (is_away(turn, number)) {
		rt_steer_lock(&signals);
		if (running() == number && turns() && state_of(number) != RADDLE_SLOT_GATE &&
		    state_of(number) != RADDLE_SLOT_GOAL)
			leave_behind(number);
		rt_steer_unlock(&signals);
	}
	atomic_store(&turn->looking, 0);
}
