// SPDX-License-Identifier: Apache-2.0
/*
 * Steering: gates, limits, goals and stops (rt/steer/steer.h, raddle/steer.h).
 *
 * In: a plan in memory that the replayer shares with us, and what the threads are
 * about to do.  Out: threads that wait for their turn; what they do, in their slots;
 * the phase.
 *
 * Invariants:
 * 1. `turn` moves by one when an operation of the plan has taken effect, so at most
 *    one operation of the plan is under way.
 * 2. `phase` leaves LEADING once, under `lock`; nobody waits in FREE or DIVERGED.
 * 3. A thread sleeps on the word of its own place, so an operation wakes one thread.
 *
 * Signals are blocked while `lock` is held, because a handler may want it.  In the child
 * of a fork nothing of this is touched.  The replayer can write `command` but not wake who
 * sleeps elsewhere, so sleeps are short, longer with more sleepers; if the replayer
 * is gone everything is let go.
 */
#include "rt/steer/steer-int.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SPINS 64	  /* looks before the first sleep */
#define NAP_MS 20	  /* of one sleeper */
#define STUCK_NAPS 50	  /* until the process ends in spite of a deadlock; seeing one takes ten */
#define FIRST_ALONE_MS 20 /* the second one of a race waits so long for the first one */
#define FIRST_LONGEST_MS 500
#define FIRST_COMPUTES_NS 200000   /* enough for an access */
#define ALIVE_NAPS 25		   /* naps between two looks at the replayer */
#define MOMENT_NS 100000000u	   /* that a thread stands where it hopes to meet another */
#define LONG_MOMENT_NS 2000000000u /* the same if the other seldom comes by */
#define PATIENCE_NS 3000000000u	   /* of all such stands of a run: who comes by often would take minutes */

uint32_t rt_steer_phase(void)
{
	return atomic_load_explicit(&rt_steer()->phase, memory_order_acquire);
}

static bool is_leading(void)
{
	uint32_t now = rt_steer_phase();

	return now == RADDLE_LEADING || now == RADDLE_MET;
}

void rt_steer_lock(uint64_t *signals)
{
	uint64_t all = ~0ull;
	int saved = errno;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, signals, sizeof all);
	while (atomic_exchange_explicit(&rt_steer()->lock, 1, memory_order_acquire))
		syscall(SYS_sched_yield);
	errno = saved;
}

void rt_steer_unlock(const uint64_t *signals)
{
	int saved = errno;

	atomic_store_explicit(&rt_steer()->lock, 0, memory_order_release);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, signals, NULL, sizeof *signals);
	errno = saved;
}

/* ---- waking and sleeping ---- */

void rt_steer_wake(struct rt_place *place)
{
	atomic_fetch_add(&place->word, 1);
	if (atomic_load(&place->asleep))
		rt_futex_wake(&place->word, INT32_MAX);
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

static void diverge(struct rt_thread *t, uint32_t cause, uint32_t expected, uint32_t found)
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
	diverge(NULL, RADDLE_CAUSE_GIVE_UP, 0, 0);
}

static bool replayer_is_gone(void)
{
	int saved = errno;
	bool gone = syscall(SYS_kill, (long)atomic_load(&rt.session->collector_pid), 0L) && errno == ESRCH;

	errno = saved;
	return gone;
}

/* What the replayer wants. */
static void look_at_command(uint32_t naps)
{
	uint32_t command = atomic_load(&rt_steer()->command);

	if (command == RADDLE_COMMAND_GIVE_UP ||
	    (naps % ALIVE_NAPS == ALIVE_NAPS - 1 && replayer_is_gone())) {
		rt_steer_give_up();
		rt_steer_change_phase(RADDLE_MET, RADDLE_RUNS_FREE);
		rt_steer_change_phase(RADDLE_GOES_ON, RADDLE_RUNS_FREE);
	}
	if (command == RADDLE_COMMAND_GO && rt_steer()->stop_count)
		rt_steer_change_phase(RADDLE_MET, RADDLE_RUNS_FREE);
}

uint32_t rt_steer_seen(const struct rt_thread *t)
{
	return atomic_load(&rt_steered(t)->place->word);
}

/* Waits for something new; `seen` was there before the caller looked last. */
void rt_steer_nap(struct rt_thread *t, uint32_t seen, uint32_t round)
{
	struct rt_place *place = rt_steered(t)->place;
	uint32_t sleepers;

	if (round < SPINS) {
		__builtin_ia32_pause();
		return;
	}
	look_at_command(round - SPINS);
	sleepers = atomic_fetch_add(&rt_steering()->sleepers, 1);
	atomic_store(&place->asleep, 1);
	rt_futex_wait(&place->word, seen, NAP_MS + sleepers);
	atomic_store(&place->asleep, 0);
	atomic_fetch_sub(&rt_steering()->sleepers, 1);
}

void rt_steer_show(struct rt_thread *t, uint32_t state)
{
	if (rt_steered(t)->slot)
		atomic_store_explicit(&rt_steered(t)->slot->state, state, memory_order_release);
}

