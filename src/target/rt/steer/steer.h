/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steering: controls what the threads of a replayed process do (raddle/steer.h).  The other layers
 * do not call it; it is notified through its table, rt/steer/layer.c, and this header is for its
 * own files.
 *
 * Each operation (rt/core/layer.h) is a step.  The step is counted when it begins, and passes the
 * gate before it takes effect.  It ends when it has taken effect and its record is written.  Then
 * the next step may pass.  If a cancellation or an exception leaves a step, the step is not
 * counted.
 *
 * A thread waits with no lock of the runtime held and the encoder free, and errno is preserved.  A
 * signal handler may run meanwhile and make steps of its own.  After a fork the child is not
 * steered.
 */
#ifndef RT_STEER_H
#define RT_STEER_H

#include "raddle/steer.h"
#include "rt/core/layer.h"
#include "rt/steer/freeze.h"
#include "rt/steer/set.h"
#include "rt/steer/spin-int.h"
#include "rt/steer/waiting.h"

/* A place where a thread sleeps: a futex word, and whether a thread is asleep on it. */
struct rt_sleeping_place {
	_Alignas(64) _Atomic uint32_t word;
	_Atomic uint32_t asleep;
};

/* number of bits in the filter of sites; with 64 watches, 1 in 64 unwatched sites passes it */
#define RT_WATCH_BITS 4096

#define RT_DEPTH_MAX 16 /* maximum depth of PCT */

/* The state of turn.c.  The lock of steering protects all members except `sites`, `low` and
 * `high`, which change only while no thread runs. */
struct rt_turns {
	struct rt_set ready;   /* threads that need only the turn to continue */
	struct rt_set waiting; /* threads that wait: `since` in their slots is not 0 */
	/* number of threads that have been stopped at least once, or have ended */
	_Atomic uint32_t settled;
	uint64_t random, seeded;
	uint64_t lowest; /* the priority of the most recently deferred thread */
	uint32_t ranked; /* number of slots to which PCT has assigned a priority */
	/* For the strategy PCT: `changes` contains the choices at which a priority changes; entry
	 * 0 is unused.  `changes_seed` is the seed from which it was computed. */
	uint64_t changes_seed, changes[RT_DEPTH_MAX];
	/* For the strategy WEIGHTED, by position in the plan.  `begun` is true if the thread has
	 * begun.  `unborn` is the number of points of the threads that the thread has not created
	 * yet.  Both are recomputed when `settled` differs from `weighed`. */
	bool begun[RADDLE_SLOTS];
	uint64_t unborn[RADDLE_SLOTS];
	uint32_t weighed;
	/* For the strategy KINDS, by slot: the start function of the thread, and the first thread
	 * with the same start function. */
	struct rt_turn_kind {
		uintptr_t start;
		uint32_t first;
	} kinds[RADDLE_SLOTS];
	uint64_t waits;	    /* number of waits that have begun */
	bool front_waits;   /* the thread whose goal has `front` set has begun to wait in a loop */
	uint64_t points;    /* number of points that threads have reached */
	uint64_t news;	    /* how often a thread has seen or done something new */
	uint64_t low, high; /* the range that contains all watched addresses */
	/* filter: the bit numbered site % RT_WATCH_BITS is set for each watched site */
	uint64_t sites[RT_WATCH_BITS / 64];
	uint32_t watches; /* the number of watches from which `low`, `high` and `sites` were made */
	bool any_site;	  /* a watch names neither a site nor an address */
	bool everything;  /* the only watch makes each access a point */
	/* For rt/steer/stalled.c.  `looking` is 1 while a thread checks.  `looked_at` is the slot of
	 * the thread with the turn at the last check.  The other members record its progress. */
	_Atomic uint32_t looking;
	uint32_t looked_at;
	uint64_t choices, accesses, cpu, still_cpu, still_since;
};

/* A thread that runs on the kernel thread of the initial thread (rt/steer/context.c). */
struct rt_context {
	void *sp;    /* the stack pointer, while the thread does not run */
	uint64_t fs; /* the base of its TLS, while the thread does not run */
	/* 1 while the thread still has its own kernel thread; cleared by the kernel */
	_Atomic uint32_t alive;
	uint64_t mask; /* its blocked signals, if the program is interruptible (rt.h) */
	bool masked;   /* `mask` is set */
	bool blocked;  /* the runtime has blocked all signals, because the thread begins or ends */
	void *tid;     /* the address of its thread ID, which the kernel clears at the end */
};

