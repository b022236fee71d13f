/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steering: controls what the threads of a replayed process do (raddle/steer.h).  The other layers
 * do not call it; it is notified through its table, rt/steer/layer.c, and this header is for its
 * own files.
 *
 * An operation (rt/core/layer.h) is a step.  It is counted when it begins, passes the gate before
 * it takes effect, and ends when it has taken effect and its record is written; then it is the
 * turn of the next step.  A step that is left by cancellation or an exception is not counted.
 *
 * A thread waits with no lock of the runtime held and the encoder free, and errno is preserved.  A
 * signal handler may run meanwhile and make steps of its own.  After a fork the child is not
 * steered.
 */
#ifndef RT_STEER_H
#define RT_STEER_H

#include "raddle/steer.h"
#include "rt/core/layer.h"
#include "rt/steer/set.h"

/* Where a thread sleeps. */
struct rt_sleeping_place {
	_Alignas(64) _Atomic uint32_t word;
	_Atomic uint32_t asleep;
};

#define RT_WATCH_BITS 4096 /* in the filter of sites: with 64 watches, 1 in 64 other sites passes it */

/* The state of turn.c.  The lock protects it, except for `sites`, `low` and `high`, which change
 * only while no thread runs. */
struct rt_turns {
	struct rt_set ready;	  /* threads that are runnable, apart from the turn */
	struct rt_set waiting;	  /* threads whose slots have `since` */
	_Atomic uint32_t settled; /* threads that have reached their first stop, or have ended */
	uint64_t random, seeded;
	uint64_t lowest;	  /* the priority of the thread that was deferred last */
	uint32_t ranked;	  /* slots that have got a priority from PCT */
	bool begun[RADDLE_SLOTS]; /* threads of the plan, for the strategy that weighs them */
	/* For the strategy by kinds: the function that threads run, and the first thread that runs
	 * it. */
	struct rt_turn_kind {
		uintptr_t start;
		uint32_t first;
	} kinds[RADDLE_SLOTS];
	uint64_t waits;			    /* that have begun */
	bool front_waits;		    /* the thread that runs first has begun to wait in a loop */
	uint64_t points;		    /* that threads have reached */
	uint64_t news;			    /* how often a thread has seen or done something new */
	uint64_t low, high;		    /* around all watched addresses */
	uint64_t sites[RT_WATCH_BITS / 64]; /* watched ones, by their lowest bits */
	uint32_t watches;		    /* the number of watches that these were made from */
	bool any_site;			    /* a watch names neither a site nor an address */
	/* The thread that had the turn at the last check, and since when. */
	_Atomic uint32_t looking;
	uint32_t looked_at;
	uint64_t choices, accesses, cpu, still_cpu, still_since;
};

#define RT_SPIN_ENTRIES 32 /* accesses of a round; a longer one is not certified as a spin */

/* What a thread has accessed since its last operation (rt/steer/spin.c). */
struct rt_spin {
	struct rt_spin_entry {
		uintptr_t address;
		uint64_t value; /* at the last visit, if `visited` */
		uint32_t site, size;
		bool visited;
	} entries[RT_SPIN_ENTRIES];
	uint32_t count;
	uint32_t steady; /* accesses in a row that showed nothing new */
	uint32_t yields; /* meanwhile */
	bool notified;	 /* the certificate is written, but not complete */
};

/* A thread that runs on the kernel thread of the initial thread (rt/steer/context.c). */
struct rt_context {
	void *sp;		/* while it does not run: the stack pointer, */
	uint64_t fs;		/* and the base of its TLS */
	_Atomic uint32_t alive; /* it still has its own kernel thread; cleared by the kernel */
	uint64_t mask;		/* its blocked signals, if the program is interruptible (rt.h) */
	bool masked;		/* `mask` is set */
	bool blocked;		/* the runtime has blocked all signals: the thread begins or ends */
	void *tid;		/* where glibc expects the kernel to clear the ID when the thread ends */
};

