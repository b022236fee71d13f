// SPDX-License-Identifier: Apache-2.0
/*
 * Futexes of libraries, where threads take turns.  In: calls of futex() that libstdc++, libgomp or
 * libc itself make (rt/core/process/bare.c, rt/steer/trap.c).  Out: waits by turns (rt/steer/wait.c)
 * instead of waits in the kernel.
 *
 * A wait is a point, like a wait for a lock of the program; a wake-up is not.  As in the kernel, a
 * wait may end without a reason, so the caller checks its word again.
 *
 * Invariants:
 * 1. An entry of `futexes` is valid while its thread is in the set of waiting threads.
 * 2. Waiting threads are woken in the order in which they began to wait.
 * 3. While a thread that has made its last step still runs in libc, no thread waits here.  The
 *    ending thread may hold a lock of libc, and its wake-up would not arrive here.  It ends by
 *    itself, so others wait for it in the kernel, and no point depends on how fast it ends.
 *
 * In the child of a fork, no layer listens, so the kernel handles all of its futex calls.
 */
#include "rt/common/bug.h"
#include "rt/steer/turn-int.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* length of a wait in the kernel; afterwards it is decided again where to wait */
#define SLICE_NS 1000000

/* The arguments of futex(), by their positions. */
enum { WORD, OP, VALUE, LIMIT, WORD2, VALUE3 };

static struct rt_futex_entry *entry_at(uint32_t number)
{
	return &rt_steering()->entries.futexes[number];
}

static uint32_t load(uintptr_t word)
{
	return __atomic_load_n((const uint32_t *)word, __ATOMIC_SEQ_CST);
}

static long in_kernel(const struct rt_futex_call *call)
{
	return rt_bare_call(SYS_futex, call->arguments);
}

/* ---- threads that leave ---- */

void rt_futex_leaves(pid_t tid)
{
	struct rt_entries *g = &rt_steering()->entries;

	if (tid > 0)
		g->leavers[g->left++ % RT_LEAVERS] = tid;
}

/* Returns true if a thread that has made its last step may still be running. */
static bool has_leavers(void)
{
	struct rt_entries *g = &rt_steering()->entries;
	bool any = false;

	for (uint32_t i = 0; i < RT_LEAVERS; i++) {
		if (g->leavers[i] && rt_bare(SYS_tgkill, rt.pid, g->leavers[i]) == -ESRCH)
			g->leavers[i] = 0;
		any |= g->leavers[i] != 0;
	}
	return any;
}

/* ---- waiting ---- */

/* Fills in the time limit of a wait and returns true, or returns false if the wait has none.  The
 * limit is relative only in FUTEX_WAIT. */