/* The layer's state of the process. */
struct rt_steering {
	struct raddle_steer *memory;	  /* the memory that the replayer shares with the program */
	struct raddle_slot *table;	  /* the slots in that memory */
	struct rt_sleeping_place *places; /* where threads of the plan sleep, by position */
	struct rt_sleeping_place *own;	  /* where threads sleep if they take turns, by slot */
	/* by turn: the position of the thread that performs this operation of the plan */
	uint32_t *owners;
	/* by position in the table of threads: 1 plus the thread's slot, or 0 if not known yet */
	_Atomic uint32_t *slots;
	/* by slot; NULL if the thread has no context, or has left */
	struct rt_context *contexts[RADDLE_SLOTS];
	struct rt_context idle, *leaving;
	struct rt_spin *spins[RADDLE_SLOTS];	/* by slot: the ledger, or NULL */
	struct rt_thread *parked[RADDLE_SLOTS]; /* by slot: ended threads that have not left libc */
	uint32_t parked_count;
	struct rt_thread *ready_made; /* threads that were made in advance, linked by `next` */
	/* blocked signals of the contexts that are neither `blocked` nor `masked` */
	uint64_t common_mask;
	struct rt_entries entries;
	_Atomic uint32_t sleepers;
	struct rt_sleeping_place common; /* where threads sleep that the plan does not name */
	/* For each goal, protected by the lock.  `waits_at` is true if a thread is stopped there.
	 * `passed` is the number of threads that have passed it since a thread last waited there in
	 * vain.  `gap` is how many must pass before a thread waits again. */
	bool waits_at[RADDLE_STEER_GOALS];
	uint64_t passed[RADDLE_STEER_GOALS], gap[RADDLE_STEER_GOALS];
	_Atomic uint64_t patience_ns; /* time for which threads have waited for rare accesses of others */
	struct rt_turns turns;
	pthread_mutex_t waiters_mutex; /* rt/steer/cond.c; zero is unlocked */
	struct rt_waiter *waiters;
	struct rt_barrier *barriers; /* rt/steer/barrier.c */
	struct rt_frozen frozen;
};

/* A failed attempt to take a lock. */
struct rt_refused {
	uintptr_t object;
	uint32_t kind, site; /* `kind` is 0 if no attempt failed */
};

/* The layer's state of a thread. */
struct rt_steered {
	struct rt_context context;
	struct raddle_slot *slot;		/* NULL if there is no slot for its number */
	const struct raddle_steer_thread *plan; /* NULL if the plan does not name the thread */
	/* NULL if the thread has no goal, or has reached or passed it */
	const struct raddle_steer_goal *goal;
	struct rt_sleeping_place *place; /* where it sleeps */
	uint64_t n;			 /* number of operations begun */
	uint64_t seen;			 /* number of records of the goal's site after operation `after` */
	uint32_t op;			 /* position of its next operation in the plan */
	uint32_t listed;		 /* number of entries of slot->held in use */
	bool stopped;			 /* the thread has reached its stop */
	bool keeps;			 /* it is making the access at the first site of `keep` */
	bool leads;			 /* it has left its goal, but has not made its access yet */
	bool anywhere;			 /* the plan names no thread, so it may stop at any goal */
	bool sees_all;			 /* each of its accesses is examined */
	bool settled;			 /* the thread has been stopped at least once */
	uint32_t looks;			 /* number of accesses since its last point */
	uint64_t touches;		 /* address of its last watched access */
	/* `stopped_at` has a bit for each watch at which it stopped after operation `stopped_n` */
	uint64_t stopped_n, stopped_at;
	uint64_t point_n;		/* number of operations begun at its last point */
	uint32_t points[RADDLE_POINTS]; /* by kind: number of points since operation `point_n` */
	/* by entry of slot->held: how many times the thread holds that (recursive) lock */
	uint32_t depth[RADDLE_SLOT_HELD];
	struct rt_spin spin;
	uint64_t work;		   /* the thread's part of `work` of struct rt_turn_clock */
	uint32_t quiet;		   /* how much of what it sees next does not count as work */
	uint32_t vain_looks;	   /* number of looks at descriptors in a row that found nothing */
	struct rt_refused refused; /* the last failed attempt, until the thread gets that lock */
};

/* A step, stored in the state of its operation (struct rt_op). */
struct rt_step {
	struct rt_thread *t; /* NULL when the step has ended */
	uint64_t n;
	uint32_t kind;
	uint32_t turn; /* its position in the plan, from 1, or 0 if the plan does not name it */
	uint32_t expected;
	bool blocked;
};

static inline struct rt_steering *rt_steering(void)
{
	return rt.layer[RT_LAYER_STEER];
}

static inline struct raddle_steer *rt_steer(void)
{
	return rt_steering()->memory;
}

static inline struct rt_steered *rt_steered(const struct rt_thread *t)
{
	return t->layer[RT_LAYER_STEER];
}

/* rt/steer/steer.c.  rt_steer_setup() is called before the first thread begins, and returns false
 * if this process is not steered. */
bool rt_steer_setup(void);
void rt_steer_give_up(void);

/* Called for each thread.  rt_steer_begin() is called before the thread's first step. */
void rt_steer_begin(struct rt_thread *t);
void rt_steer_end(struct rt_thread *t);	 /* after its last step */
void rt_steer_exit(struct rt_thread *t); /* it is about to end the process */

