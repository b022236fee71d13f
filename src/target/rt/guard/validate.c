// SPDX-License-Identifier: Apache-2.0
/*
 * Handles an access at a guard whose flag is set.
 *
 * Observing (dynamic context inference) stores the address and the thread of the access.  For each
 * pair of guards that contains this one, it compares them with the address and thread of the last
 * access at the other guard.
 *
 * A task (on-demand detection) tracks the first access that is executed, until one of these
 * happens:
 *   - the other access is executed, at overlapping bytes, by a thread that is certainly not ordered
 *     after the first: race;
 *   - the other access is executed by a thread that is ordered after the first, or all threads are
 *     ordered after the first: ordered;
 *   - the memory is freed, the time is up, or an operation was not recorded: nothing is known.
 * Then the next access is tracked, but only for the share of time that the agent allows.  If
 * INSTANCES tracked accesses were ordered and none raced, the result is "no race".
 *
 * Steering: if the access that should be second is about to be first, its thread is stopped until
 * another thread reaches the other access or the time is up.  This happens once for each task.  If
 * another thread reaches the other access, both were about to make their accesses at the same time.
 * That is a race, whatever the masks are.  A thread may be stopped even if no access is tracked, or
 * if earlier accesses were ordered.  For example, if a flag is read in each iteration of a loop and
 * set only once, all reads but one are ordered.
 */
#include "rt/guard/real.h"

#include <errno.h>
#include <linux/futex.h>
#include <malloc.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	INSTANCES = 8,	   /* the number of ordered accesses after which a task ends without a race */
	MAX_PARTNERS = 64, /* the maximum number of pairs of a guard that are compared */
};

static struct raddle_guard_task *task_of(const struct guard_watch *w)
{
	return &guard.session->tasks[w - guard_tables.watches];
}

static uint32_t bit_of(const struct guard_watch *w)
{
	return 1u << (w - guard_tables.watches);
}

static void report(const struct guard_watch *w, struct raddle_guard_report what)
{
	struct raddle_guard *s = guard.session;
	uint32_t at = atomic_fetch_add(&s->report_head, 1) % RADDLE_GUARD_REPORTS;
	struct raddle_guard_report *r = &s->reports[at];

	if (atomic_load(&r->ready)) {
		atomic_fetch_add(&s->dropped, 1);
		return;
	}
	r->generation = w->generation;
	r->result = what.result;
	r->order = what.order;
	r->proof = what.proof;
	r->tau_us = what.tau_us;
	r->pause_us = what.pause_us;
	r->watched = what.watched;
	atomic_store(&r->ready, 1);
}

/* ---- tracking, with the lock held ---- */

static void update_tracking(void)
{
	bool any = false;

	for (uint32_t k = 0; k < RADDLE_GUARD_TASKS; k++)
		any |= guard_tables.watches[k].active;
	guard_track(any);
}

static void begin(struct guard_watch *w, struct guard_thread *t, uint32_t side, uint64_t now)
{
	w->active = true;
	w->unsettled = false;
	w->thread = t;
	w->side = side;
	w->since = now;
	t->mask.sure |= bit_of(w);
	t->mask.maybe |= bit_of(w);
	guard_track(true);
	atomic_store(&task_of(w)->active, 1);
	atomic_fetch_add_explicit(&guard.session->tracked, 1, memory_order_relaxed);
}

/* Ends tracking of the access.  Tracking slows down every synchronisation, so the next access is
 * tracked only when the share of time permits it again. */
static void stop(struct guard_watch *w)
{
	uint32_t permil = atomic_load_explicit(&guard.session->track_permil, memory_order_relaxed);
	uint64_t now = guard_now(), took = now - w->since;

	if (!w->active)
		return;
	w->active = false;
	if (permil < 1)
		permil = 1;
	w->rest = permil < 1000 ? now + took * (1000 - permil) / permil : now;
	guard_track_forget(bit_of(w));
	update_tracking();
	atomic_store(&task_of(w)->active, w->held != NULL);
}

static bool in_use(uint32_t number)
{
	for (uint32_t k = 0; k < RADDLE_GUARD_TASKS; k++)
		if (guard_tables.watches[k].generation && !guard_tables.watches[k].done &&
		    (guard_tables.watches[k].guard[0] == number ||
		     guard_tables.watches[k].guard[1] == number))
			return true;
	return false;
}

static void clear_flag(uint32_t number, uint8_t flag)
{
	__atomic_fetch_and(&__raddle_guard_flags[number], (uint8_t)~flag, __ATOMIC_SEQ_CST);
	guard_settle(number);
}