static bool find_limit(const struct rt_futex_call *call, struct rt_until *until, struct timespec *end)
{
	const struct timespec *limit = (const struct timespec *)call->arguments[LIMIT];
	int op = (int)call->arguments[OP];
	uint64_t ns;

	if (!limit)
		return false;
	*end = *limit;
	*until = (struct rt_until){op & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, end};
	if ((op & FUTEX_CMD_MASK) == FUTEX_WAIT) {
		ns = rt_now() + (uint64_t)limit->tv_sec * 1000000000u + (uint64_t)limit->tv_nsec;
		*end = (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
		until->clock = CLOCK_MONOTONIC;
	}
	return true;
}

static void show_wait(struct rt_thread *t, uint64_t object, bool timed)
{
	struct raddle_slot *slot = rt_steered(t)->slot;

	atomic_store(&slot->object, object);
	atomic_store(&slot->kind, RADDLE_CHANNEL_RECEIVE);
	atomic_store_explicit(&slot->timed, timed, memory_order_relaxed);
	atomic_store_explicit(&slot->inside, RADDLE_INSIDE_FUTEX, memory_order_relaxed);
	rt_steer_show(t, RADDLE_SLOT_BLOCKED);
}

static void show_end(struct rt_thread *t)
{
	struct raddle_slot *slot = rt_steered(t)->slot;

	rt_turn_take(t);
	atomic_store_explicit(&slot->inside, RADDLE_INSIDE_NOT, memory_order_relaxed);
	atomic_store(&slot->object, 0);
	rt_steer_show(t, RADDLE_SLOT_RUNS);
}

/* Waits by turns.  A handler that interrupts the wait may itself wait, so the previous entry is
 * restored at the end. */
static long wait_by_turns(struct rt_thread *t, const struct rt_futex_call *call, uint32_t bits)
{
	struct rt_futex_entry *entry = entry_at(t->number), outer = *entry;
	struct rt_step step = {.t = t, .n = rt_steered(t)->n};
	uintptr_t word = (uintptr_t)call->arguments[WORD];
	uint32_t value = (uint32_t)call->arguments[VALUE];
	struct timespec end;
	struct rt_until until;
	bool timed = find_limit(call, &until, &end), goes_on = true, woken;

	*entry = (struct rt_futex_entry){.word = word, .value = value, .bits = bits};
	show_wait(t, word, timed);
	while (goes_on && !entry->woken && rt_turn_taken() && load(entry->word) == entry->value)
		goes_on = rt_turn_wait(&step, timed ? &until : NULL);
	show_end(t);
	woken = entry->woken;
	*entry = outer;
	return woken || goes_on ? 0 : -ETIMEDOUT;
}

/* Waits in the kernel.  If the caller has no time limit of its own, the wait is brief. */
static long wait_in_kernel(const struct rt_futex_call *call)
{
	struct rt_futex_call brief = *call;
	struct timespec slice = {0, SLICE_NS};
	long r;

	if (call->arguments[LIMIT])
		return in_kernel(call);
	brief.arguments[OP] = (call->arguments[OP] & ~FUTEX_CMD_MASK & ~FUTEX_CLOCK_REALTIME) | FUTEX_WAIT;
	brief.arguments[LIMIT] = (long)&slice;
	r = in_kernel(&brief);
	return r == -ETIMEDOUT ? 0 : r;
}

/* Returns true if the thread is joining another one.  It then waits until the kernel clears the
 * other thread's ID. */
static bool joins(const struct rt_thread *t)
{
	return t->internal && atomic_load(&rt_steered(t)->slot->kind) == RADDLE_THREAD_JOIN;
}

static long wait_for(struct rt_thread *t, const struct rt_futex_call *call, uint32_t bits)
{
	if (!bits)
		return -EINVAL;
	if (load((uintptr_t)call->arguments[WORD]) != (uint32_t)call->arguments[VALUE])
		return -EAGAIN;
	if (joins(t))
		return in_kernel(call);
	if (t->busy || has_leavers())
		return wait_in_kernel(call);
	return wait_by_turns(t, call, bits);
}

/* ---- waking ---- */

static bool waits_for(uint32_t number, uintptr_t word, uint32_t bits)
{
	const struct rt_futex_entry *entry = entry_at(number);

	return entry->word == word && !entry->woken && entry->bits & bits;
}

/* Returns the thread that has waited longest for the word, or NONE. */
static uint32_t find_waiter(uintptr_t word, uint32_t bits)
{
	const struct rt_set *waiting = &rt_steering()->turns.waiting;
	uint32_t count = rt_slot_count(), best = RADDLE_STEER_NONE;

	for (uint32_t i = rt_set_next(waiting, 0, count); i < count; i = rt_set_next(waiting, i + 1, count))
		if (waits_for(i, word, bits) &&
		    (best == RADDLE_STEER_NONE || rt_slot_at(i)->since < rt_slot_at(best)->since))
			best = i;
	return best;
}

static void wake(uint32_t number)
{
	entry_at(number)->woken = true;
	rt_turn_set_ready(number, true);
	if (!rt_turn_taken() || rt_turn_is_idle())
		rt_steer_wake(&rt_steering()->own[number]);
}

static uint32_t wake_waiters(uintptr_t word, uint32_t most, uint32_t bits)
{
	uint32_t done = 0, number;
	uint64_t signals;

	if (!atomic_load(&rt_steering()->turns.waiting.count))
		return 0;
	rt_steer_lock(&signals);
	for (; done < most && (number = find_waiter(word, bits)) != RADDLE_STEER_NONE; done++)
		wake(number);
	rt_steer_unlock(&signals);
	return done;
}

/* Moves waiting threads to another word, where a later call wakes them. */
static uint32_t move_waiters(uintptr_t word, uintptr_t to, uint32_t most)
{
	uint32_t done = 0, number;
	uint64_t signals;

	rt_steer_lock(&signals);
	for (; done < most && (number = find_waiter(word, UINT32_MAX)) != RADDLE_STEER_NONE; done++) {
		entry_at(number)->word = to;
		entry_at(number)->value = load(to);
		atomic_store(&rt_slot_at(number)->object, to);
	}
	rt_steer_unlock(&signals);
	return done;
}

/* Wakes threads that wait here and, if there are too few, threads that wait in the kernel.  The
 * latter are threads of other processes, and threads that are ending. */
static long wake_all(const struct rt_futex_call *call, uint32_t bits)
{
	struct rt_futex_call rest = *call;
	uint32_t most = (uint32_t)call->arguments[VALUE], done;
	long r = 0;

	if (!bits)
		return -EINVAL;
	done = wake_waiters((uintptr_t)call->arguments[WORD], most, bits);
	rest.arguments[VALUE] = (long)(most - done);
	if (done < most)
		r = in_kernel(&rest);
	return r < 0 && !done ? r : (r < 0 ? 0 : r) + (long)done;
}

static long requeue(const struct rt_futex_call *call, bool compares)
{
	const long *a = call->arguments;
	uint32_t woken, moved;

	if (compares && load((uintptr_t)a[WORD]) != (uint32_t)a[VALUE3])
		return -EAGAIN;
	woken = wake_waiters((uintptr_t)a[WORD], (uint32_t)a[VALUE], UINT32_MAX);
	moved = move_waiters((uintptr_t)a[WORD], (uintptr_t)a[WORD2], (uint32_t)a[LIMIT]);
	return compares ? (long)woken + (long)moved : (long)woken;
}

/* Does the operation of FUTEX_WAKE_OP on the word, and returns the word's old value.  `code` is
 * encoded as by FUTEX_OP(). */
static uint32_t change_word(uint32_t *word, uint32_t code)
{
	uint32_t argument = code << 8 >> 20;

	if (code >> 28 & FUTEX_OP_OPARG_SHIFT)
		argument = 1u << (argument & 31);
	switch (code >> 28 & 7) {
	case FUTEX_OP_SET: return __atomic_exchange_n(word, argument, __ATOMIC_SEQ_CST);
	case FUTEX_OP_ADD: return __atomic_fetch_add(word, argument, __ATOMIC_SEQ_CST);
	case FUTEX_OP_OR: return __atomic_fetch_or(word, argument, __ATOMIC_SEQ_CST);
	case FUTEX_OP_ANDN: return __atomic_fetch_and(word, ~argument, __ATOMIC_SEQ_CST);
	default: return __atomic_fetch_xor(word, argument, __ATOMIC_SEQ_CST);
	}
}

static bool compares_true(uint32_t old, uint32_t code)
{
	int32_t argument = (int32_t)(code << 20) >> 20, value = (int32_t)old;

	switch (code >> 24 & 15) {
	case FUTEX_OP_CMP_EQ: return value == argument;
	case FUTEX_OP_CMP_NE: return value != argument;
	case FUTEX_OP_CMP_LT: return value < argument;
	case FUTEX_OP_CMP_LE: return value <= argument;
	case FUTEX_OP_CMP_GT: return value > argument;
	default: return value >= argument;
	}
}

static long wake_by_op(const struct rt_futex_call *call)
{
	const long *a = call->arguments;
	uint32_t code = (uint32_t)a[VALUE3], old = change_word((uint32_t *)a[WORD2], code);
	long woken = wake_waiters((uintptr_t)a[WORD], (uint32_t)a[VALUE], UINT32_MAX);

	if (compares_true(old, code))
		woken += wake_waiters((uintptr_t)a[WORD2], (uint32_t)a[LIMIT], UINT32_MAX);
	return woken;
}

/* ---- calls ---- */

static long futex(struct rt_thread *t, const struct rt_futex_call *call)
{
	uint32_t bits = (uint32_t)call->arguments[VALUE3];

	switch (call->arguments[OP] & FUTEX_CMD_MASK) {
	case FUTEX_WAIT: return wait_for(t, call, FUTEX_BITSET_MATCH_ANY);
	case FUTEX_WAIT_BITSET: return wait_for(t, call, bits);
	case FUTEX_WAKE: return wake_all(call, FUTEX_BITSET_MATCH_ANY);
	case FUTEX_WAKE_BITSET: return wake_all(call, bits);
	case FUTEX_REQUEUE: return requeue(call, false);
	case FUTEX_CMP_REQUEUE: return requeue(call, true);
	case FUTEX_WAKE_OP: return wake_by_op(call);
	default: rt_context_refuse(RADDLE_UNFIT_FUTEX); return in_kernel(call);
	}
}

/* The result is false on a kernel thread that is beginning or ending, and in a child that was
 * forked by a bare system call. */
bool rt_futex_runs(const struct rt_thread *t)
{
	pid_t tid = rt_kernel_tid();

	return rt_steered(t)->slot && tid == (rt_steer_has_one() ? rt.pid : (pid_t)t->tid);
}

void rt_futex_call(struct rt_futex_call *call)
{
	struct rt_thread *t = __raddle_self == &rt_placeholder ? NULL : (struct rt_thread *)__raddle_self;

	if (!t || t->recording != RT_LISTENED || !rt_takes_turns() || !rt_futex_runs(t))
		return;
	if (!rt_turn_taken() && !atomic_load(&rt_steering()->turns.waiting.count))
		return;
	call->result = futex(t, call);
	call->handled = true;
}

/* Called when no thread has the turn.  A thread that left, or another process, may have changed the
 * word that a thread waits for. */
void rt_futex_check(void)
{
	const struct rt_set *waiting = &rt_steering()->turns.waiting;
	uint32_t count = rt_slot_count();
	uint64_t signals;

	rt_steer_lock(&signals);
	for (uint32_t i = rt_set_next(waiting, 0, count); i < count; i = rt_set_next(waiting, i + 1, count)) {
		struct rt_futex_entry *entry = entry_at(i);

		if (entry->word && !entry->woken && load(entry->word) != entry->value)
			wake(i);
	}
	if (rt_turn_is_idle() && rt_turn_count_ready())
		atomic_store(&rt_steer()->running, rt_set_next(&rt_steering()->turns.ready, 0, count));
	rt_steer_unlock(&signals);
}