/* The process. */
struct rt_steering {
	struct raddle_steer *memory;	  /* that the replayer shares with us */
	struct rt_sleeping_place *places; /* by position in the table of threads */
	struct rt_sleeping_place *own;	  /* by slot, if threads take turns */
	uint32_t *owners;		  /* by turn: the position of the thread whose turn it is */
	_Atomic uint32_t *slots; /* by position in the table of threads: slot + 1; 0: not known yet */
	struct rt_context *contexts[RADDLE_SLOTS]; /* NULL: it has none, or has left */
	struct rt_context idle, *leaving;
	bool keeps_masks;     /* each context has its own set of blocked signals */
	uint64_t common_mask; /* blocked signals of all contexts that are not `blocked`, if the program is
			       * not interruptible */
	_Atomic uint32_t sleepers;
	struct rt_sleeping_place common; /* of threads that no plan leads */
	/* By goal, protected by the lock: whether a thread is stopped there; how many threads
	 * passed without waiting since the last one waited in vain; and how many shall pass. */
	bool waits_at[RADDLE_STEER_GOALS];
	uint64_t passed[RADDLE_STEER_GOALS], gap[RADDLE_STEER_GOALS];
	_Atomic uint64_t patience_ns; /* time for which threads have waited for rare accesses of others */
	struct rt_turns turns;
	pthread_mutex_t waiters_mutex; /* rt/steer/cond.c; zero is unlocked */
	struct rt_waiter *waiters;
	struct rt_barrier *barriers; /* rt/steer/barrier.c */
};

/* A failed attempt to take a lock. */
struct rt_refused {
	uintptr_t object;
	uint32_t kind, site; /* kind 0: no attempt failed */
};

/* The layer's state of a thread. */
struct rt_steered {
	struct rt_context context;
	struct raddle_slot *slot;		/* NULL: it has none */
	const struct raddle_steer_thread *plan; /* NULL: the plan does not name it, or is over */
	const struct raddle_steer_goal *goal;	/* NULL: none, or it has been there */
	struct rt_sleeping_place *place;	/* where it sleeps */
	uint64_t n;				/* operations begun */
	uint64_t seen;				/* records of the goal's site */
	uint32_t op;				/* the next one of the plan */
	uint32_t listed;			/* entries of slot->held in use */
	bool stopped;				/* it has reached its stop */
	bool keeps;				/* it is at the access that another one waits for */
	bool leads;				/* it has left its goal, but has not made its access yet */
	bool anywhere;				/* no thread follows a plan: it may stop at any goal */
	bool sees_all;				/* each of its accesses is examined */
	bool settled;				/* it has reached its first stop */
	uint32_t looks;				/* accesses since its last point */
	uint64_t touches;			/* where its last watched access was */
	uint64_t stopped_n, stopped_at;		/* bits of watches that it stopped at after that operation */
	uint64_t point_n;			/* the operation that its last point was after */
	uint32_t points[RADDLE_POINTS];		/* after that operation, by kind */
	uint32_t depth[RADDLE_SLOT_HELD];	/* how often each lock is held */
	struct rt_spin spin;
	struct rt_refused refused; /* the last one, until the thread gets that lock */
};