/* Stands in `state` while the condition is true.  `seen_` is taken before it is looked at. */
#define STAND(t, state, condition)                                                                           \
	do {                                                                                                 \
		if (condition)                                                                               \
			rt_turn_give(t, state);                                                              \
		rt_steer_show(t, state);                                                                     \
		for (uint32_t round_ = 0, seen_ = rt_steer_seen(t); (condition); seen_ = rt_steer_seen(t))   \
			rt_steer_nap(t, seen_, round_++);                                                    \
		rt_turn_take(t);                                                                             \
		rt_steer_show(t, RADDLE_SLOT_RUNS);                                                          \
	} while (0)

/* ---- the plan ---- */

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

/* The plan that the session has behind its buffers; NULL: none that is sound. */
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
	size_t places, own, owners;
	char *memory;

	if (!s)
		return false;
	places = (sizeof(struct rt_steering) + 63) / 64 * 64;
	own = places + s->thread_count * sizeof(struct rt_place);
	owners = own + (s->flags & RADDLE_STEER_TURNS ? RADDLE_SLOTS * sizeof(struct rt_place) : 0);
	memory = rt_map(owners + s->op_count * sizeof(uint32_t));
	if (!memory)
		return false;
	g = rt.layer[RT_LAYER_STEER] = memory;
	g->memory = s;
	g->places = (struct rt_place *)(memory + places);
	g->own = (struct rt_place *)(memory + own);
	g->owners = (uint32_t *)(memory + owners);
	threads = raddle_steer_threads(s);
	for (uint32_t i = 0; i < s->thread_count; i++)
		for (uint32_t k = 0; k < threads[i].count; k++)
			g->owners[raddle_steer_ops(s)[threads[i].first + k].turn] = i;
	rt_turn_setup();
	if (s->flags & (RADDLE_STEER_NOTE | RADDLE_STEER_SHOW))
		rt_crash_setup();
	return true;
}

/* ---- threads ---- */

/* The initial thread and those that libc made for itself have no parent, and are told apart by their
 * index. */
static uint32_t find_plan(const struct rt_thread *t, uint32_t parent)
{
	const struct raddle_steer_thread *threads = raddle_steer_threads(rt_steer());
	uint32_t index = t->number == 0 ? 0 : t->index;
	bool has_parent = t->number != 0 && t->parent != UINT32_MAX;

	for (uint32_t i = 0; i < rt_steer()->thread_count; i++)
		if (threads[i].parent == parent && threads[i].index == index &&
		    has_parent == (parent != RADDLE_STEER_NONE))
			return i;
	return RADDLE_STEER_NONE;
}

static void follow_plan(struct rt_thread *t, uint32_t position)
{
	struct rt_steered *d = rt_steered(t);

	d->plan = &raddle_steer_threads(rt_steer())[position];
	d->place = &rt_steering()->places[position];
	d->op = d->plan->first;
	if (d->plan->goal != RADDLE_STEER_NONE)
		d->goal = &rt_steer()->goals[d->plan->goal];
}

void rt_steer_begin(struct rt_thread *t)
{
	struct raddle_slot *slots = raddle_steer_slots(rt_steer()), *slot;
	uint32_t count = atomic_load(&rt_steer()->slot_count), parent = RADDLE_STEER_NONE;

	if (t->number >= RADDLE_SLOTS) {
		atomic_fetch_or(&rt_steer()->lacked, RADDLE_LACK_SLOTS);
		return;
	}
	if (t->number != 0 && t->parent < RADDLE_SLOTS)
		parent = slots[t->parent].thread;
	slot = &slots[t->number];
	rt_steered(t)->anywhere = rt_steer()->flags & RADDLE_STEER_ANYWHERE && rt_steer()->goal_count == 2;
	rt_steered(t)->place = &rt_steering()->common;
	slot->thread = rt_steered(t)->anywhere ? RADDLE_STEER_NONE : find_plan(t, parent);
	slot->parent = t->parent;
	slot->index = t->index;
	slot->tid = (uint32_t)syscall(SYS_gettid);
	rt_strategy_meet(t);
	rt_steered(t)->slot = slot;
	if (slot->thread != RADDLE_STEER_NONE)
		follow_plan(t, slot->thread);
	if (rt_takes_turns())
		rt_steered(t)->place = &rt_steering()->own[t->number];
	rt_steer_show(t, RADDLE_SLOT_RUNS);
	while (count <= t->number &&
	       !atomic_compare_exchange_weak(&rt_steer()->slot_count, &count, t->number + 1))
		;
}

/* Whether the plan has something left for the thread. */
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
		diverge(t, RADDLE_CAUSE_ENDED, expected_kind(t), RADDLE_THREAD_END);
	rt_turn_end(t);
	rt_steer_show(t, RADDLE_SLOT_ENDED);
}

/* Whether a thread that was led to be stuck is. */
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

/* Whether a thread of the plan lives that has not come where it stands, as far as can be known: of
 * one that has not begun it is not known who it is. */
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

