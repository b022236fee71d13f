/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal to steering: shared by rt/steer/steer.c, which keeps the plan, and rt/steer/turn.c,
 * which lets one thread run at a time.
 */
#ifndef RT_STEER_STEER_INT_H
#define RT_STEER_STEER_INT_H

#include "rt/core/one.h"
#include "rt/steer/steer.h"

#define RT_NAP_MS 20 /* how long a thread sleeps between two checks, if no other thread sleeps */

static inline uint32_t rt_steer_phase(void)
{
	return atomic_load_explicit(&rt_steer()->phase, memory_order_acquire);
}

static inline bool rt_steer_is_leading(void)
{
	uint32_t now = rt_steer_phase();

	return now == RADDLE_LEADING || now == RADDLE_MET;
}

/* rt/steer/steer.c */
void rt_steer_lock_shared(uint64_t *signals);
void rt_steer_unlock_shared(const uint64_t *signals);

/* Takes the lock of steering and saves the signal mask.  If the mask was not changed, *signals
 * becomes RT_ALL_SIGNALS, which is never the mask of a thread, since SIGKILL cannot be blocked.
 * If all threads run on one kernel thread, the lock is always free, because the runtime never
 * switches away from a thread that holds the lock.  Only a signal handler could find it taken. */
static inline void rt_steer_lock(uint64_t *signals)
{
	if (RT_UNLIKELY(!rt_is_alone())) {
		rt_steer_lock_shared(signals);
		return;
	}
	*signals = RT_ALL_SIGNALS;
	atomic_store_explicit(&rt_steer()->lock, 1, memory_order_relaxed);
}

static inline void rt_steer_unlock(const uint64_t *signals)
{
	if (RT_LIKELY(rt.one && *signals == RT_ALL_SIGNALS))
		atomic_store_explicit(&rt_steer()->lock, 0, memory_order_release);
	else
		rt_steer_unlock_shared(signals);
}

bool rt_steer_change_phase(uint32_t from, uint32_t to);
/* Stores an enum raddle_slot_state in the thread's slot, where the replayer reads it. */
static inline void rt_steer_show(struct rt_thread *t, uint32_t state)
{
	if (rt_steered(t)->slot)
		atomic_store_explicit(&rt_steered(t)->slot->state, state, memory_order_release);
}

/* An access that is about to be made.  rt_steer_spot_of() adds the thread and its call stack. */
struct rt_touch {
	uintptr_t address;
	uint64_t size;
	uint32_t site;
	bool write, atomic;
};
void rt_steer_spot_of(const struct rt_thread *t, const struct rt_touch *touch,
		      struct raddle_steer_spot *spot);
uint64_t rt_steer_time_of(uint32_t slot); /* the CPU time of the thread, in nanoseconds */

/* Called in a copy, which has a new plan.  Finds the positions of all threads in that plan. */
void rt_steer_match_plan(void);

/* Called when the plan cannot be followed.  The first needs the lock, the second takes it. */
void rt_steer_differs(const struct rt_thread *t, uint32_t cause, uint32_t expected, uint32_t found);
void rt_steer_diverge(struct rt_thread *t, uint32_t cause, uint32_t expected, uint32_t found);

/* rt_steer_nap() sleeps for a short time, or until the thread is woken.  `seen` is the result of
 * rt_steer_seen() from before the caller last checked its condition. */
static inline void rt_steer_wake(struct rt_sleeping_place *place)
{
	rt_add32(&place->word, 1);
	if (RT_UNLIKELY(atomic_load(&place->asleep)))
		rt_futex_wake(&place->word, INT32_MAX);
}
static inline uint32_t rt_steer_seen(const struct rt_thread *t)
{
	return atomic_load(&rt_steered(t)->place->word);
}
void rt_steer_nap(struct rt_thread *t, uint32_t seen, uint32_t round);

/* Waits while the condition is true.  During the wait, the slot of the thread shows `state`.
 * `seen_` is read before the condition is evaluated, so that no wake-up is lost. */
#define RT_WAIT_WHILE(t, state, condition)                                                                   \
	do {                                                                                                 \
		if (condition)                                                                               \
			rt_turn_give(t, state);                                                              \
		rt_steer_show(t, state);                                                                     \
		for (uint32_t round_ = 0, seen_ = rt_steer_seen(t); (condition); seen_ = rt_steer_seen(t))   \
			rt_steer_nap(t, seen_, round_++);                                                    \
		rt_turn_take(t);                                                                             \
		rt_steer_show(t, RADDLE_SLOT_RUNS);                                                          \
	} while (0)

void rt_steer_look_at_command(uint32_t naps);
/* Returns true if the replayer has ended.  Checks this only once every few naps. */
bool rt_steer_is_deserted(uint32_t naps);