/* Completes a task: clears the flags of its guards, unless another task uses them. */
static void finish(struct guard_watch *w)
{
	w->done = true;
	atomic_store(&task_of(w)->over, 1);
	stop(w);
	for (int i = 0; i < 2; i++)
		if (w->guard[i] < guard.guard_count && !in_use(w->guard[i]))
			clear_flag(w->guard[i], RADDLE_GUARD_TASK);
}

static void was_ordered(struct guard_watch *w, uint32_t order)
{
	stop(w);
	w->ordered++;
	atomic_store(&task_of(w)->ordered, w->ordered);
	if (w->ordered < INSTANCES || w->held)
		return;
	if (!w->settled && !atomic_load(&task_of(w)->raced))
		report(w, (struct raddle_guard_report){.result = RADDLE_GUARD_NO_RACE, .order = order});
	w->settled = true;
	if (w->steered || !w->tau_us)
		finish(w);
}

/* Reports that the race was observed in this order.  The task continues if the other order was
 * requested and a thread can still be stopped to produce it. */
static void raced(struct guard_watch *w, uint32_t order)
{
	uint32_t before = atomic_fetch_or(&task_of(w)->raced, 1u << order);

	stop(w);
	if (!(before & 1u << order))
		report(w, (struct raddle_guard_report){.result = RADDLE_GUARD_RACE,
						       .order = order,
						       .proof = RADDLE_GUARD_UNORDERED});
	if (order == w->order || w->steered || !w->tau_us)
		finish(w);
}

void guard_learnt(uint32_t bits)
{
	for (uint32_t k = 0; k < RADDLE_GUARD_TASKS; k++) {
		struct guard_watch *w = &guard_tables.watches[k];
		bool all = true, others = false;

		if (!(bits & 1u << k) || !w->active)
			continue;
		for (struct guard_thread *t = guard.threads; t && all; t = t->next) {
			all = t->ended || (t->mask.sure & 1u << k);
			others |= !t->ended && t != w->thread;
		}
		if (all && others && !w->unsettled)
			was_ordered(w, w->order);
		else if (all)
			stop(w);
	}
}

void guard_gone(uintptr_t low, uintptr_t high)
{
	for (uint32_t k = 0; k < RADDLE_GUARD_TASKS; k++)
		if (guard_tables.watches[k].active && guard_tables.watches[k].low < high &&
		    low < guard_tables.watches[k].high)
			stop(&guard_tables.watches[k]);
}

void guard_ends(const struct guard_thread *t)
{
	for (uint32_t k = 0; k < RADDLE_GUARD_TASKS; k++)
		if (guard_tables.watches[k].active && !(t->mask.sure & 1u << k))
			guard_tables.watches[k].unsettled = true;
	guard_gone(t->stack_low, t->stack_high);
	guard_learnt(UINT32_MAX);
}

void guard_lost(void)
{
	for (uint32_t k = 0; k < RADDLE_GUARD_TASKS; k++)
		stop(&guard_tables.watches[k]);
}

/* ---- tasks ---- */

static bool is_late(const struct guard_watch *w, uint64_t now)
{
	uint32_t limit = atomic_load_explicit(&guard.session->track_us, memory_order_relaxed);

	return w->active && now - w->since > limit * 1000ull;
}

/* Returns false for the first `skip` accesses, unless another thread has recently accessed the same
 * bytes. */
static bool is_turn(struct guard_watch *w, bool shared)
{
	if (shared || !w->skip)
		return true;
	if (w->skip != RADDLE_GUARD_SHARED_ONLY)
		w->skip--;
	return false;
}

/* Returns true if this thread may be stopped now.  Its access must be the one that should be
 * second, no thread must have been stopped for this task yet, and there must be time left to
 * wait. */
static bool may_hold(struct guard_watch *w, uint32_t side, bool shared)
{
	struct raddle_guard *s = guard.session;
	int64_t tau = w->tau_us;
	int policy;

	if (side == w->order || w->steered || !tau || !is_turn(w, shared))
		return false;
	if (atomic_load(&s->pause_us) < tau) /* avoids the system call in most cases */
		return false;
	policy = sched_getscheduler(0);
	if (policy == SCHED_FIFO || policy == SCHED_RR)
		return false;
	if (atomic_fetch_sub(&s->pause_us, tau) >= tau)
		return true;
	atomic_fetch_add(&s->pause_us, tau);
	return false;
}