/* The end of the process is no operation that is counted, but it must not come too early: not before
 * the others have come, nor before the replayer has seen a deadlock stand. */
void rt_steer_exit(struct rt_thread *t)
{
	const struct raddle_steer_thread *plan = rt_steered(t)->plan;

	if (plan && is_leading()) {
		if (is_expected(t))
			diverge(t, RADDLE_CAUSE_ENDED, expected_kind(t), RADDLE_EXIT);
		else
			STAND(t, RADDLE_SLOT_LIMIT,
			      is_leading() && (rt_steered(t)->n >= plan->limit || is_another_to_come(t)));
	}
	if (rt_steered(t)->sees_all)
		rt_turn_point(t, rt_steered(t)->n, RADDLE_POINT_EXIT);
	if (rt_steer()->stop_count && rt_steer_phase() == RADDLE_RUNS_FREE)
		rt_linger();
	for (uint32_t naps = 0; naps < STUCK_NAPS && rt_steer_phase() == RADDLE_RUNS_FREE && is_stuck();
	     naps++)
		rt_futex_wait(&rt_steer()->phase, RADDLE_RUNS_FREE, NAP_MS);
	rt_refuse_exit();
}

/* ---- steps ---- */

/* All stops are reached and all operations done: the deadlock is there, or the order that was
 * wanted. */
static void check_stops(void)
{
	struct raddle_steer *s = rt_steer();
	uint64_t signals;

	if (s->stop_count == 0 && !(s->flags & RADDLE_STEER_ORDER))
		return;
	rt_steer_lock(&signals);
	if (rt_steer_phase() == RADDLE_LEADING && atomic_load(&s->turn) == s->op_count &&
	    atomic_load(&s->stops_reached) == s->stop_count) {
		rt_steer_change_phase(RADDLE_LEADING, RADDLE_MET);
		if (!(s->flags & (RADDLE_STEER_STAY | RADDLE_STEER_TURNS)))
			rt_steer_change_phase(RADDLE_MET, RADDLE_RUNS_FREE);
	}
	rt_steer_unlock(&signals);
}

static bool is_stop(const struct rt_step *step)
{
	const struct raddle_steer_thread *plan = rt_steered(step->t)->plan;

	return plan && plan->stop == 1 && plan->stop_n == step->n;
}

void rt_step_reached(const struct rt_step *step)
{
	struct rt_steered *d = rt_steered(step->t);

	if (!is_stop(step) || d->stopped || !is_leading())
		return;
	d->stopped = true;
	atomic_fetch_add(&rt_steer()->stops_reached, 1);
	check_stops();
}

/* Which of the two it is comes out when the operation takes effect. */
static bool is_once(uint32_t kind)
{
	return raddle_class(kind) == RADDLE_CLASS_ONCE && raddle_role(kind) != RADDLE_ROLE_RELEASE;
}

static bool is_kind(const struct rt_step *step, uint32_t expected)
{
	return step->kind == expected || (is_once(step->kind) && is_once(expected));
}

static void show_step(const struct rt_step *step, uint64_t object)
{
	struct raddle_slot *slot = rt_steered(step->t)->slot;

	if (!slot)
		return;
	atomic_store_explicit(&slot->kind, step->kind, memory_order_relaxed);
	atomic_store_explicit(&slot->object, object, memory_order_relaxed);
	atomic_store_explicit(&slot->site, rt_call_site(step->t), memory_order_relaxed);
	atomic_store_explicit(&slot->n, step->n, memory_order_release);
}

void rt_step_begin(struct rt_step *step, struct rt_thread *t, uint32_t kind, uint64_t object)
{
	*step = (struct rt_step){.t = t, .kind = kind, .n = ++rt_steered(t)->n};
	rt_spin_reset(t);
	rt_spin_news(t);
	show_step(step, object);
}

void rt_step_block(struct rt_step *step, uint64_t object, bool timed)
{
	struct raddle_slot *slot = rt_steered(step->t)->slot;

	step->blocked = true;
	rt_steered(step->t)->n--;
	show_step(step, object);
	if (slot)
		atomic_store_explicit(&slot->timed, timed, memory_order_relaxed);
	rt_steer_show(step->t, RADDLE_SLOT_BLOCKED);
}

void rt_step_unblock(struct rt_step *step)
{
	struct raddle_slot *slot = rt_steered(step->t)->slot;

	rt_turn_take(step->t);
	step->blocked = false;
	step->n = ++rt_steered(step->t)->n;
	show_step(step, slot ? atomic_load(&slot->object) : 0);
	rt_steer_show(step->t, RADDLE_SLOT_RUNS);
}

/* Of two accesses that race the second waits for the first, so that it finds what it found in the recording.
 * The thread of the first is past it when it comes anywhere else. */
static void go_past_kept(struct rt_thread *t)
{
	rt_steered(t)->keeps = false;
	atomic_store(&rt_steer()->kept, 1);
}

