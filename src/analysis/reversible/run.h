/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The skeleton of a run: its synchronisation operations, in the order in which they happened, and
 * what each one needs.  A segment is what lies between two operations of a thread.  All events of a
 * segment can be reordered to the same extent, so the reversibility check considers only segments.
 *
 * The operations of a thread are numbered from 1, as in schedules (doc/format/schedule.md); segment
 * n follows operation n.  A state of the run consists of one number for each thread: how many
 * operations it has done.
 */
#ifndef REVERSIBLE_RUN_H
#define REVERSIBLE_RUN_H

#include "base/map.h"
#include "order/fill.h"
#include "order/slots.h"
#include "trace/event.h"

#define REV_NONE UINT32_MAX

enum rev_flag {
	REV_SHARED = 1, /* of an acquisition: for reading */
	REV_TRY = 2,	/* its result depends on when it is done */
	REV_ALONE = 4,	/* of a wake: it needs no notification; it was spurious, or the time was up */
};

/* An operation; it is the event of the execution with the same position. */
struct rev_op {
	uint8_t kind;  /* enum exec_kind */
	uint8_t event; /* enum raddle_event */
	uint8_t flags; /* enum rev_flag */
	uint32_t thread, n;
	uint32_t object;  /* of rev_run.objects; of create and join: the thread; REV_NONE */
	uint32_t lock;	  /* of what begins or ends a section: of rev_run.objects; REV_NONE */
	uint32_t link;	  /* beginning of a section: its end; end: its beginning;
			   * enter, exit: the use of the barrier; REV_NONE */
	uint32_t pair;	  /* start: the creation; join: the end; once: the end of the routine; wake: the
			   * wait; REV_NONE: not recorded */
	uint32_t cause;	  /* wake: the notification that ended it in the run; REV_NONE */
	uint32_t site;	  /* where it was called; 0: unknown */
	uint32_t counted; /* operations of the thread up to this one that schedules count */
	uint32_t bytes;	  /* of a channel: how many were moved; 0: unknown */
};

/* Schedules do not count channel operations, because the kernel orders them. */
static inline bool rev_is_operation(uint32_t event)
{
	return raddle_is_counted(event) || raddle_class(event) == RADDLE_CLASS_CHANNEL;
}

/* Whether it begins a section, if it has a lock; whether it ends one. */
static inline bool rev_begins(const struct rev_op *op)
{
	return exec_acquires(op->kind) || op->kind == EXEC_WAKE;
}
static inline bool rev_ends(const struct rev_op *op)
{
	return op->kind == EXEC_UNLOCK || op->kind == EXEC_WAIT;
}

static inline bool rev_notifies(const struct rev_op *op)
{
	return op->kind == EXEC_SIGNAL || op->kind == EXEC_BROADCAST;
}

/* Whether it needs the operation in `pair`, if there is one. */
static inline bool rev_follows_pair(const struct rev_op *op)
{
	return op->kind == EXEC_BEGIN || op->kind == EXEC_JOIN || op->kind == EXEC_ONCE_PASS ||
	       op->kind == EXEC_ONCE_BEGIN;
}

enum rev_class { REV_LOCK, REV_COND, REV_BARRIER, REV_SEM, REV_ONCE };

/* A lock, condition variable, ... from one initialisation to the next. */
struct rev_object {
	uint64_t address;
	const char *name; /* canonical, of those that a report shows; else NULL */
	uint8_t class;	  /* enum rev_class */
	bool foreign;	  /* a library's own: nothing in the program depends on its order */
	bool known;	  /* `foreign` has been determined */
	bool tried;	  /* it has operations with REV_TRY */
	bool signalled;	  /* of a condition: by a signal, not only by broadcasts */
	bool channel;	  /* a semaphore that represents a channel (reversible/channel-int.h) */
	bool used;	  /* of a channel: this process receives from it */
	uint64_t value;	  /* initial: of a semaphore; threads of a barrier; 0: unknown */
};

/* One use of a barrier: the threads that entered. */
struct rev_use {
	uint32_t *enters;
	size_t count, capacity;
};

struct rev_thread {
	uint32_t number; /* in the trace */
	uint32_t create; /* the operation that created it; REV_NONE */
	uint32_t wait;	 /* the wait that it is in; REV_NONE */
	uint32_t *ops;	 /* operation n is at n - 1 */
	size_t count, capacity;
};

struct rev_run {
	struct rev_op *ops;
	struct rev_thread *threads;
	struct rev_object *objects;
	struct rev_use *uses;
	size_t op_count, op_capacity;
	size_t thread_count, thread_capacity;
	size_t object_count, object_capacity;
	size_t use_count, use_capacity;
	uint64_t odd;		/* operations that contradict their primitive; they order nothing */
	struct rd_umap numbers; /* thread number -> index */
	struct rd_umap at;	/* address -> object */
	struct exec x;		/* whole: an event for each operation */
	struct order_filler filler;
	struct sections sections;
	uint32_t *held; /* by operation: the holds of `sections` that its thread has after it */
	size_t held_capacity;
	/* Operations by object and thread: acquisitions, all and those for writing; notifications;
	 * posts and successful waits; entries of barriers. */
	struct slots acquires, exclusive, notes, posts, takes, enters;
	struct rev_order *order; /* reversible/order.h */
};

void rev_run_init(struct rev_run *run);
void rev_run_release(struct rev_run *run);

/* The index of a thread; new ones are added. */
uint32_t rev_run_thread(struct rev_run *run, uint32_t number);

/* Processes the next event of all threads.  Events other than operations and initialisations are
 * ignored.  Returns whether it is an operation: then it begins a new segment of its thread. */
bool rev_run_event(struct rev_run *run, uint32_t thread, const struct trace_event *e, uint32_t site);

/* To be called after the last event: completes the tables. */
void rev_run_finish(struct rev_run *run);

/* Makes the initial value of a semaphore unlimited. */
void rev_run_endless(struct rev_run *run, uint32_t object);

/* The object at an address now; REV_NONE. */
uint32_t rev_run_find(const struct rev_run *run, uint64_t address);

static inline struct rev_op *rev_run_op(const struct rev_run *run, uint32_t thread, uint32_t n)
{
	return &run->ops[run->threads[thread].ops[n - 1]];
}

/* How many operations counted by schedules the thread has done in segment n. */
static inline uint32_t rev_counted(const struct rev_run *run, uint32_t thread, uint32_t n)
{
	return n ? rev_run_op(run, thread, n)->counted : 0;
}

/* The acquisition of the lock's section that segment n of the thread is in; NULL: the thread does
 * not hold it. */
const struct rev_op *rev_section(const struct rev_run *run, uint32_t lock, uint32_t thread, uint32_t n);

/* Other acquisitions that can exclude this one. */
static inline const struct slots *rev_rivals(const struct rev_run *run, const struct rev_op *acquire)
{
	return acquire->flags & REV_SHARED ? &run->exclusive : &run->acquires;
}

#endif
