// SPDX-License-Identifier: Apache-2.0
/*
 * The base of steering (rt/steer/steer.h, raddle/steer.h): the plan, the phase, and how threads
 * begin, sleep, wake and end.
 *
 * In: a plan in memory that the replayer shares with the program.  Out: the phase, the slots of
 * threads, and threads that sleep until they may continue.
 *
 * Invariants:
 * 1. `turn` moves by one when an operation of the plan has taken effect, so at most one operation
 *    of the plan is in progress.
 * 2. `phase` leaves LEADING once, under `lock`; in RUNS_FREE and DIVERGED no thread is stopped.
 * 3. A thread sleeps on the word of its own place, so an operation wakes one thread.
 *
 * If the program has signal handlers (rt/core/process/handler.c), signals are blocked while `lock`
 * is held, because a handler may try to take it.  The child of a fork does not use the shared
 * memory.  The replayer can write `command` but cannot wake a thread, so threads sleep only for
 * short times.  The more threads sleep, the longer these times are.  If the replayer has ended, all
 * threads run freely.
 */
#include "rt/common/bug.h"
#include "rt/steer/turn-int.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SPINS 64 /* number of checks before the first sleep */
/* Number of naps before the process ends in spite of a deadlock.  The replayer detects the deadlock
 * within ten naps. */
#define STUCK_NAPS 50
#define ALIVE_NAPS 25 /* number of naps between two checks whether the replayer is alive */

void rt_steer_lock_shared(uint64_t *signals)
{
	uint64_t all = RT_ALL_SIGNALS;
	int saved = errno;

	*signals = RT_ALL_SIGNALS;
	if (atomic_load_explicit(&rt.interruptible, memory_order_relaxed))
		syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, signals, sizeof all);
	while (atomic_exchange_explicit(&rt_steer()->lock, 1, memory_order_acquire))
		syscall(SYS_sched_yield);
	errno = saved;
}

void rt_steer_unlock_shared(const uint64_t *signals)
{
	int saved = errno;

	RT_ASSERT(atomic_load_explicit(&rt_steer()->lock, memory_order_relaxed) == 1);
	atomic_store_explicit(&rt_steer()->lock, 0, memory_order_release);
	if (*signals != RT_ALL_SIGNALS)
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, signals, NULL, sizeof *signals);
	errno = saved;
}

static void wake_all(void)
{
	for (uint32_t i = 0; i < rt_steer()->thread_count; i++)
		rt_steer_wake(&rt_steering()->places[i]);
	for (uint32_t i = 0; rt_takes_turns() && i < atomic_load(&rt_steer()->slot_count); i++)
		rt_steer_wake(&rt_steering()->own[i]);
	rt_steer_wake(&rt_steering()->common);
	rt_futex_wake(&rt_steer()->phase, INT32_MAX);
}

bool rt_steer_change_phase(uint32_t from, uint32_t to)
{
	if (!atomic_compare_exchange_strong(&rt_steer()->phase, &from, to))
		return false;
	if (to == RADDLE_DIVERGED || to == RADDLE_RUNS_FREE)
		rt_turn_release_all();
	wake_all();
	return true;
}

void rt_steer_differs(const struct rt_thread *t, uint32_t cause, uint32_t expected, uint32_t found)
{
	struct raddle_steer *s = rt_steer();
	uint32_t now = rt_steer_phase();

	if (now != RADDLE_LEADING && now != RADDLE_GOES_ON)
		return;
	s->difference = (struct raddle_steer_difference){
		.cause = cause,
		.slot = t ? t->number : RADDLE_STEER_NONE,
		.n = t ? rt_steered(t)->n : 0,
		.expected = expected,
		.found = found,
		.site = t ? rt_call_site(t) : 0,
		.turn = now == RADDLE_LEADING ? atomic_load(&s->turn) : atomic_load(&s->past_count),
	};
	rt_steer_change_phase(now, RADDLE_DIVERGED);
}

void rt_steer_diverge(struct rt_thread *t, uint32_t cause, uint32_t expected, uint32_t found)
{
	uint64_t signals;

	rt_steer_lock(&signals);
	if (rt_steer_phase() == RADDLE_LEADING) {
		if (cause == RADDLE_CAUSE_PAST || cause == RADDLE_CAUSE_ENDED)
			rt_refuse_certify(t);
		rt_steer_differs(t, cause, expected, found);
	}
	rt_steer_unlock(&signals);
}

void rt_steer_give_up(void)
{
	rt_steer_diverge(NULL, RADDLE_CAUSE_GIVE_UP, 0, 0);
}

static bool replayer_is_gone(void)
{
	int saved = errno;
	bool gone = syscall(SYS_kill, (long)atomic_load(&rt.session->collector_pid), 0L) && errno == ESRCH;

	errno = saved;
	return gone;
}