/* Stops the thread.  Called with the lock held; returns without it. */
static void hold(struct guard_watch *w, struct guard_thread *t, uintptr_t low, uintptr_t high)
{
	uint32_t generation = w->generation, hits, tau = w->tau_us;
	uint64_t start = guard_now(), end = start + tau * 1000ull, now = start;
	bool met;

	w->steered = true;
	w->held = t;
	w->held_low = low;
	w->held_high = high;
	atomic_store(&w->met, 0);
	atomic_store(&task_of(w)->active, 1);
	guard_unlock();
	guard_watch_arm((void *)low, high - low, false);
	while (now < end && !atomic_load(&w->met)) {
		struct timespec left = {(time_t)((end - now) / 1000000000u),
					(long)((end - now) % 1000000000u)};

		REAL(syscall)(SYS_futex, &w->met, FUTEX_WAIT_PRIVATE, 0, &left, NULL, 0);
		now = guard_now();
	}
	met = atomic_load(&w->met);
	if (met) /* lets the other thread make its access first */
		REAL(syscall)(SYS_nanosleep, &(struct timespec){0, 50000}, NULL);
	hits = guard_watch_disarm();
	atomic_fetch_add(&guard.session->pauses, 1);
	atomic_fetch_add(&guard.session->paused_us, (now - start) / 1000);
	while (!guard_lock())
		;
	w->held = NULL;
	atomic_store(&task_of(w)->active, w->active);
	if (w->generation == generation) {
		report(w,
		       (struct raddle_guard_report){.result = met ? RADDLE_GUARD_RACE : RADDLE_GUARD_TIMEOUT,
						    .order = w->order,
						    .proof = met ? RADDLE_GUARD_COLLISION : 0,
						    .tau_us = tau,
						    .pause_us = (uint32_t)((now - start) / 1000),
						    .watched = hits != 0});
		if (met || w->settled)
			finish(w);
	}
	guard_unlock();
}

