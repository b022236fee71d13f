/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An execution in memory, from which prediction starts.
 *
 * It is one sequence of events in an order in which they really happened.  An event consists of its
 * kind, the thread that did it, the object on which it acted, and the code site.  Objects are
 * numbered from 0 in separate spaces: variables, locks (mutexes and read-write locks together),
 * condition variables, semaphores, barrier instances, once controls, threads.  The filler is the
 * code that builds the execution, from a recorded trace, STD text or a test.  It assigns these
 * numbers.
 *
 * Conventions that the filler keeps:
 * - An acquisition is logged when it has succeeded.  Successful try and timed acquisitions carry
 *   EXEC_TRY; a failed one is EXEC_BUSY (aux: EXEC_RDLOCK if it was for reading).  With sound
 *   semantics a failed acquisition stays within the section of the holder that made it fail;
 *   speculative semantics let it fail at any time.
 * - pthread_cond_wait is three events: EXEC_WAIT (object: condition, aux: mutex; releases the mutex
 *   and starts waiting, in one step), EXEC_WAKE (object: condition, aux: index of the signal or
 *   broadcast that woke it, EXEC_NONE for a spurious or timed end, EXEC_MATCH to let
 *   exec_match_signals() find it), and EXEC_LOCK of the mutex.
 * - Each use of a barrier is a separate object (a barrier instance).  EXEC_ENTER may name the first
 *   instance of the same barrier in aux.
 * - A once control is also a lock.  A thread that runs the initialiser has EXEC_WRLOCK when it
 *   begins, and EXEC_UNLOCK and EXEC_ONCE_RUN when the initialiser has returned.  A thread that may
 *   have to wait for the initialiser has EXEC_RDLOCK, EXEC_UNLOCK, EXEC_ONCE_PASS.
 * - EXEC_PART marks events that are not separate operations.  Either another event of the same
 *   operation follows directly and represents the operation in plans, or nothing can stop the
 *   thread there (as at the check of a C++ guard).
 * - A plain variable is one granule.  The filler splits overlapping accesses of different sizes.
 *   Atomic accesses carry EXEC_ATOMIC, and a read-modify-write is EXEC_UPDATE.  EXEC_SYNC means
 *   release (or stronger) on an atomic write and acquire (or stronger) on an atomic read.
 * - EXEC_LOOP marks a read of the predicate of a wait loop.  It must read from the same write as in
 *   the recorded run, so that no prediction assumes a wait that never happened.
 * - EXEC_UNSURE marks an access during which another thread may have written the variable, as far
 *   as the recording shows.  It is unknown what the thread read.  So with sound semantics, the
 *   access may be the next event of its thread, but nothing happens after it.  Where accesses were
 *   left out of a trace, every event is marked.
 * - In a *whole* execution each operation of the trace is one event.  EXEC_FREE orders nothing.
 *   EXEC_WAKE acquires the mutex of its wait again.  Its aux is a notification that may have ended
 *   the wait; other notifications may have done so, too.  EXEC_NONE means that no notification is
 *   needed.  EXEC_WAIT without a mutex has EXEC_NONE in aux.  In EXEC_JOIN, EXEC_ONCE_BEGIN and
 *   EXEC_ONCE_PASS, aux is the event that they follow, or EXEC_NONE.
 * - EXEC_PENDING marks an operation that had not succeeded when recording ended, because the
 *   program hung there.  It is the last event of its thread.
 */
#ifndef ORDER_EXEC_H
#define ORDER_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum exec_kind {
	EXEC_READ,
	EXEC_WRITE,
	EXEC_UPDATE, /* atomic read-modify-write */
	EXEC_LOCK,   /* of a mutex */
	EXEC_RDLOCK,
	EXEC_WRLOCK,
	EXEC_UNLOCK, /* of a mutex or read-write lock */
	EXEC_FORK,   /* creates the thread `object` */
	EXEC_BEGIN,
	EXEC_END,
	EXEC_JOIN, /* joins the thread `object`, which has ended */
	EXEC_WAIT,
	EXEC_WAKE,
	EXEC_SIGNAL,
	EXEC_BROADCAST,
	EXEC_ENTER, /* enters the barrier instance `object` */
	EXEC_EXIT,
	EXEC_POST,
	EXEC_TAKE,	 /* sem_wait has succeeded */
	EXEC_ONCE_RUN,	 /* the initialiser of a once control has returned */
	EXEC_ONCE_PASS,	 /* pthread_once has returned without running the initialiser */
	EXEC_BUSY,	 /* a try or timed acquisition has failed: another thread held the lock */
	EXEC_FREE,	 /* in a whole execution: an operation that orders nothing */
	EXEC_ONCE_BEGIN, /* in a whole execution: pthread_once begins to run the initialiser */
	EXEC_KINDS
};