bool rt_steer_is_deserted(uint32_t naps)
{
	return naps % ALIVE_NAPS == ALIVE_NAPS - 1 && replayer_is_gone();
}

/* Obeys the replayer's command, and gives up if the replayer is gone. */
void rt_steer_look_at_command(uint32_t naps)
{
	uint32_t command = atomic_load(&rt_steer()->command);

	if (command == RADDLE_COMMAND_GIVE_UP || rt_steer_is_deserted(naps)) {
		rt_steer_give_up();
		rt_steer_change_phase(RADDLE_MET, RADDLE_RUNS_FREE);
		rt_steer_change_phase(RADDLE_GOES_ON, RADDLE_RUNS_FREE);
	}
	if (command == RADDLE_COMMAND_GO && rt_steer()->stop_count)
		rt_steer_change_phase(RADDLE_MET, RADDLE_RUNS_FREE);
}

void rt_steer_nap(struct rt_thread *t, uint32_t seen, uint32_t round)
{
	struct rt_sleeping_place *place = rt_steered(t)->place;
	uint32_t sleepers;

	if (rt_steer_has_one()) {
		rt_reset_obey();
		if (rt_context_switch(t, atomic_load(&rt_steer()->running)))
			return;
		rt_futex_check();
		if (rt_blocking_nap(t)) {
			rt_steer_look_at_command(round);
			return;
		}
	} else if (round < SPINS) {
		__builtin_ia32_pause();
		return;
	}
	rt_steer_look_at_command(round - SPINS);
	sleepers = atomic_fetch_add(&rt_steering()->sleepers, 1);
	atomic_store(&place->asleep, 1);
	if (!rt_steer_has_one())
		rt_futex_wait(&place->word, seen, RT_NAP_MS + sleepers);
	else if (atomic_load(&place->word) == seen)
		rt_futex_wait(&rt_steer()->freezing.quits, 0, RT_NAP_MS);
	atomic_store(&place->asleep, 0);
	atomic_fetch_sub(&rt_steering()->sleepers, 1);
}

static bool turns_fit(const struct raddle_steer *s, uint64_t size)
{
	uint64_t decisions = RADDLE_STEER_DECISIONS * sizeof(struct raddle_steer_decision),
		 threads =
			 ((uint64_t)s->thread_count + RADDLE_STEER_ROOM) * sizeof(struct raddle_steer_thread);

	return size - s->threads_at >= threads && s->watches_at < size && s->decisions_at < size &&
	       s->made_at < size && size - s->decisions_at >= decisions && size - s->made_at >= decisions &&
	       size - s->watches_at >= RADDLE_STEER_WATCHES * sizeof(struct raddle_steer_watch);
}

static bool fits(const struct raddle_steer *s, uint64_t size)
{
	const struct raddle_steer_thread *threads = raddle_steer_threads((struct raddle_steer *)s);
	const struct raddle_steer_op *ops = raddle_steer_ops((struct raddle_steer *)s);

	if (size < sizeof *s || s->version != RADDLE_STEER_VERSION || s->goal_count > RADDLE_STEER_GOALS ||
	    s->threads_at > size || (size - s->threads_at) / sizeof *threads < s->thread_count ||
	    s->ops_at > size || (size - s->ops_at) / sizeof *ops < s->op_count || s->slots_at > size ||
	    (size - s->slots_at) / sizeof(struct raddle_slot) < RADDLE_SLOTS)
		return false;
	for (uint32_t i = 0; i < s->thread_count; i++)
		if (threads[i].first > s->op_count || threads[i].count > s->op_count - threads[i].first ||
		    (threads[i].goal != RADDLE_STEER_NONE && threads[i].goal >= s->goal_count))
			return false;
	for (uint32_t i = 0; i < s->op_count; i++)
		if (ops[i].turn >= s->op_count)
			return false;
	return !(s->flags & RADDLE_STEER_TURNS) || turns_fit(s, size);
}

/* Returns the steering memory, which follows the buffers of the session, or NULL if it is missing
 * or invalid. */
static struct raddle_steer *find_memory(void)
{
	struct raddle_session *session = rt.session;
	struct raddle_steer *s;

	if (!session || !session->steer_offset)
		return NULL;
	s = (struct raddle_steer *)((char *)session + session->steer_offset);
	return fits(s, session->steer_size) ? s : NULL;
}