/* Lets a thread that has ended return to libc and exit. */
void rt_context_let_go(struct rt_context *c);

/* rt/steer/park.c.  rt_park() is called after a thread's last step.  It returns false if the thread
 * has to exit.  rt_park_end() lets all parked threads exit.  rt_park_fill() creates threads in
 * advance.  The other functions are callbacks of rt/core/callback.inc. */
bool rt_park(struct rt_thread *t);
void rt_park_end(void);
void rt_park_fill(uint32_t count);
void rt_park_result(uint32_t number, void **result, bool *known);
void rt_park_prepares(struct rt_thread *t);
void rt_park_prepared(struct rt_thread **child);

/* rt/steer/freeze.c.  If the plan requests it, rt_freeze_at() freezes the program, and returns in
 * each copy of it.  rt_freeze_at_creation() is called before a thread is created. */
void rt_freeze_at(enum raddle_freeze where);
void rt_freeze_setup(void);
void rt_freeze_at_creation(struct rt_thread *t);

/* rt/steer/context.c.  These functions do nothing unless all threads run on one kernel thread.
 * rt_context_switch() returns false if `next` is the thread itself or has no context. */
void rt_context_setup(void);
void rt_context_begin(struct rt_thread *t);
void rt_context_created(struct rt_thread *parent, struct rt_thread *child);
void rt_context_uncreated(struct rt_thread *child);
void rt_context_arrives(struct rt_thread *t);
bool rt_context_switch(struct rt_thread *t, uint32_t next);
void rt_context_leave(struct rt_thread *t);
void rt_context_disturbs(void);
/* Callbacks of rt/core/callback.inc. */
void rt_context_identifies(const struct rt_thread *t, pid_t *id);
void rt_context_addresses(enum raddle_unfit why);
void rt_context_tids(uint32_t number, pid_t **word);
void rt_context_ends(struct rt_thread *t);     /* called before the operation with which it ends */
void rt_context_refuse(enum raddle_unfit why); /* ends the run, which needs kernel threads */

/* rt/steer/futex.c. rt_futex_call() handles a futex call if threads take turns. rt_futex_leaves()
 * notes that the thread on kernel thread `tid` has made its last step. rt_futex_check() wakes
 * threads whose futex words have changed. */
void rt_futex_call(struct rt_futex_call *call);
void rt_futex_leaves(pid_t tid);
void rt_futex_check(void);
bool rt_futex_runs(const struct rt_thread *t); /* true if the calling kernel thread runs this thread */

/* rt/steer/transfer.c.  Makes a read(), write() or sendto() call that was trapped. */
long rt_transfer(long number, const long arguments[6]);
void rt_trap_setup(void); /* rt/steer/trap.c */

/* rt/steer/signal.c.  rt_signal_send() handles a signal if all threads run on one kernel thread.
 * rt_signal_deliver() delivers the pending signals that the thread does not block.
 * rt_signal_take() takes a pending signal in `set`, for which the thread waits. */
void rt_signal_send(struct rt_signal *signal);
void rt_signal_deliver(struct rt_thread *t);
void rt_signal_take(struct rt_thread *t, uint64_t set, void *info);

/* rt/steer/blocking.c. rt_blocking_waits() lets the thread wait for file descriptors.
 * rt_blocking_moved() is called when a thread has done something that may end such waits.
 * rt_blocking_let_in() is called with the lock held when no thread can continue.  It returns true
 * if a thread has become able to continue, or if the process must wait for input from outside.
 * rt_blocking_nap() waits for such input.  It returns false if that is not necessary. */
void rt_blocking_setup(void);
void rt_blocking_waits(struct rt_thread *t, struct rt_look *look, int64_t limit_ns);
void rt_blocking_moved(void);
bool rt_blocking_let_in(void);
bool rt_blocking_is_channel(int fd); /* a pipe or socket pair that this process has made */
bool rt_blocking_nap(const struct rt_thread *t);
void rt_blocking_look(void); /* makes threads runnable whose waits are over or have timed out */

/* rt/steer/step.c.  Both functions are called when the first thread of a race has made its access,
 * so that the second thread may continue.  rt_steer_pass_kept() is for sites in the plan's `keep`,
 * rt_steer_come_back() for threads that were stopped at their accesses at the same time. */
void rt_steer_pass_kept(struct rt_thread *t);
void rt_steer_come_back(struct rt_thread *t, uint64_t n);

static inline uint32_t rt_steer_threads(void)
{
	return rt_steer()->thread_count + atomic_load(&rt_steer()->thread_added);
}