/* Called when a thread has reached the access that a stopped thread waits for. */
static void meet(struct guard_watch *w)
{
	atomic_fetch_or(&task_of(w)->raced, 1u << w->order);
	stop(w);
	atomic_store(&w->met, 1);
	REAL(syscall)(SYS_futex, &w->met, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* An access at a guard. */
struct visit {
	struct guard_thread *thread;
	uintptr_t low, high;
	uint32_t number; /* the number of the guard */
	uint64_t now;
};

/* Notes that two threads were observed at the same address, at the two accesses of the task. */
static void note_alias(struct guard_watch *w, uint32_t number)
{
	uint32_t at = guard.starts[number], end = guard.starts[number + 1];

	w->aliases = true;
	for (; at < end && at < 2 * guard.pair_count; at++) {
		struct raddle_guard_pair *p =
			guard.lists[at] < guard.pair_count ? &guard.pairs[guard.lists[at]] : NULL;

		if (p && p->guard[0] == w->guard[0] && p->guard[1] == w->guard[1])
			atomic_fetch_or(&p->context, RADDLE_GUARD_FIRST | RADDLE_GUARD_SECOND |
							     RADDLE_GUARD_SAME_ADDRESS |
							     RADDLE_GUARD_TWO_THREADS);
	}
}

/* Returns true if another thread has recently accessed these bytes at the other guard of the
 * pair. */
static bool is_shared(struct guard_watch *w, const struct visit *v)
{
	uint32_t other = w->guard[0] == v->number ? w->guard[1] : w->guard[0];
	bool shared = guard_was_recently(v->thread, v->low, other);

	guard_was_at(v->thread, v->low, v->number);
	if (shared && !w->aliases)
		note_alias(w, v->number);
	return shared;
}

/* Decides whether this access races with the tracked access, or is ordered after it. */
static void judge(struct guard_watch *w, const struct visit *v, uint32_t side, bool same)
{
	const struct guard_thread *t = v->thread;

	if (w->active && w->thread != t && (same || side != w->side) && v->low < w->high &&
	    w->low < v->high) {
		if (!(t->mask.maybe & bit_of(w)))
			raced(w, same ? w->order : w->side);
		else if (t->mask.sure & bit_of(w))
			was_ordered(w, w->side);
		else
			stop(w);
	} else if (is_late(w, v->now)) {
		atomic_fetch_add_explicit(&guard.session->abandoned, 1, memory_order_relaxed);
		stop(w);
	}
}

/* Handles an access for one task.  Called with the lock held.  Returns true if it has released the
 * lock. */
static bool consider(struct guard_watch *w, const struct visit *v)
{
	struct guard_thread *t = v->thread;
	uint32_t side = w->guard[1] == v->number;
	bool same = w->guard[0] == w->guard[1], shared = is_shared(w, v);

	if (w->held && w->held != t && (same || side == w->order) && v->low < w->held_high &&
	    w->held_low < v->high) {
		if (!atomic_load(&w->met))
			meet(w);
		return false;
	}
	judge(w, v, side, same);
	if (w->done || w->held || guard.live < 2)
		return false;
	if (!w->active && !w->settled && v->now >= w->rest &&
	    (shared || w->skip != RADDLE_GUARD_SHARED_ONLY)) {
		w->low = v->low;
		w->high = v->high;
		begin(w, t, side, v->now);
	}
	if (!may_hold(w, same ? !w->order : side, shared))
		return false;
	hold(w, t, v->low, v->high);
	return true;
}

/* Takes over the task in the slot.  Returns false if it does not concern this guard or is already
 * done.  The agent may change the slot at any moment. */
static bool take_task(struct guard_watch *w, uint32_t number)
{
	const struct raddle_guard_task *task = task_of(w);
	uint32_t generation = atomic_load(&task->generation);
	uint32_t first = task->guard[0], second = task->guard[1], order = task->order, tau = task->tau_us,
		 skip = task->skip;

	if (!generation || (first != number && second != number) || first >= guard.guard_count ||
	    second >= guard.guard_count || order > 1 || atomic_load(&task->generation) != generation)
		return false;
	if (w->generation == generation)
		return !w->done;
	if (w->held)
		return false;
	stop(w);
	w->generation = generation;
	w->guard[0] = first;
	w->guard[1] = second;
	w->order = order;
	w->tau_us = tau;
	w->skip = skip;
	w->done = w->steered = w->settled = w->aliases = false;
	w->ordered = 0;
	w->rest = 0;
	return true;
}

static void validate(const struct visit *v)
{
	for (uint32_t k = 0; k < RADDLE_GUARD_TASKS; k++) {
		struct guard_watch *w = &guard_tables.watches[k];

		if (!atomic_load_explicit(&task_of(w)->generation, memory_order_relaxed))
			continue;
		if (!guard_lock())
			return;
		if (!take_task(w, v->number) || !consider(w, v))
			guard_unlock();
	}
}

/* ---- observing ---- */

static void compare(const struct raddle_guard_seen *mine, uint32_t number, struct raddle_guard_pair *pair,
		    const struct raddle_guard_seen *before)
{
	uint32_t first = pair->guard[0], second = pair->guard[1], other = first == number ? second : first;
	uint32_t known = atomic_load_explicit(&pair->context, memory_order_relaxed), found = known;
	struct raddle_guard_seen seen;

	found |= first == number ? RADDLE_GUARD_FIRST : 0;
	found |= second == number ? RADDLE_GUARD_SECOND : 0;
	if (other < guard.guard_count) {
		seen = other == number ? *before : guard.seen[other];
		if (seen.thread && seen.address[0] == mine->address[0] && seen.address[1] == mine->address[1])
			found |= RADDLE_GUARD_SAME_ADDRESS |
				 (seen.thread != mine->thread ? RADDLE_GUARD_TWO_THREADS : 0);
	}
	if (found != known)
		atomic_fetch_or(&pair->context, found);
}

static void observe(const struct guard_thread *t, uintptr_t address, uint32_t number)
{
	struct raddle_guard_seen mine = {{(uint32_t)address, (uint32_t)(address >> 32)}, t->number};
	struct raddle_guard_seen before = guard.seen[number];
	uint32_t at = guard.starts[number], end = guard.starts[number + 1];

	guard.seen[number] = mine;
	for (uint32_t i = 0; i < MAX_PARTNERS && at + i < end && at + i < 2 * guard.pair_count; i++)
		if (guard.lists[at + i] < guard.pair_count)
			compare(&mine, number, &guard.pairs[guard.lists[at + i]], &before);
	if (guard.left[number] == 0 || --guard.left[number] == 0)
		clear_flag(number, RADDLE_GUARD_OBSERVE);
}

void guard_access(const void *address, uint64_t size, uint32_t number)
{
	struct raddle_guard *s = guard.session;
	int saved = errno;
	struct guard_thread *t;
	uint64_t now;
	uint8_t flags;

	if (!s || !guard_alive.value || number >= guard.guard_count || guard_local.busy)
		return;
	flags = __raddle_guard_flags[number];
	int64_t left = atomic_fetch_sub_explicit(&s->calls_left, 1, memory_order_relaxed);
	if (left <= 0) { /* the budget is used up until the agent raises it */
		clear_flag(number, UINT8_MAX);
		if (left == 0)
			__builtin_memset(__raddle_guard_regions, 0, sizeof __raddle_guard_regions);
		return;
	}
	now = guard_now();
	atomic_fetch_add_explicit(&s->calls, 1, memory_order_relaxed);
	if (now > atomic_load(&s->beat_ns) + atomic_load(&s->patience_ms) * 1000000ull) {
		guard_dormant();
		return;
	}
	t = guard_self();
	if (!size && address) /* the access is the free of a block */
		size = malloc_usable_size((void *)address);
	if (t && (flags & RADDLE_GUARD_OBSERVE))
		observe(t, (uintptr_t)address, number);
	if (t && (flags & RADDLE_GUARD_TASK) && size)
		validate(&(struct visit){t, (uintptr_t)address, (uintptr_t)address + size, number, now});
	errno = saved;
}