bool rt_steer_setup(void)
{
	struct raddle_steer *s = find_memory();
	const struct raddle_steer_thread *threads;
	struct rt_steering *g;
	size_t places, own, owners, slots;
	char *memory;

	if (!s)
		return false;
	places = (sizeof(struct rt_steering) + 63) / 64 * 64;
	own = places + s->thread_count * sizeof(struct rt_sleeping_place);
	owners = own + (s->flags & RADDLE_STEER_TURNS ? RADDLE_SLOTS * sizeof(struct rt_sleeping_place) : 0);
	slots = owners + s->op_count * sizeof(uint32_t);
	memory = rt_map(slots + ((size_t)s->thread_count + RADDLE_STEER_ROOM) * sizeof(uint32_t));
	if (!memory)
		return false;
	g = rt.layer[RT_LAYER_STEER] = memory;
	g->memory = s;
	g->table = raddle_steer_slots(s);
	rt.one = rt_steer_has_one();
	g->places = (struct rt_sleeping_place *)(memory + places);
	g->own = (struct rt_sleeping_place *)(memory + own);
	g->owners = (uint32_t *)(memory + owners);
	g->slots = (_Atomic uint32_t *)(memory + slots);
	threads = raddle_steer_threads(s);
	for (uint32_t i = 0; i < s->thread_count; i++)
		for (uint32_t k = 0; k < threads[i].count; k++)
			g->owners[raddle_steer_ops(s)[threads[i].first + k].turn] = i;
	rt_turn_setup();
	rt_context_setup();
	rt_freeze_setup();
	rt_trap_setup();
	rt_blocking_setup();
	rt_clock_setup_turns();
	if (s->flags & (RADDLE_STEER_NOTE | RADDLE_STEER_SHOW))
		rt_crash_setup();
	return true;
}

/* Returns the position of a thread in the plan, or NONE.  The initial thread and the threads that
 * libc created for itself have no parent and are told apart by their index. */
static uint32_t find_plan(uint32_t number, const struct raddle_slot *slot)
{
	const struct raddle_steer_thread *threads = raddle_steer_threads(rt_steer());
	uint32_t index = number == 0 ? 0 : slot->index;
	bool has_parent = number != 0 && slot->parent != UINT32_MAX;
	uint32_t parent = number != 0 && slot->parent < RADDLE_SLOTS ? rt_slot_at(slot->parent)->thread
								     : RADDLE_STEER_NONE;

	for (uint32_t i = 0; i < rt_steer_threads(); i++)
		if (threads[i].parent == parent && threads[i].index == index &&
		    has_parent == (parent != RADDLE_STEER_NONE))
			return i;
	return RADDLE_STEER_NONE;
}

/* A thread begins after its parent, so its slot has a higher number. */
void rt_steer_match_plan(void)
{
	const struct raddle_steer *s = rt_steer();

	for (uint32_t i = 0; i < s->thread_count + RADDLE_STEER_ROOM; i++)
		atomic_store_explicit(&rt_steering()->slots[i], 0, memory_order_relaxed);
	for (uint32_t i = 0; i < rt_slot_count(); i++)
		if (atomic_load(&rt_slot_at(i)->state) != RADDLE_SLOT_UNUSED)
			rt_slot_at(i)->thread = find_plan(i, rt_slot_at(i));
}

static void follow_plan(struct rt_thread *t, uint32_t position)
{
	struct rt_steered *d = rt_steered(t);

	RT_ASSERT(position < rt_steer()->thread_count);
	d->plan = &raddle_steer_threads(rt_steer())[position];
	d->place = &rt_steering()->places[position];
	d->op = d->plan->first;
	if (d->plan->goal != RADDLE_STEER_NONE)
		d->goal = &rt_steer()->goals[d->plan->goal];
}

void rt_steer_begin(struct rt_thread *t)
{
	uint32_t count = atomic_load(&rt_steer()->slot_count);
	struct raddle_slot *slot;

	if (t->number >= RADDLE_SLOTS) {
		atomic_fetch_or(&rt_steer()->lacked, RADDLE_LACK_SLOTS);
		return;
	}
	slot = &raddle_steer_slots(rt_steer())[t->number];
	rt_steered(t)->anywhere = rt_steer()->flags & RADDLE_STEER_ANYWHERE && rt_steer()->goal_count == 2;
	rt_steered(t)->place = &rt_steering()->common;
	slot->parent = t->parent;
	slot->index = t->index;
	slot->thread = rt_steered(t)->anywhere ? RADDLE_STEER_NONE : find_plan(t->number, slot);
	slot->tid = rt.one ? (uint32_t)rt.pid : (uint32_t)rt_kernel_tid();
	rt_context_begin(t);
	rt_strategy_meet(t);
	rt_steered(t)->slot = slot;
	rt_steering()->spins[t->number] = &rt_steered(t)->spin;
	if (slot->thread < rt_steer()->thread_count) /* threads that were added have no plan */
		follow_plan(t, slot->thread);
	if (rt_takes_turns())
		rt_steered(t)->place = &rt_steering()->own[t->number];
	rt_steer_show(t, RADDLE_SLOT_RUNS);
	while (count <= t->number &&
	       !atomic_compare_exchange_weak(&rt_steer()->slot_count, &count, t->number + 1))
		;
}