/* The first of a race has come back from its access: the second may go. */
static void come_back(struct rt_thread *t, uint64_t n)
{
	rt_steered(t)->leads = false;
	if (rt_takes_turns())
		rt_turn_point(t, n, RADDLE_POINT_BACK);
	else
		rt_steer_change_phase(RADDLE_MET, RADDLE_RUNS_FREE);
}

static void go_past_goal(struct rt_thread *t)
{
	const struct raddle_steer_goal *goal = rt_steered(t)->goal;

	if (!goal || rt_steered(t)->n <= goal->after)
		return;
	diverge(t, rt_steered(t)->seen >= goal->occurrence ? RADDLE_CAUSE_APART : RADDLE_CAUSE_PAST, 0,
		atomic_load(&rt_steered(t)->slot->kind));
	rt_steered(t)->goal = NULL;
}

/* A lock that prefers writers lets no reader in while one waits, so the writer goes first: the reader looks
 * on until the lock says that there is one.  The bit is the same since glibc 2.25. */
#define WRITER_BIT 2u
#define ROBUST_BIT 16
#define WRITER_NAPS 200

static void let_writer_wait(const struct rt_step *step)
{
	const struct raddle_slot *slot = rt_steered(step->t)->slot;
	const pthread_rwlock_t *lock = slot ? (const void *)(uintptr_t)atomic_load(&slot->object) : NULL;
	_Atomic uint32_t never = 0;

	if (step->kind != RADDLE_RWLOCK_RDLOCK || !lock || !rt_prefers_writers(lock))
		return;
	for (uint32_t naps = 0; naps < WRITER_NAPS; naps++) {
		if (__atomic_load_n(&lock->__data.__readers, __ATOMIC_ACQUIRE) & WRITER_BIT)
			return;
		rt_futex_wait(&never, 0, NAP_MS);
	}
}

static void stop_at(struct rt_step *step)
{
	struct rt_thread *t = step->t;
	const struct raddle_steer_thread *plan = rt_steered(t)->plan;

	if (!is_kind(step, plan->stop_kind)) {
		diverge(t, RADDLE_CAUSE_KIND, plan->stop_kind, step->kind);
		return;
	}
	step->expected = plan->stop_kind;
	rt_steer_show(t, RADDLE_SLOT_STOP);
	rt_step_reached(step);
	STAND(t, RADDLE_SLOT_STOP, is_leading());
	let_writer_wait(step);
}

/* The thread does what the plan has for it before this step. */
static void lead(struct rt_step *step)
{
	struct rt_thread *t = step->t;
	struct rt_steered *d = rt_steered(t);
	const struct raddle_steer_thread *plan = d->plan;
	const struct raddle_steer_op *op;

	go_past_goal(t);
	op = &raddle_steer_ops(rt_steer())[d->op];
	if (d->op < plan->first + plan->count && op->n == step->n) {
		step->expected = op->kind;
		if (!is_kind(step, op->kind)) {
			diverge(t, RADDLE_CAUSE_KIND, op->kind, step->kind);
			return;
		}
		STAND(t, RADDLE_SLOT_GATE, is_leading() && atomic_load(&rt_steer()->turn) != op->turn);
		step->turn = op->turn + 1;
	} else if (is_stop(step)) {
		stop_at(step);
	} else if (step->n > plan->limit) {
		STAND(t, RADDLE_SLOT_LIMIT, is_leading());
	}
}

void rt_step_gate(struct rt_step *step)
{
	struct rt_thread *t = step->t;
	struct rt_steered *d = rt_steered(t);

	if (step->blocked)
		rt_step_unblock(step);
	if (d->leads)
		come_back(t, step->n - 1);
	if (d->keeps)
		go_past_kept(t);
	if (d->plan && is_leading())
		lead(step);
	rt_turn_point(t, step->n, RADDLE_POINT_OP);
}

void rt_step_is(struct rt_step *step, uint32_t kind)
{
	if (step->t && step->expected && step->expected != kind)
		diverge(step->t, RADDLE_CAUSE_KIND, step->expected, kind);
	step->kind = kind;
}

/* Who has only its goal before it lets those go first that have operations to do: on its way it may do what
 * is none, as to free what they use. */
static void let_others_follow(struct rt_thread *t)
{
	const struct rt_steered *d = rt_steered(t);

	if (rt_takes_turns() && is_leading() && d->goal && d->n == d->goal->after &&
	    atomic_load(&rt_steer()->turn) < rt_steer()->op_count)
		rt_turn_point(t, d->n, RADDLE_POINT_YIELD);
}

/* The next operation of the plan may be done. */
static void pass_turn(struct rt_thread *t, uint32_t turn)
{
	struct raddle_steer *s = rt_steer();

	rt_steered(t)->op++;
	atomic_store(&s->turn, turn);
	if (turn < s->op_count) {
		rt_steer_wake(&rt_steering()->places[rt_steering()->owners[turn]]);
		rt_turn_owner(rt_steering()->owners[turn]);
		return;
	}
	check_stops();
	if (rt_takes_turns() && rt_steer_phase() == RADDLE_MET && !s->goal_count && !s->stop_count)
		rt_turn_go_on(t, t->number);
}