void rt_step_begin(struct rt_step *step, struct rt_thread *t, uint32_t kind, uint64_t object);
void rt_step_gate(struct rt_step *step);
void rt_step_is(struct rt_step *step, uint32_t kind); /* the step turned out to be of this kind */
void rt_step_end(struct rt_step *step);
void rt_step_leave(struct rt_step *step);

/* rt_step_block() is called when the thread begins to wait for `object` in the step, and
 * rt_step_unblock() when the wait is over.  If a signal handler or the unwinder runs during the
 * wait, its steps get smaller numbers than this step, and precede it in the trace. */
void rt_step_block(struct rt_step *step, uint64_t object, bool timed);
void rt_step_unblock(struct rt_step *step);

/* Returns true if threads take turns, so that only one runs at a time (rt/steer/turn.c).  In that
 * case, no thread waits in the kernel for a lock of the program. */
static inline bool rt_takes_turns(void)
{
	return rt_steer()->flags & RADDLE_STEER_TURNS;
}

static inline bool rt_steer_has_one(void)
{
	return rt_steer()->flags & RADDLE_STEER_ONE;
}

static inline bool rt_step_takes_turns(const struct rt_step *step)
{
	return step->t && rt_steered(step->t)->slot && rt_takes_turns();
}

/* Called between rt_step_block() and rt_step_unblock(), instead of a real wait.  Lets others run.
 * Then the thread must check whether it can continue.  Returns false if its time limit is over. */
bool rt_turn_wait(struct rt_step *step, const struct rt_until *until);

/* Lets other threads run.  Returns false if no other thread can run, so that the caller must wait
 * in real time. */
bool rt_turn_yield(struct rt_thread *t);

/* Lets other threads run while this thread waits for input from outside. */
enum rt_idle rt_turn_idle(struct rt_thread *t, bool timed);
/* Lets others run until no thread can continue.  Returns false if threads do not take turns. */
bool rt_turn_sleep(struct rt_thread *t);

/* rt_turn_released() lets all threads that wait for the object check again, and rt_turn_ready()
 * lets this one thread check again. */
void rt_turn_released(uint64_t object);
void rt_turn_ready(const struct rt_thread *t);
void rt_turn_cancelled(uint32_t number);

/* Returns the rank of a step.  If several threads wait, the one whose step has the lowest rank is
 * chosen.  Steps of the plan have lower ranks than all others, in the order of the plan. */
uint64_t rt_step_rank(const struct rt_step *step);

/* Called when the thread is stopped or blocked in the step.  A schedule that leads to a deadlock names
 * the step in which each thread waits; if this is such a step, notes that it was reached. */
void rt_step_reached(const struct rt_step *step);

/* rt/steer/lock.c: the list of locks that a thread holds. */
void rt_acquired(struct rt_thread *t, uint32_t kind, uintptr_t object, uint64_t result);
struct rt_lost {
	uint32_t own;		   /* position in the thread's own list, or UINT32_MAX */
	_Atomic uint64_t *foreign; /* otherwise, the entry in another thread's list, or NULL */
};
struct rt_lost rt_releasing(struct rt_thread *t, uintptr_t object);
bool rt_is_read_lock(const struct rt_thread *t, const struct rt_lost *lost);
void rt_released(struct rt_thread *t, const struct rt_lost *lost, uint64_t result);
void rt_leave_locks(struct rt_thread *t); /* it is about to end */

/* Returns true if the kernel is about to release the object, a robust mutex of an ended thread. */
bool rt_comes_back(uint32_t kind, uintptr_t object);

/* Returns true if the thread need not be stopped at any access before its next operation, because its
 * goal is not in this part of the run. */
static inline bool rt_steer_is_quick(const struct rt_thread *t)
{
	const struct rt_steered *d = rt_steered(t);

	return !d->leads && !d->anywhere && !d->sees_all && (!d->goal || d->n != d->goal->after);
}

/* Callbacks for accesses (struct rt_layer). rt_steer_goes_past() handles the usual case, a plain
 * access at which another thread cannot get the turn.  For other accesses, it does nothing and
 * returns false. */
bool rt_steer_goes_past(struct rt_thread *t, uint32_t site);
void rt_steer_access(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how);
void rt_steer_handle(struct rt_thread *t, uint32_t kind, uintptr_t object);
void rt_spin_touch(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how);
void rt_steer_emit(struct rt_thread *t);		  /* it is about to write to a stream */
void rt_steer_count(struct rt_thread *t, uint64_t count); /* counts accesses without points */
bool rt_steer_heeds(const struct rt_thread *t, uint32_t site);

/* Implementations that replace those of libc (rt/steer/cond.c, barrier.c). */
int rt_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct rt_until *until);
void rt_cond_notify(pthread_cond_t *cond, bool all);
void rt_barrier_init(struct rt_thread *t, uintptr_t barrier, uint32_t count, bool shared);
void rt_barrier_destroy(uintptr_t barrier);
struct rt_arrival rt_barrier_arrive(const pthread_barrier_t *barrier);
int rt_barrier_await(struct rt_op *op, const struct rt_arrival *arrival);

struct rt_step *rt_step_of(struct rt_op *op);

#endif