/* Returns true if the plan has an operation, a goal or a stop left for the thread. */
static bool is_expected(const struct rt_thread *t)
{
	const struct raddle_steer_thread *plan = rt_steered(t)->plan;

	return plan && (rt_steered(t)->op < plan->first + plan->count || rt_steered(t)->goal ||
			(plan->stop == 1 && !rt_steered(t)->stopped));
}

static uint32_t expected_kind(const struct rt_thread *t)
{
	const struct raddle_steer_thread *plan = rt_steered(t)->plan;

	if (rt_steered(t)->op < plan->first + plan->count)
		return raddle_steer_ops(rt_steer())[rt_steered(t)->op].kind;
	return plan->stop == 1 ? plan->stop_kind : 0;
}

void rt_steer_end(struct rt_thread *t)
{
	if (is_expected(t))
		rt_steer_diverge(t, RADDLE_CAUSE_ENDED, expected_kind(t), RADDLE_THREAD_END);
	rt_turn_end(t);
	if (t->number < RADDLE_SLOTS)
		rt_steering()->spins[t->number] = NULL;
	rt_steer_show(t, RADDLE_SLOT_ENDED);
	if (!rt_steer_has_one())
		rt_futex_leaves((pid_t)t->tid);
	rt_context_leave(t);
}

/* Returns true if the deadlock has happened, that is, all stops have been reached and a thread
 * waits without a time limit. */
static bool is_stuck(void)
{
	const struct raddle_slot *slots = raddle_steer_slots(rt_steer());
	uint32_t count = atomic_load(&rt_steer()->slot_count);
	bool stuck = false;

	for (uint32_t i = 0; i < count && i < RADDLE_SLOTS; i++)
		stuck |= atomic_load(&slots[i].state) == RADDLE_SLOT_BLOCKED && !atomic_load(&slots[i].timed);
	return rt_steer()->stop_count && atomic_load(&rt_steer()->stops_reached) == rt_steer()->stop_count &&
	       stuck;
}

/* Returns true if another thread of the plan is alive.  A thread that was created but has not begun
 * counts, too, since it is not yet known whether the plan names it. */
static bool is_another_to_come(const struct rt_thread *t)
{
	const struct raddle_slot *slots = raddle_steer_slots(rt_steer());
	uint32_t count = atomic_load(&rt.session->processes[rt.process].threads);

	for (uint32_t i = 0; i < count && i < RADDLE_SLOTS; i++) {
		uint32_t state = atomic_load(&slots[i].state);

		if (i != t->number && (state == RADDLE_SLOT_UNUSED ||
				       (state != RADDLE_SLOT_ENDED && slots[i].thread != RADDLE_STEER_NONE)))
			return true;
	}
	return false;
}

/* The end of the process is not an operation of the plan.  But it must not happen before the other
 * threads have reached their goals or stops, nor before the replayer has seen a deadlock. */
void rt_steer_exit(struct rt_thread *t)
{
	const struct raddle_steer_thread *plan = rt_steered(t)->plan;

	if (plan && rt_steer_is_leading()) {
		if (is_expected(t))
			rt_steer_diverge(t, RADDLE_CAUSE_ENDED, expected_kind(t), RADDLE_EXIT);
		else
			RT_WAIT_WHILE(t, RADDLE_SLOT_LIMIT,
				      rt_steer_is_leading() &&
					      (rt_steered(t)->n >= plan->limit || is_another_to_come(t)));
	}
	/* The process must not end between the two accesses of a race. */
	if (rt_steered(t)->leads)
		rt_steer_come_back(t, rt_steered(t)->n);
	if (rt_steered(t)->sees_all)
		rt_turn_point(t, rt_steered(t)->n, RADDLE_POINT_EXIT);
	if (rt_steer()->stop_count && rt_steer_phase() == RADDLE_RUNS_FREE)
		rt_linger();
	for (uint32_t naps = 0; naps < STUCK_NAPS && rt_steer_phase() == RADDLE_RUNS_FREE && is_stuck();
	     naps++)
		rt_futex_wait(&rt_steer()->phase, RADDLE_RUNS_FREE, RT_NAP_MS);
	rt_refuse_exit();
}

void __raddle_assumption(void);
__attribute__((visibility("default"))) void __raddle_assumption(void)
{
	if (rt.layer[RT_LAYER_STEER])
		atomic_store(&rt_steer()->assumed, 1);
}
