// SPDX-License-Identifier: Apache-2.0
/*
 * The callbacks of steering (rt/core/layer.h), which pass notifications on to steps, locks and
 * goals.  Only these callbacks can change whether steering must see each access of the thread, so
 * each of them ends with heed(), which determines that.
 */
#include "rt/core/io/outside.h"
#include "rt/steer/ledger-int.h"
#include "rt/steer/steer-int.h"
#include "rt/steer/written-int.h"

/* The state of steering in an operation. */
struct state {
	struct rt_step step;
	struct rt_lost lost; /* the lock that the operation releases */
};
_Static_assert(sizeof(struct state) <= sizeof(struct rt_op_state), "the state of a step fits");

static struct state *state_of(struct rt_op *op)
{
	return (struct state *)(void *)&op->state[RT_LAYER_STEER];
}

struct rt_step *rt_step_of(struct rt_op *op)
{
	return &state_of(op)->step;
}

static void heed(struct rt_thread *t)
{
	rt_heed(t, RT_LAYER_STEER, !rt_steer_is_quick(t));
}

static void begins(struct rt_thread *t)
{
	rt_steer_begin(t);
	t->notified = rt_steered(t)->slot ? &rt_steered(t)->slot->accesses : NULL;
	heed(t);
}

static void handles(struct rt_thread *t, uint32_t kind, uintptr_t object)
{
	rt_steer_handle(t, kind, object);
	heed(t);
}

/* Delivers the signals that were sent to the thread, if there are any. */
static inline void deliver(struct rt_thread *t)
{
	if (__builtin_expect(rt_steering()->entries.signals_pending != 0, 0))
		rt_signal_deliver(t);
}

static void op_enter(struct rt_op *op)
{
	struct rt_step *step = rt_step_of(op);

	deliver(op->t);
	if (op->kind == RADDLE_THREAD_END)
		rt_context_ends(op->t);
	rt_steer_handle(op->t, op->kind, op->object);
	rt_step_begin(step, op->t, op->kind, op->object);
	if (op->kind == RADDLE_THREAD_CREATE)
		rt_freeze_at_creation(op->t);
	rt_step_gate(step);
	heed(op->t);
}

static void op_begin(struct rt_op *op)
{
	rt_step_begin(rt_step_of(op), op->t, op->kind, op->object);
	heed(op->t);
}

static void op_gate(struct rt_op *op)
{
	rt_step_gate(rt_step_of(op));
	heed(op->t);
}

static void op_is(struct rt_op *op, uint32_t kind)
{
	rt_step_is(rt_step_of(op), kind);
}

static void op_waits(struct rt_op *op, uint64_t object, bool timed)
{
	rt_step_block(rt_step_of(op), object, timed);
	rt_step_reached(rt_step_of(op));
	heed(op->t);
}

static void op_waited(struct rt_op *op)
{
	rt_step_unblock(rt_step_of(op));
	heed(op->t);
}

static void op_end(struct rt_op *op)
{
	struct rt_step *step = rt_step_of(op);
	bool blocked = step->blocked;

	rt_step_end(step);
	if (blocked)
		heed(op->t);
}

static void op_left(struct rt_op *op)
{
	rt_step_leave(rt_step_of(op));
	heed(op->t);
}

static bool releases_lock(uint32_t kind)
{
	return raddle_is_lock(kind) && raddle_role(kind) == RADDLE_ROLE_RELEASE;
}

static void releasing(struct rt_op *op, uint32_t kind, uintptr_t object)
{
	struct rt_lost *lost = &state_of(op)->lost;

	if (!releases_lock(kind))
		return;
	*lost = rt_releasing(op->t, object);
	op->shared = rt_is_read_lock(op->t, lost);
}

static void released(struct rt_op *op, uint32_t kind, uintptr_t object, uint64_t result)
{
	if (releases_lock(kind))
		rt_released(op->t, &state_of(op)->lost, result);
	rt_turn_released(object);
}

static void op_turns(struct rt_op *op, bool *turns)
{
	*turns |= rt_step_takes_turns(rt_step_of(op));
}

static void yields(struct rt_thread *t, uint64_t ns, bool *others_ran)
{
	struct raddle_slot *slot = rt_steered(t)->slot;

	/* Only the thread itself writes the counts. */
	if (slot) {
		atomic_store_explicit(&slot->yields, slot->yields + 1, memory_order_relaxed);
		atomic_store_explicit(&slot->slept, slot->slept + ns, memory_order_relaxed);
	}
	rt_steer_count(t, 0); /* notes that the thread has made its last access */
	*others_ran |= rt_turn_yield(t);
	deliver(t);
	heed(t);
}

static void rounds(struct rt_thread *t)
{
	rt_steer_count(t, 0);
	RT_NOTIFY(pauses, t);
	rt_turn_point(t, rt_steered(t)->n, RADDLE_POINT_SPIN);
	deliver(t);
	heed(t);
}

static void idles(struct rt_thread *t, bool timed, enum rt_idle *how)
{
	rt_steer_count(t, 0);
	*how = rt_turn_idle(t, timed);
	heed(t);
}