enum exec_flag {
	EXEC_TRY = 1, /* a try or timed acquisition: it may succeed, but it never blocks forever */
	EXEC_PENDING = 2,
	EXEC_ATOMIC = 4,
	EXEC_SYNC = 8,
	EXEC_LOOP = 16, /* a read that decides a wait loop: it always returns the recorded write */
	/* The event represents the initial state.  It is among the first events of a thread in a
	 * window. */
	EXEC_INITIAL = 32,
	EXEC_PART = 64, /* part of the operation of the next event */
	EXEC_UNSURE = 128,
};

#define EXEC_NONE UINT32_MAX
#define EXEC_MATCH (UINT32_MAX - 1)
#define EXEC_ENDLESS (1u << 30) /* value of a semaphore that never runs out */

struct exec_event {
	uint8_t kind;
	uint8_t flags;
	uint16_t thread;
	uint32_t object;
	uint32_t site;
	uint32_t aux;
};

struct exec {
	struct exec_event *events;
	size_t count, capacity;
	/* For each event, its index in the trace.  NULL if these indices are the same as those in
	 * `events`. */
	uint64_t *positions;
	uint32_t threads, variables, locks, conds, sems, barriers, onces;
	/* The initial values of the first sem_initial_count semaphores.  The others start at 0. */
	uint32_t *sem_initial;
	uint32_t sem_initial_count;
	bool whole;  /* each operation is one event, and a wake takes any notification */
	bool unsure; /* an EXEC_UNSURE event precedes the first event (in windows) */
};

void exec_init(struct exec *x);
void exec_release(struct exec *x);

/* Appends an event and updates the number of objects. */
struct exec_event *exec_add(struct exec *x, enum exec_kind kind, uint32_t thread, uint32_t object);

/* Sets the initial value of a semaphore; the default is 0. */
void exec_sem_init(struct exec *x, uint32_t sem, uint32_t value);

/* Finds, for each wake with EXEC_MATCH, the signal that caused it. */
void exec_match_signals(struct exec *x);

/* Checks that locks and other synchronisation objects allow this sequence of events.  Returns the
 * index of the first impossible event and sets *why to the reason.  Returns EXEC_NONE if all
 * events are possible. */
uint32_t exec_check(const struct exec *x, const char **why);

/* Returns a thread that holds the lock after the last event, or EXEC_NONE if no thread does. */
uint32_t exec_holder(const struct exec *x, uint32_t lock);

static inline uint32_t exec_sem_initial(const struct exec *x, uint32_t sem)
{
	return sem < x->sem_initial_count ? x->sem_initial[sem] : 0;
}

static inline bool exec_is_access(uint8_t kind)
{
	return kind <= EXEC_UPDATE;
}
static inline bool exec_reads(uint8_t kind)
{
	return kind == EXEC_READ || kind == EXEC_UPDATE;
}
static inline bool exec_writes(uint8_t kind)
{
	return kind == EXEC_WRITE || kind == EXEC_UPDATE;
}
static inline bool exec_acquires(uint8_t kind)
{
	return kind >= EXEC_LOCK && kind <= EXEC_WRLOCK;
}

/* Returns true if two accesses of different threads to one variable may race. */
static inline bool exec_conflict(const struct exec_event *a, const struct exec_event *b)
{
	return (exec_writes(a->kind) || exec_writes(b->kind)) && !(a->flags & b->flags & EXEC_ATOMIC);
}

#endif
