/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steering: what the interposed functions and the slow path of the hooks do in a
 * process that is being replayed (include/raddle/steer.h).
 *
 * An operation is a step.  It is counted when it begins, passes the gate before it
 * takes effect, and ends when it has taken effect and its record is written; then it
 * is the next one's turn.  A step that is left by cancellation or an exception was
 * none, as it leaves no record either:
 *
 *	RT_STEP(step, RADDLE_MUTEX_LOCK, mutex);
 *	if (!step.t) return REAL(pthread_mutex_lock)(mutex);
 *	... rt_step_end(&step);
 *
 * Waiting happens with no lock of the runtime held and the encoder free; errno stays
 * as it is; a signal handler may run meanwhile and take steps of its own.  After a
 * fork the child is not steered.
 */
#ifndef RT_STEER_H
#define RT_STEER_H

#include "rt/detect/detect.h"
#include "rt/core/rt.h"

#include <time.h>

/* rt/steer/steer.c.  Setup happens before the first thread begins. */
void rt_steer_setup(struct raddle_steer *steer, uint64_t size);
void rt_steer_stop(void); /* in the child of a fork */
void rt_steer_give_up(void);

/* A thread.  begin() comes before its first step. */
void rt_steer_begin(struct rt_thread *t);
void rt_steer_end(struct rt_thread *t);	 /* after its last */
void rt_steer_exit(struct rt_thread *t); /* it is about to end the process */

struct rt_step {
	struct rt_thread *t; /* NULL: the thread is not steered */
	uint64_t n;
	uint32_t kind;
	uint32_t turn; /* its place in the plan, from 1; 0: the plan does not name it */
	uint32_t expected;
	bool blocked;
};

void rt_step_begin(struct rt_step *step, struct rt_thread *t, uint32_t kind, uint64_t object);
void rt_step_gate(struct rt_step *step);
void rt_step_is(struct rt_step *step, uint32_t kind); /* it turned out to be of this kind */
void rt_step_end(struct rt_step *step);
void rt_step_leave(struct rt_step *step);

/* Begins a step of the calling thread and passes the gate. */
struct rt_step rt_step(uint32_t kind, uint64_t object);

/* Tells the detector, if there is one to be told. */
#define RT_TELL(what, ...)                                                                                   \
	do {                                                                                                 \
		if (rt_detecting())                                                                          \
			rt_detect_##what(__VA_ARGS__);                                                       \
	} while (0)

#define RT_STEP_UNWINDS __attribute__((cleanup(rt_step_leave)))
#define RT_STEP(name, kind, object) struct rt_step name RT_STEP_UNWINDS = rt_step(kind, (uint64_t)(object))

/* The thread waits in the step, for `object`; and it has what it waited for.  What it does meanwhile, in a
 * handler or the unwinder, comes before the step in its trace and is numbered so. */
void rt_step_block(struct rt_step *step, uint64_t object, bool timed);
void rt_step_unblock(struct rt_step *step);

/* Whether only one thread runs at a time (rt/steer/steer-turn.c): nobody waits in the kernel then. */
static inline bool rt_takes_turns(void)
{
	return rt.steer && rt.steer->flags & RADDLE_STEER_TURNS;
}

static inline bool rt_step_takes_turns(const struct rt_step *step)
{
	return step->t && step->t->steered.slot && rt_takes_turns();
}

/* How long an operation may wait; NULL: for ever. */
struct rt_until {
	clockid_t clock;
	const struct timespec *time;
};

/* Between block and unblock, in place of a real wait: lets others run.  When it returns what the thread waits
 * for may be there, it has to look; false: the time is up. */
bool rt_turn_wait(struct rt_step *step, const struct rt_until *until);

/* The thread lets others run, if there are any that can; false: there are none. */
bool rt_turn_yield(struct rt_thread *t);

/* Who waits for the object may look again; so may that thread. */
void rt_turn_released(uint64_t object);
void rt_turn_ready(const struct rt_thread *t);

/* The turn of a step; the larger, the later.  For choosing among waiters. */
uint64_t rt_step_rank(const struct rt_step *step);

/* If the thread is to stand still in this step: it does, by being blocked in it. */
void rt_step_reached(const struct rt_step *step);

/* Locks that a thread has, and what the detector learns of them.  By the kind of operation. */
void rt_acquired(struct rt_thread *t, uint32_t kind, uintptr_t object, uint64_t result);
struct rt_lost {
	uint32_t own;		   /* its place in the thread's list, or */
	_Atomic uint64_t *foreign; /* in another thread's */
};
struct rt_lost rt_releasing(struct rt_thread *t, uint32_t kind, uintptr_t object);
void rt_released(struct rt_thread *t, const struct rt_lost *lost, uint64_t result);
void rt_leave_locks(struct rt_thread *t); /* it is about to end */

/* Whether nobody but the detector wants to know of the thread's accesses before its next operation:
 * nothing is kept, and its hold is elsewhere. */
static inline bool rt_steer_is_quick(const struct rt_thread *t)
{
	const struct raddle_steer_hold *hold = t->steered.hold;

	return rt_unread() && !t->steered.leads && !t->steered.anywhere && !t->steered.sees_all &&
	       (!hold || t->steered.n != hold->after);
}

/* The same at an operation, if the detector can do with the segment that it would end: it released
 * nothing since that began. */
bool rt_steer_is_blind(struct rt_thread *t);

/* A record of an access was written; the access comes.  `how` is enum rt_access. */
void rt_steer_access(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how);

/* The thread is about to use, initialise or destroy a lock and so on by an operation of that kind. */
void rt_steer_handle(struct rt_thread *t, uint32_t kind, uintptr_t object);

/* The calling thread, after it has stood there if it had to; NULL: it has no state. */
static inline struct rt_thread *rt_handling(uint32_t kind, const void *object)
{
	struct rt_thread *t = rt_self();

	if (t && t->recording == RT_STEERED)
		rt_steer_handle(t, kind, (uintptr_t)object);
	return t;
}

/* The call that the thread is in, as far as it is the program's; 0: none. */
uint32_t rt_steer_site(const struct rt_thread *t);

/* The same for a read and then a write of the same bytes; the upper half of `sites` is the write's. */
void rt_steer_update(struct rt_thread *t, uintptr_t address, uint32_t size, uint64_t sites);

/* The same for `count` accesses, each `by` bytes behind the one before. */
void rt_steer_accesses(struct rt_thread *t, const struct rt_record *stride, uint32_t size, uint32_t how);

/* rt/steer/steer-sync.c: the whole of an operation on a lock or semaphore, for a thread that is steered
 * or not recorded.  Both return errno values. */
int rt_steered_acquire(uint32_t code, volatile void *object, const struct rt_until *until);
int rt_steered_release(uint32_t code, volatile void *object);

/* rt/steer/steer-cond.c: the same for condition variables, in a steered process. */
clockid_t rt_cond_clock(const pthread_cond_t *cond);
int rt_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct rt_until *until);
int rt_cond_notify(uint32_t code, pthread_cond_t *cond);

/* rt/steer/steer-barrier.c */
void rt_barrier_init(struct rt_thread *t, const pthread_barrier_t *barrier,
		     const pthread_barrierattr_t *attributes, uint32_t count);
void rt_barrier_destroy(const pthread_barrier_t *barrier);
int rt_barrier_wait(pthread_barrier_t *barrier);

#endif