static void sleeps(struct rt_thread *t, bool *slept)
{
	rt_steer_count(t, 0);
	*slept |= rt_turn_sleep(t);
	heed(t);
}

static void waits(struct rt_thread *t, struct rt_look *look, int64_t limit_ns)
{
	rt_steer_count(t, 0);
	rt_blocking_waits(t, look, limit_ns);
	heed(t);
}

static void came(void)
{
	rt_turn_released(RT_OUTSIDE_OBJECT);
}

static void shares(bool *one)
{
	*one |= rt_steer_has_one();
}

static bool has_ended(uint64_t number)
{
	return number >= RADDLE_SLOTS ||
	       atomic_load(&raddle_steer_slots(rt_steer())[number].state) == RADDLE_SLOT_ENDED;
}

/* A thread ends for steering before it ends for the kernel.  Other threads can join it and take its
 * robust mutexes only after it has ended for the kernel. */
static void op_wait(struct rt_op *op, const struct rt_until *until, bool *goes_on)
{
	if (op->kind == RADDLE_THREAD_JOIN ? !has_ended(op->object) : !rt_comes_back(op->kind, op->object))
		*goes_on = rt_turn_wait(rt_step_of(op), until);
	while (*goes_on && op->kind == RADDLE_THREAD_JOIN && !has_ended(op->object))
		*goes_on = rt_turn_wait(rt_step_of(op), until);
	heed(op->t);
}

static void access(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how)
{
	rt_steer_access(t, address, size, site, how);
	heed(t);
}

static void touches(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how)
{
	rt_spin_see(t, address, size, site, how);
}

static void stops(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how)
{
	if (RT_UNLIKELY(!rt_steer_goes_past(t, site))) {
		rt_steer_access(t, address, size, site, how);
		heed(t);
	}
	rt_spin_see(t, address, size, site, how);
}

static void emits(struct rt_thread *t)
{
	rt_steer_emit(t);
	heed(t);
}

static void barrier(struct rt_thread *t, uint32_t kind)
{
	(void)kind;
	rt_turn_barrier(t);
	heed(t);
}

static void update(struct rt_thread *t, uintptr_t address, uint32_t size, uint64_t sites)
{
	(void)address;
	(void)size;
	(void)sites;
	rt_steer_count(t, 2);
}

static void stride(struct rt_thread *t, const struct rt_record *record, uint32_t size, uint32_t how)
{
	(void)size;
	(void)how;
	rt_steer_count(t, record->operand[2]);
	heed(t);
}

static void heeds(const struct rt_thread *t, uint32_t site, bool *heeded)
{
	*heeded |= rt_steer_heeds(t, site);
}

static void refused(uint32_t what)
{
	atomic_fetch_or(&rt_steer()->lacked, what);
}

static const struct rt_instead instead = {
	.cond_wait = rt_cond_wait,
	.cond_notify = rt_cond_notify,
	.barrier_arrive = rt_barrier_arrive,
	.barrier_await = rt_barrier_await,
};

const struct rt_layer rt_layer_steer = {
	.number = RT_LAYER_STEER,
	.listens = true,
	.thread_size = sizeof(struct rt_steered),
	.setup = rt_steer_setup,
	.stopped = rt_steer_give_up,
	.begins = begins,
	.ends = rt_leave_locks,
	.ended = rt_steer_end,
	.callbacks = {.exiting = rt_steer_exit,
		      .created = rt_context_created,
		      .uncreated = rt_context_uncreated,
		      .arrives = rt_context_arrives,
		      .disturbs = rt_context_disturbs,
		      .prepares = rt_park_prepares,
		      .prepared = rt_park_prepared,
		      .result = rt_park_result,
		      .refused = refused,
		      .writes = rt_written_file,
		      .sends = rt_written_datagram,
		      .identifies = rt_context_identifies,
		      .addresses = rt_context_addresses,
		      .shares = shares,
		      .tids = rt_context_tids,
		      .signals = rt_signal_send,
		      .taken = rt_signal_take,
		      .handles = handles,
		      .op_enter = op_enter,
		      .op_begin = op_begin,
		      .op_gate = op_gate,
		      .op_is = op_is,
		      .op_waits = op_waits,
		      .op_turns = op_turns,
		      .op_wait = op_wait,
		      .op_waited = op_waited,
		      .yields = yields,
		      .futexes = rt_futex_call,
		      .rounds = rounds,
		      .progresses = rt_spin_progresses,
		      .idles = idles,
		      .waits = waits,
		      .moved = rt_blocking_moved,
		      .came = came,
		      .cancelled = rt_turn_cancelled,
		      .sleeps = sleeps,
		      .op_end = op_end,
		      .op_left = op_left,
		      .acquired = rt_acquired,
		      .releasing = releasing,
		      .released = released,
		      .barrier_init = rt_barrier_init,
		      .barrier_destroy = rt_barrier_destroy,
		      .access = access,
		      .emits = emits,
		      .touches = touches,
		      .stops = stops,
		      .barrier = barrier,
		      .update = update,
		      .stride = stride,
		      .heeds = heeds},
	.instead = &instead,
};