void rt_step_end(struct rt_step *step)
{
	struct rt_thread *t = step->t;
	uint32_t turn = step->turn;

	if (!t)
		return;
	if (step->blocked)
		rt_step_unblock(step);
	rt_steer_show(t, RADDLE_SLOT_RUNS);
	step->t = NULL;
	if (turn && rt_steer_phase() == RADDLE_LEADING)
		pass_turn(t, turn);
	let_others_follow(t);
}

void rt_step_leave(struct rt_step *step)
{
	struct rt_thread *t = step->t;

	if (!t)
		return;
	step->t = NULL;
	if (!step->blocked)
		rt_steered(t)->n--;
	if (rt_steered(t)->slot)
		atomic_store_explicit(&rt_steered(t)->slot->n, rt_steered(t)->n, memory_order_release);
	rt_steer_show(t, RADDLE_SLOT_RUNS);
}

uint64_t rt_step_rank(const struct rt_step *step)
{
	const struct rt_steered *d = step->t ? rt_steered(step->t) : NULL;
	const struct raddle_steer_op *op;

	if (!d || !d->plan || !is_leading())
		return UINT32_MAX;
	op = &raddle_steer_ops(rt_steer())[d->op];
	if (d->op < d->plan->first + d->plan->count && op->n == step->n)
		return op->turn;
	return is_stop(step) || step->n > d->plan->limit ? UINT64_MAX : UINT32_MAX;
}

/* ---- goals ---- */

void rt_steer_fill_spot(const struct rt_thread *t, struct raddle_steer_spot *spot)
{
	const uint32_t *top = t->self.stack_top;

	spot->slot = t->number;
	spot->n = rt_steered(t)->n;
	if (top > t->encoder.stack_base && (top[-1] & ~RT_STACK_EMITTED) == spot->site)
		top--; /* a call that is the access itself, as of free() */
	while (spot->frame_count < RADDLE_STEER_FRAMES && top > t->encoder.stack_base)
		spot->frames[spot->frame_count++] = *--top & ~RT_STACK_EMITTED;
}

static bool meet(const struct raddle_steer_spot *a, const struct raddle_steer_spot *b)
{
	return a->address < b->address + b->size && b->address < a->address + a->size &&
	       (a->write || b->write) && !(a->atomic && b->atomic);
}

/* Puts the thread at its goal.  False: it goes on, the other one stands elsewhere. */
static bool arrive(uint32_t which, const struct raddle_steer_spot *spot)
{
	struct raddle_steer *s = rt_steer();
	bool *stands = rt_steering()->stands, stay = true;
	uint64_t signals;

	rt_steer_lock(&signals);
	if (rt_steer_phase() == RADDLE_LEADING) {
		s->spots[which] = *spot;
		if (!stands[1 - which])
			stands[which] = true;
		else if (meet(spot, &s->spots[1 - which]))
			atomic_store(&s->met, rt_steer_change_phase(RADDLE_LEADING, RADDLE_MET));
		else
			stay = false;
	}
	rt_steer_unlock(&signals);
	return stay;
}

/* The one that goes first out of a race, as the other one sees it. */
struct first {
	clockid_t clock; /* of the time it has computed */
	uint64_t begin, computed;
};

