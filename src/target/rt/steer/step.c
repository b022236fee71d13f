// SPDX-License-Identifier: Apache-2.0
/*
 * Steps: an operation of a thread waits until the plan allows it (rt/steer/steer.h).  In:
 * operations that begin, block, take effect and end.  Out: the turn, which moves to the next
 * operation of the plan; stops that were reached; operations that differ from the plan.
 */
#include "rt/common/bug.h"
#include "rt/steer/ledger-int.h"
#include "rt/steer/moment-int.h"
#include "rt/steer/steer-int.h"

/* Leaves the phase LEADING if all operations of the plan have been done and all stops reached.
 * Then the threads are at the deadlock, or have followed the requested order. */
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

	if (!is_stop(step) || d->stopped || !rt_steer_is_leading())
		return;
	d->stopped = true;
	atomic_fetch_add(&rt_steer()->stops_reached, 1);
	check_stops();
}

/* pthread_once() either runs the routine or skips it.  Which of the two is known only when the
 * operation takes effect, so both kinds match. */
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
	rt_steered(t)->quiet = 0; /* an operation is work */
	rt_spin_news(t);
	show_step(step, object);
}

void rt_step_block(struct rt_step *step, uint64_t object, bool timed)
{
	struct raddle_slot *slot = rt_steered(step->t)->slot;

	RT_ASSERT(rt_steered(step->t)->n > 0);
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

/* A thread at the second site of `keep` waits for the access at the first site, so that it reads
 * the same value as in the recorded run.  The first access is known to have been made when its
 * thread makes another access or operation. */
void rt_steer_pass_kept(struct rt_thread *t)
{
	RT_ASSERT(rt_steered(t)->keeps);
	rt_steered(t)->keeps = false;
	atomic_store(&rt_steer()->kept, 1);
}

void rt_steer_come_back(struct rt_thread *t, uint64_t n)
{
	RT_ASSERT(rt_steered(t)->leads);
	rt_steered(t)->leads = false;
	if (!rt_takes_turns()) {
		rt_steer_change_phase(RADDLE_MET, RADDLE_RUNS_FREE);
		return;
	}
	rt_turn_point(t, n, RADDLE_POINT_BACK);
	/* How long a thread keeps the turn from here on must not depend on which of the two
	 * accesses came first.  Otherwise, runs would differ in more than this order. */
	if (rt_steered(t)->slot)
		rt_steered(t)->slot->stays = 0;
}

static void go_past_goal(struct rt_thread *t)
{
	const struct raddle_steer_goal *goal = rt_steered(t)->goal;

	if (!goal || rt_steered(t)->n <= goal->after)
		return;
	rt_steer_diverge(t,
			 rt_steered(t)->seen && rt_steered(t)->seen >= goal->occurrence ? RADDLE_CAUSE_APART
											: RADDLE_CAUSE_PAST,
			 0, atomic_load(&rt_steered(t)->slot->kind));
	rt_steered(t)->goal = NULL;
}

/* A lock that prefers writers admits no reader while a writer waits.  So that the writer comes
 * first, the reader waits here until the lock shows a waiting writer.  The bit has been the same
 * since glibc 2.25. */
#define WRITER_BIT 2u	      /* a bit of pthread_rwlock_t.__data.__readers */
#define WRITER_NS 4000000000u /* the reader waits for at most this long (moment-int.h) */

static void let_writer_wait(const struct rt_step *step)
{
	const struct raddle_slot *slot = rt_steered(step->t)->slot;
	const pthread_rwlock_t *lock = slot ? (const void *)(uintptr_t)atomic_load(&slot->object) : NULL;
	_Atomic uint32_t never = 0;
	struct rt_moment waited;

	if (step->kind != RADDLE_RWLOCK_RDLOCK || !lock || !rt_prefers_writers(lock))
		return;
	waited = rt_moment_begin(step->t->number);
	while (rt_moment_lasts(&waited, WRITER_NS)) {
		if (__atomic_load_n(&lock->__data.__readers, __ATOMIC_ACQUIRE) & WRITER_BIT)
			return;
		rt_futex_wait(&never, 0, RT_NAP_MS);
	}
}

static void stop_at(struct rt_step *step)
{
	struct rt_thread *t = step->t;
	const struct raddle_steer_thread *plan = rt_steered(t)->plan;

	RT_ASSERT(rt_steered(step->t)->plan != NULL);
	if (!is_kind(step, plan->stop_kind)) {
		rt_steer_diverge(t, RADDLE_CAUSE_KIND, plan->stop_kind, step->kind);
		return;
	}
	step->expected = plan->stop_kind;
	rt_steer_show(t, RADDLE_SLOT_STOP);
	rt_step_reached(step);
	RT_WAIT_WHILE(t, RADDLE_SLOT_STOP, rt_steer_is_leading());
	let_writer_wait(step);
}

/* Lets the thread wait until the plan allows this step. */
static void lead(struct rt_step *step)
{
	struct rt_thread *t = step->t;
	struct rt_steered *d = rt_steered(t);
	const struct raddle_steer_thread *plan = d->plan;
	const struct raddle_steer_op *op;

	RT_ASSERT(rt_steered(step->t)->plan != NULL);
	go_past_goal(t);
	op = &raddle_steer_ops(rt_steer())[d->op];
	if (d->op < plan->first + plan->count && op->n == step->n) {
		step->expected = op->kind;
		if (!is_kind(step, op->kind)) {
			rt_steer_diverge(t, RADDLE_CAUSE_KIND, op->kind, step->kind);
			return;
		}
		RT_WAIT_WHILE(t, RADDLE_SLOT_GATE,
			      rt_steer_is_leading() && atomic_load(&rt_steer()->turn) != op->turn);
		step->turn = op->turn + 1;
	} else if (is_stop(step)) {
		stop_at(step);
	} else if (step->n > plan->limit) {
		RT_WAIT_WHILE(t, RADDLE_SLOT_LIMIT, rt_steer_is_leading());
	}
}

void rt_step_gate(struct rt_step *step)
{
	struct rt_thread *t = step->t;
	struct rt_steered *d = rt_steered(t);

	if (step->blocked)
		rt_step_unblock(step);
	if (d->leads)
		rt_steer_come_back(t, step->n - 1);
	if (d->keeps)
		rt_steer_pass_kept(t);
	if (d->plan && rt_steer_is_leading())
		lead(step);
	rt_turn_point(t, step->n, RADDLE_POINT_OP);
}

void rt_step_is(struct rt_step *step, uint32_t kind)
{
	if (step->t && step->expected && step->expected != kind)
		rt_steer_diverge(step->t, RADDLE_CAUSE_KIND, step->expected, kind);
	step->kind = kind;
}

/* If a thread has only its goal left, it first lets those threads run that still have operations in
 * the plan.  Otherwise it might, for instance, free memory that they use on its way to the goal. */
static void let_others_follow(struct rt_thread *t)
{
	const struct rt_steered *d = rt_steered(t);

	if (rt_takes_turns() && rt_steer_is_leading() && d->goal && d->n == d->goal->after &&
	    atomic_load(&rt_steer()->turn) < rt_steer()->op_count)
		rt_turn_point(t, d->n, RADDLE_POINT_YIELD);
}

/* Lets the next operation of the plan begin. */
static void pass_turn(struct rt_thread *t, uint32_t turn)
{
	struct raddle_steer *s = rt_steer();

	RT_ASSERT(turn > 0 && turn <= rt_steer()->op_count);
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

	if (!d || !d->plan || !rt_steer_is_leading())
		return UINT32_MAX;
	op = &raddle_steer_ops(rt_steer())[d->op];
	if (d->op < d->plan->first + d->plan->count && op->n == step->n)
		return op->turn;
	return is_stop(step) || step->n > d->plan->limit ? UINT64_MAX : UINT32_MAX;
}