static inline struct raddle_slot *rt_slot_at(uint32_t number)
{
	return &rt_steering()->table[number];
}

static inline uint32_t rt_slot_count(void)
{
	uint32_t count = atomic_load(&rt_steer()->slot_count);

	return count < RADDLE_SLOTS ? count : RADDLE_SLOTS;
}

/* rt/steer/turn.c.  These functions do nothing in a process whose threads do not take turns. */
void rt_turn_setup(void);
void rt_crash_setup(void); /* rt/steer/crash.c: installs handlers that record fatal signals */
void rt_turn_end(struct rt_thread *t);

/* rt_turn_give() passes the turn on.  A thread calls it when it has to stop. rt_turn_take()
 * returns when the thread has the turn.  A thread calls it when it may continue. */
void rt_turn_give(struct rt_thread *t, uint32_t state);
void rt_turn_take(struct rt_thread *t);

/* Called at a point after the thread's n-th operation.  Returns when the thread has the turn. */
void rt_turn_point(struct rt_thread *t, uint64_t n, enum raddle_point point);

/* Called before an access.  The access is a point (rt_turn_point()) in three cases: a watch covers
 * it, it is an atomic write that empties the thread's store buffer (rt/memory/), or the thread has
 * made RADDLE_STEER_LOOKS accesses since its last point. */
void rt_turn_access(struct rt_thread *t, const struct rt_touch *touch);

/* Called before a call that uses, initialises or destroys a synchronisation object.  If a watch
 * names the site of the call, the call is a point, at which another thread may get the turn. */
void rt_turn_handle(struct rt_thread *t, const struct rt_touch *touch);

/* Called before a fence, which is a point if the thread has buffered stores (rt/memory/). */
void rt_turn_barrier(struct rt_thread *t);

/* Called when the next operation of the plan belongs to the thread at `position` in the plan's
 * table of threads.  Makes the thread runnable if it was stopped. */
void rt_turn_owner(uint32_t position);

/* Leaves the phase MET, in which both threads of a race are stopped.  The caller has the turn.
 * The thread in slot `first` continues at once, and every other thread when it gets the turn. */
void rt_turn_go_on(struct rt_thread *t, uint32_t first);

/* Called when the plan is over.  Makes the threads runnable that the plan had stopped. */
void rt_turn_release_all(void);

/* Returns true if no other thread can continue, neither now nor after some time has passed. */
bool rt_turn_is_alone(const struct rt_thread *t);

/* Called with the lock held.  Returns true if every runnable thread spins (waits in a loop), and
 * no other thread can become runnable by a timeout, by input, or by returning from the kernel. */
bool rt_turn_all_spin(void);
bool rt_turn_runnable_spin(void); /* the same, but other threads may wake up */

/* Called with the lock held.  rt_turn_may() returns true if the strategy may choose the thread,
 * because the thread can continue or its wait may time out.  rt_turn_can() returns true if the
 * thread can continue.  It first makes the limit of a timed wait expire. */
bool rt_turn_may(uint32_t number);
/* Returns the first slot, starting at `from`, whose thread the strategy may choose, or NONE. */
uint32_t rt_turn_next_that_may(uint32_t from);
bool rt_turn_can(uint32_t number);

/* rt/steer/strategy.c.  Called when thread `number` is at a point.  Returns the slot of the thread
 * that runs next, chosen at random from the seed, or NONE if no thread can continue. */
uint32_t rt_strategy_choose(uint32_t number);
void rt_strategy_meet(const struct rt_thread *t); /* called when a thread begins */

/* rt/steer/spin.c.  These functions handle spins, loops in which a thread only waits.
 * rt_spin_yields() is called when a thread yields, rt_spin_comes_round() when the number of accesses
 * suggests a spin, and rt_spin_progresses() when the thread gets closer to the end of a loop.
 * rt_spin_complete() is called when a thread leaves a loop about which it has begun a report to the
 * replayer (struct raddle_steer_spin). */
void rt_spin_complete(struct rt_thread *t);
void rt_spin_yields(struct rt_thread *t);
void rt_spin_comes_round(struct rt_thread *t);
void rt_spin_progresses(struct rt_thread *t);

/* rt/steer/refuse.c.  rt_refuse_note() notes whether an attempt to take a lock has succeeded.
 * rt_refuse_certify() is called with the lock held when the thread cannot reach its goal. */
void rt_refuse_note(struct rt_thread *t, uint32_t kind, uintptr_t object, bool taken);
void rt_refuse_certify(const struct rt_thread *t);
void rt_refuse_exit(void); /* called before the process ends */

/* Called by a waiting thread.  Passes the turn on if the thread that has it is stalled. */
void rt_turn_look(void);

#endif