static uint64_t now_by(clockid_t clock)
{
	struct timespec t = {0};
	int saved = errno;

	syscall(SYS_clock_gettime, clock, &t);
	errno = saved;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The kernel's name of a thread's clock: the number inverted, per thread (4), as scheduled (2). */
static clockid_t clock_of(uint32_t slot)
{
	return (clockid_t)(~raddle_steer_slots(rt_steer())[slot].tid << 3 | 6);
}

uint64_t rt_steer_time_of(uint32_t slot)
{
	return now_by(clock_of(slot));
}

static struct first watch_first(uint32_t slot)
{
	struct first f = {clock_of(slot), rt_now(), 0};

	f.computed = now_by(f.clock);
	return f;
}

/* It gets FIRST_ALONE_MS, and more if it had no processor meanwhile. */
static bool is_alone(const struct first *f)
{
	uint64_t passed = (rt_now() - f->begin) / 1000000u;

	if (passed < FIRST_ALONE_MS)
		return true;
	return passed < FIRST_LONGEST_MS && now_by(f->clock) - f->computed < FIRST_COMPUTES_NS;
}

/* Where they met, until somebody has looked at them.  Who has the turn keeps it. */
static void stay(struct rt_thread *t)
{
	rt_steer_show(t, RADDLE_SLOT_GOAL);
	for (uint32_t round = 0, seen = rt_steer_seen(t);
	     rt_steer_phase() == RADDLE_MET && atomic_load(&rt_steer()->command) != RADDLE_COMMAND_GO;
	     seen = rt_steer_seen(t))
		rt_steer_nap(t, seen, round++);
	rt_steer_show(t, RADDLE_SLOT_RUNS);
}

/* Out of a race: first the one, and when that has done its access the other. */
static void go_on(struct rt_thread *t, uint32_t which)
{
	struct raddle_steer *s = rt_steer();
	struct first first;

	if (s->flags & RADDLE_STEER_STAY)
		stay(t);
	if (rt_takes_turns()) {
		rt_turn_go_on(t, s->spots[s->order & 1].slot);
		return;
	}
	if (s->order == which) {
		rt_steered(t)->leads = true;
		return;
	}
	first = watch_first(s->spots[1 - which].slot);
	STAND(t, RADDLE_SLOT_GOAL, rt_steer_phase() == RADDLE_MET && is_alone(&first));
	rt_steer_change_phase(RADDLE_MET, RADDLE_RUNS_FREE);
}

static __attribute__((noinline)) void stand_at_goal(struct rt_thread *t, struct raddle_steer_spot *spot)
{
	uint32_t which = rt_steered(t)->plan->goal;

	rt_steer_fill_spot(t, spot);
	if (!arrive(which, spot))
		return;
	STAND(t, RADDLE_SLOT_GOAL, rt_steer_phase() == RADDLE_LEADING);
	rt_steered(t)->goal = NULL;
	if (rt_steer_phase() == RADDLE_MET)
		go_on(t, which);
	if (rt_steer_phase() == RADDLE_GOES_ON)
		rt_steered(t)->leads = true;
}

/* ---- meeting anywhere ---- */

/* Whether the thread, at its access, meets the one that stands at the other goal. */
static bool meets_there(uint32_t which, const struct raddle_steer_spot *spot)
{
	struct raddle_steer *s = rt_steer();

	return s->goals[which].site == spot->site && rt_steering()->stands[1 - which] &&
	       s->spots[1 - which].slot != spot->slot && meet(spot, &s->spots[1 - which]);
}

/* Where it is in vain threads stand less and less often, so that a program gets to its end. */
static bool is_free(uint32_t which, const struct raddle_steer_spot *spot)
{
	struct rt_steering *g = rt_steering();

	return rt_steer()->goals[which].site == spot->site && !g->stands[which] &&
	       g->passed[which]++ >= g->gap[which];
}

/* Puts the thread at a goal, where it meets another or may wait for one.  NONE: it goes on. */
static uint32_t come_by(const struct raddle_steer_spot *spot)
{
	struct raddle_steer *s = rt_steer();
	uint32_t which = RADDLE_STEER_NONE;
	uint64_t signals;

	rt_steer_lock(&signals);
	for (uint32_t i = 0; i < 2 && rt_steer_phase() == RADDLE_LEADING; i++) {
		if (!meets_there(i, spot))
			continue;
		s->spots[which = i] = *spot;
		rt_steer_change_phase(RADDLE_LEADING, RADDLE_MET);
	}
	for (uint32_t i = 0; i < 2 && which == RADDLE_STEER_NONE && rt_steer_phase() == RADDLE_LEADING; i++) {
		if (!is_free(i, spot))
			continue;
		s->spots[which = i] = *spot;
		rt_steering()->stands[i] = true;
	}
	rt_steer_unlock(&signals);
	return which;
}

/* Nobody came. */
static void leave_goal(uint32_t which)
{
	struct rt_steering *g = rt_steering();
	uint64_t signals;

	rt_steer_lock(&signals);
	if (rt_steer_phase() == RADDLE_LEADING) {
		g->stands[which] = false;
		g->passed[which] = 0;
		g->gap[which] = 2 * g->gap[which] + 1;
	}
	rt_steer_unlock(&signals);
}

/* A thread alone would only lose time. */
static bool has_company(void)
{
	return atomic_load_explicit(&rt_steer()->slot_count, memory_order_relaxed) > 1;
}

static uint64_t long_moment(void)
{
	uint64_t spent = atomic_load_explicit(&rt_steering()->patience_ns, memory_order_relaxed);

	if (spent >= PATIENCE_NS)
		return MOMENT_NS;
	return spent + LONG_MOMENT_NS < PATIENCE_NS ? LONG_MOMENT_NS : PATIENCE_NS - spent;
}

static void spend_patience(uint64_t begin)
{
	atomic_fetch_add_explicit(&rt_steering()->patience_ns, rt_now() - begin, memory_order_relaxed);
}

static __attribute__((noinline)) void stand_anywhere(struct rt_thread *t, struct raddle_steer_spot spot)
{
	uint64_t begin = rt_now();
	bool patient = rt_steer()->flags & RADDLE_STEER_PATIENT;
	uint64_t moment = patient ? long_moment() : MOMENT_NS;
	uint32_t which;

	rt_steered(t)->anywhere = rt_steer_phase() == RADDLE_LEADING;
	if (t->busy || !rt_steered(t)->anywhere || !has_company())
		return;
	rt_steer_fill_spot(t, &spot);
	which = come_by(&spot);
	if (which == RADDLE_STEER_NONE)
		return;
	STAND(t, RADDLE_SLOT_GOAL, rt_steer_phase() == RADDLE_LEADING && rt_now() - begin < moment);
	if (patient)
		spend_patience(begin);
	leave_goal(which);
	if (rt_steer_phase() == RADDLE_MET && rt_steer()->spots[which].slot == t->number)
		go_on(t, which);
}

static bool is_at_goal(uint32_t site)
{
	return site == rt_steer()->goals[0].site || site == rt_steer()->goals[1].site;
}

static void keep_order(struct rt_thread *t, uint32_t site)
{
	struct raddle_steer *s = rt_steer();
	uint64_t begin = rt_now(), moment = long_moment();

	if (atomic_load_explicit(&s->kept, memory_order_relaxed) || t->busy || !is_leading())
		return;
	if (site == s->keep[0])
		rt_steered(t)->keeps = true;
	else if (site == s->keep[1]) {
		STAND(t, RADDLE_SLOT_LIMIT,
		      is_leading() && !atomic_load(&s->kept) && rt_now() - begin < moment);
		spend_patience(begin);
	}
}

static void count_accesses(struct rt_thread *t, uint64_t count)
{
	struct raddle_slot *slot = rt_steered(t)->slot;

	if (slot)
		atomic_store_explicit(&slot->accesses,
				      atomic_load_explicit(&slot->accesses, memory_order_relaxed) + count,
				      memory_order_relaxed);
}

void rt_steer_count(struct rt_thread *t, uint64_t count)
{
	count_accesses(t, count);
	if (rt_steered(t)->leads)
		come_back(t, rt_steered(t)->n);
	if (rt_steered(t)->keeps)
		go_past_kept(t);
}

/* While the threads are led nobody loses the turn here. */
void rt_steer_emit(struct rt_thread *t)
{
	rt_steer_count(t, 0);
	if (rt_steered(t)->sees_all)
		rt_turn_point(t, rt_steered(t)->n, RADDLE_POINT_OUTPUT);
}

/* A handler that interrupted the encoder cannot stand, but its records count. */
static void pass_goal(struct rt_thread *t, struct raddle_steer_spot spot)
{
	const struct raddle_steer_goal *goal = rt_steered(t)->goal;

	if (rt_steered(t)->n != goal->after || spot.site != goal->site ||
	    ++rt_steered(t)->seen < goal->occurrence || t->busy)
		return;
	stand_at_goal(t, &spot);
}

static struct raddle_steer_spot spot_of(uintptr_t address, uint64_t size, uint32_t site, uint32_t how)
{
	return (struct raddle_steer_spot){.site = site,
					  .address = address,
					  .size = size,
					  .write = how & RT_ACCESS_WRITE ? 1 : 0,
					  .atomic = how & RT_ACCESS_ATOMIC ? 1 : 0};
}

/* All of the thread's accesses are looked at, so what was seen of this one is forgotten. */
static void see(struct rt_thread *t, struct raddle_steer_spot spot)
{
	rt_turn_access(t, &spot);
	rt_see_again(t);
}

void rt_steer_access(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how)
{
	/* Nobody is back from the first access of a call before the call was made. */
	if (how & RT_ACCESS_SAME_CALL)
		count_accesses(t, 1);
	else
		rt_steer_count(t, 1);
	if (rt_steered(t)->slot)
		atomic_store_explicit(&rt_steered(t)->slot->touched, site, memory_order_relaxed);
	if (how & RT_ACCESS_ATOMIC)
		rt_spin_touch(t, address, size, site);
	if (RT_UNLIKELY(rt_steer()->keep[0]))
		keep_order(t, site);
	if (rt_steered(t)->sees_all)
		see(t, spot_of(address, size, site, how));
	else if (rt_steered(t)->goal)
		pass_goal(t, spot_of(address, size, site, how));
	else if (rt_steered(t)->anywhere && is_at_goal(site))
		stand_anywhere(t, spot_of(address, size, site, how));
}

/* A use does not race with another one. */
void rt_steer_handle(struct rt_thread *t, uint32_t kind, uintptr_t object)
{
	enum raddle_handling handling = raddle_handling(kind);
	struct raddle_steer_spot spot;

	if (handling == RADDLE_HANDLES_NOT)
		return;
	rt_steer_count(t, 1);
	spot = (struct raddle_steer_spot){.site = rt_call_site(t),
					  .address = object,
					  .size = raddle_object_size(kind),
					  .write = handling != RADDLE_USES,
					  .atomic = handling == RADDLE_USES};
	if (rt_steered(t)->sees_all)
		rt_turn_handle(t, &spot);
	else if (rt_steered(t)->goal)
		pass_goal(t, spot);
}

bool rt_steer_heeds(const struct rt_thread *t, uint32_t site)
{
	const struct rt_steered *d = rt_steered(t);

	const struct raddle_steer *s = rt_steer();

	return d->sees_all || (d->goal && d->goal->site == site) || (d->anywhere && is_at_goal(site)) ||
	       (s->keep[0] && (site == s->keep[0] || site == s->keep[1]));
}

/* ---- annotations ---- */

void __raddle_assumption(void);
__attribute__((visibility("default"))) void __raddle_assumption(void)
{
	if (rt.layer[RT_LAYER_STEER])
		atomic_store(&rt_steer()->assumed, 1);
}

/* ---- locks ---- */

static void hold_lock(struct rt_thread *t, uint64_t entry)
{
	struct rt_steered *d = rt_steered(t);
	struct raddle_slot *slot = d->slot;

	if (!slot)
		return;
	for (uint32_t i = 0; i < d->listed && i < RADDLE_SLOT_HELD; i++)
		if (atomic_load(&slot->held[i]) == entry) {
			d->depth[i]++;
			return;
		}
	if (d->listed < RADDLE_SLOT_HELD) {
		d->depth[d->listed] = 1;
		atomic_store(&slot->held[d->listed], entry);
	}
	atomic_store(&slot->held_count, ++d->listed);
}

static uint32_t find_lock(const struct raddle_slot *slot, uintptr_t object)
{
	uint32_t count = atomic_load(&slot->held_count);

	for (uint32_t i = count < RADDLE_SLOT_HELD ? count : RADDLE_SLOT_HELD; i-- > 0;)
		if ((atomic_load(&slot->held[i]) & ~1ull) == object)
			return i;
	return UINT32_MAX;
}

static void drop_lock(struct rt_thread *t, uint32_t i)
{
	struct rt_steered *d = rt_steered(t);

	if (--d->depth[i] != 0)
		return;
	atomic_store(&d->slot->held[i], 0);
	if (d->listed > RADDLE_SLOT_HELD)
		return;
	while (d->listed > 0 && atomic_load(&d->slot->held[d->listed - 1]) == 0)
		d->listed--;
	atomic_store(&d->slot->held_count, d->listed);
}

/* A mutex may be unlocked by another thread than the one that locked it. */
static _Atomic uint64_t *find_foreign(uintptr_t object)
{
	struct raddle_slot *slots = raddle_steer_slots(rt_steer());
	uint32_t count = atomic_load(&rt_steer()->slot_count);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t k = find_lock(&slots[i], object);
		if (k != UINT32_MAX)
			return &slots[i].held[k];
	}
	return NULL;
}