/* A step, as the operation carries it. */
struct rt_step {
	struct rt_thread *t; /* NULL: it has ended */
	uint64_t n;
	uint32_t kind;
	uint32_t turn; /* its place in the plan, from 1; 0: the plan does not name it */
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

/* rt/steer/steer.c.  setup(): before the first thread begins; false: this process is not
 * steered. */
bool rt_steer_setup(void);
void rt_steer_give_up(void);

/* A thread.  begin() is called before its first step. */
void rt_steer_begin(struct rt_thread *t);
void rt_steer_end(struct rt_thread *t);	 /* after its last */
void rt_steer_exit(struct rt_thread *t); /* it is about to end the process */

void rt_step_begin(struct rt_step *step, struct rt_thread *t, uint32_t kind, uint64_t object);
void rt_step_gate(struct rt_step *step);
void rt_step_is(struct rt_step *step, uint32_t kind); /* it turned out to be of this kind */
void rt_step_end(struct rt_step *step);
void rt_step_leave(struct rt_step *step);

/* block(): the thread waits in the step, for `object`.  unblock(): it has what it waited for.  If
 * it runs a signal handler or the unwinder meanwhile, the steps of these precede this one in its
 * trace and in the numbering. */
void rt_step_block(struct rt_step *step, uint64_t object, bool timed);
void rt_step_unblock(struct rt_step *step);

/* Whether only one thread runs at a time (rt/steer/turn.c): no thread waits in the kernel then. */
static inline bool rt_takes_turns(void)
{
	return rt_steer()->flags & RADDLE_STEER_TURNS;
}

/* Whether all threads run on one kernel thread. */
static inline bool rt_steer_has_one(void)
{
	return rt_steer()->flags & RADDLE_STEER_ONE;
}

static inline bool rt_step_takes_turns(const struct rt_step *step)
{
	return step->t && rt_steered(step->t)->slot && rt_takes_turns();
}

/* Called between block and unblock instead of a real wait: lets others run.  When it returns, the
 * thread must check whether it can continue.  False: the time is up. */
bool rt_turn_wait(struct rt_step *step, const struct rt_until *until);

/* The thread lets others run; false: none can run, so the thread must really wait. */
bool rt_turn_yield(struct rt_thread *t);

/* The thread waits for something from outside; others run meanwhile. */
enum rt_idle rt_turn_idle(struct rt_thread *t, bool timed);
bool rt_turn_sleep(struct rt_thread *t); /* until no thread can continue; false: there are no turns */

/* released(): threads that wait for the object may check again.  ready(): this thread may check
 * again. */
void rt_turn_released(uint64_t object);
void rt_turn_ready(const struct rt_thread *t);
void rt_turn_cancelled(uint32_t number);

/* The position of a step in the plan; later steps have larger ones.  Used to choose among
 * waiters. */
uint64_t rt_step_rank(const struct rt_step *step);

/* Called when the thread is stopped or blocked in the step: if this is its stop, it has reached
 * it. */
void rt_step_reached(const struct rt_step *step);

/* Locks that a thread holds, by the kind of operation. */
void rt_acquired(struct rt_thread *t, uint32_t kind, uintptr_t object, uint64_t result);
struct rt_lost {
	uint32_t own;		   /* its place in the thread's list, or */
	_Atomic uint64_t *foreign; /* in another thread's */
};
struct rt_lost rt_releasing(struct rt_thread *t, uintptr_t object);
bool rt_is_read_lock(const struct rt_thread *t, const struct rt_lost *lost);
void rt_released(struct rt_thread *t, const struct rt_lost *lost, uint64_t result);
void rt_leave_locks(struct rt_thread *t); /* it is about to end */

/* Whether the object is a robust mutex whose owner has ended: the kernel is about to release
 * it. */
bool rt_comes_back(uint32_t kind, uintptr_t object);

/* Whether the thread cannot stop at any access before its next operation, because its goal is
 * elsewhere. */
static inline bool rt_steer_is_quick(const struct rt_thread *t)
{
	const struct rt_steered *d = rt_steered(t);

	return !d->leads && !d->anywhere && !d->sees_all && (!d->goal || d->n != d->goal->after);
}

/* Accesses, as struct rt_layer has them. */
void rt_steer_access(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how);
void rt_steer_handle(struct rt_thread *t, uint32_t kind, uintptr_t object);
void rt_spin_touch(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site);
void rt_steer_emit(struct rt_thread *t);		  /* it is about to write to a stream */
void rt_steer_count(struct rt_thread *t, uint64_t count); /* accesses at which it never stops */
bool rt_steer_heeds(const struct rt_thread *t, uint32_t site);

/* What is done in place of libc: rt/steer/cond.c, barrier.c. */
int rt_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct rt_until *until);
void rt_cond_notify(pthread_cond_t *cond, bool all);
void rt_barrier_init(struct rt_thread *t, uintptr_t barrier, uint32_t count, bool shared);
void rt_barrier_destroy(uintptr_t barrier);
struct rt_arrival rt_barrier_arrive(const pthread_barrier_t *barrier);
int rt_barrier_await(struct rt_op *op, const struct rt_arrival *arrival);

/* The step of an operation. */
struct rt_step *rt_step_of(struct rt_op *op);

#endif