bool rt_comes_back(uint32_t kind, uintptr_t object)
{
	const pthread_mutex_t *mutex = (const pthread_mutex_t *)object;
	const struct raddle_slot *slots = raddle_steer_slots(rt_steer());
	uint32_t count = atomic_load(&rt_steer()->slot_count);

	if (raddle_class(kind) != RADDLE_CLASS_MUTEX || !(mutex->__data.__kind & ROBUST_BIT))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (atomic_load(&slots[i].state) == RADDLE_SLOT_ENDED &&
		    find_lock(&slots[i], object) != UINT32_MAX)
			return true;
	return false;
}

static bool takes_lock(uint32_t kind)
{
	return raddle_is_lock(kind) && raddle_takes(kind);
}

static bool takes_shared(uint32_t kind)
{
	return raddle_role(kind) == RADDLE_ROLE_SHARE;
}

void rt_acquired(struct rt_thread *t, uint32_t kind, uintptr_t object, uint64_t result)
{
	bool taken = result == 0 || result == EOWNERDEAD;

	rt_refuse_note(t, kind, object, taken);
	if (!taken)
		return;
	if (takes_lock(kind))
		hold_lock(t, object | takes_shared(kind));
}

/* A robust mutex that a thread takes along goes to the next owner when the thread ends. */
void rt_leave_locks(struct rt_thread *t)
{
	const struct raddle_slot *slot = rt_steered(t)->slot;

	if (!slot || rt_steered(t)->listed > RADDLE_SLOT_HELD)
		RT_TELL(abandons, t, RT_NONE);
	for (uint32_t i = 0; slot && i < rt_steered(t)->listed && i < RADDLE_SLOT_HELD; i++)
		if (atomic_load(&slot->held[i]))
			RT_TELL(abandons, t, atomic_load(&slot->held[i]) & ~1ull);
}

/* Where the lock is listed is looked up before: afterwards it may be somebody else's. */
struct rt_lost rt_releasing(struct rt_thread *t, uintptr_t object)
{
	struct rt_lost lost = {UINT32_MAX, NULL};

	if (rt_steered(t)->slot)
		lost.own = find_lock(rt_steered(t)->slot, object);
	if (lost.own == UINT32_MAX)
		lost.foreign = find_foreign(object);
	return lost;
}

bool rt_is_read_lock(const struct rt_thread *t, const struct rt_lost *lost)
{
	return lost->own != UINT32_MAX && atomic_load(&rt_steered(t)->slot->held[lost->own]) & 1;
}

void rt_released(struct rt_thread *t, const struct rt_lost *lost, uint64_t result)
{
	if (result != 0)
		return;
	if (lost->own != UINT32_MAX)
		drop_lock(t, lost->own);
	else if (lost->foreign)
		atomic_store(lost->foreign, 0);
	else if (rt_steered(t)->listed > RADDLE_SLOT_HELD)
		atomic_store(&rt_steered(t)->slot->held_count, --rt_steered(t)->listed);
}
