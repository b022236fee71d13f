/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The skeleton of a run: its synchronisation operations in the order in which they happened, and
 * the operations that each of them needs.  A segment is what a thread does between two of its
 * operations.  If one event of a segment can be reordered with another event, so can all events of
 * the segment.  So the reversibility check considers only segments.
 *
 * The operations of a thread are numbered from 1, as in schedules (doc/format/schedule.md);
 * segment n follows operation n.  A state of the run consists of one number for each thread: how
 * many operations it has done.
 */
#ifndef REVERSIBLE_RUN_H
#define REVERSIBLE_RUN_H

#include "base/map.h"
#include "order/fill.h"
#include "order/slots.h"
#include "trace/event.h"

#define REV_NONE UINT32_MAX

enum rev_flag {
	REV_SHARED = 1, /* an acquisition for reading */
	REV_TRY = 2,	/* an operation whose result depends on when it is done */
	REV_ALONE = 4,	/* a wake without a notification: it was spurious, or the wait timed out */
};

/* An operation.  The event with the same index in the execution represents it. */
struct rev_op {
	uint8_t kind;  /* enum exec_kind */
	uint8_t event; /* enum raddle_event */
	uint8_t flags; /* enum rev_flag */
	uint32_t thread, n;
	/* The index in rev_run.objects.  For create and join, the index of the thread.  REV_NONE if
	 * there is none. */
	uint32_t object;
	/* For an operation that begins or ends a section, the index of the lock in rev_run.objects.
	 * Otherwise REV_NONE. */
	uint32_t lock;
	/* For the beginning of a section, the operation that ends it.  For the end of a section,
	 * the operation that begins it.  For the entry or exit of a barrier, the use of the
	 * barrier.  Otherwise REV_NONE. */
	uint32_t link;
	/* The operation that this operation follows: for the start of a thread, its creation; for
	 * a join, the end of the thread; for a once, the end of the routine; for a wake, the
	 * wait.  REV_NONE if it was not recorded. */
	uint32_t pair;
	uint32_t cause; /* for a wake: the notification that ended it in the run; else REV_NONE */
	uint32_t site;	/* site of the call; 0 if unknown */
	/* How many of the thread's operations, up to and including this one, are counted by
	 * schedules. */
	uint32_t counted;
	uint32_t bytes; /* for a channel: number of bytes that were moved; 0 if unknown */
};

/* Returns true if the event is an operation of the skeleton.  Schedules count these operations,
 * except operations on channels, which the kernel orders. */
static inline bool rev_is_operation(uint32_t event)
{
	return raddle_is_counted(event) || raddle_class(event) == RADDLE_CLASS_CHANNEL;
}

/* Returns true if the operation begins a section, provided that it has a lock. */
static inline bool rev_begins(const struct rev_op *op)
{
	return exec_acquires(op->kind) || op->kind == EXEC_WAKE;
}
/* Returns true if the operation ends a section, provided that it has a lock. */
static inline bool rev_ends(const struct rev_op *op)
{
	return op->kind == EXEC_UNLOCK || op->kind == EXEC_WAIT;
}

static inline bool rev_notifies(const struct rev_op *op)
{
	return op->kind == EXEC_SIGNAL || op->kind == EXEC_BROADCAST;
}

/* Returns true if the operation needs the operation in `pair`, provided that there is one. */
static inline bool rev_follows_pair(const struct rev_op *op)
{
	return op->kind == EXEC_BEGIN || op->kind == EXEC_JOIN || op->kind == EXEC_ONCE_PASS ||
	       op->kind == EXEC_ONCE_BEGIN;
}

enum rev_class { REV_LOCK, REV_COND, REV_BARRIER, REV_SEM, REV_ONCE };

/* A lock, condition variable or other object.  It exists from one initialisation to the next. */
struct rev_object {
	uint64_t address;
	const char *name; /* canonical name, if a report shows it; else NULL */
	uint8_t class;	  /* enum rev_class */
	/* True if the object is used only inside a library, and nothing in the program depends on
	 * the order of its uses. */
	bool foreign;
	bool known; /* true if `foreign` has been determined */
	bool tried; /* true if it has operations with REV_TRY */
	/* For a condition: true if some notification is a signal, not a broadcast. */
	bool signalled;
	/* True for a semaphore that represents a channel (reversible/channel-int.h). */
	bool channel;
	bool used; /* for a channel: true if this process receives from it */
	/* Initial value of a semaphore, or number of threads of a barrier; 0 if unknown. */
	uint64_t value;
};

/* One use of a barrier, with the entries of the threads that used it together. */
struct rev_use {
	uint32_t *enters;
	size_t count, capacity;
};

struct rev_thread {
	uint32_t number; /* number of the thread in the trace */
	uint32_t create; /* the operation that created the thread; REV_NONE if not recorded */
	uint32_t wait;	 /* the wait that the thread is in; REV_NONE if it does not wait */
	uint32_t *ops;	 /* operation n of the thread is ops[n - 1] */
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
	/* The number of operations that contradict the rules of their primitives.  Such operations
	 * order nothing. */
	uint64_t odd;
	struct rd_umap numbers; /* maps the number of a thread to its index */
	struct rd_umap at;	/* maps an address to its object */
	struct exec x;		/* whole (order/exec.h): one event for each operation */
	struct order_filler filler;
	struct sections sections;
	/* For each operation, the list of sections that its thread is in afterwards. */
	uint32_t *held;
	size_t held_capacity;
	/* The operations of each object and thread: all acquisitions, exclusive acquisitions,
	 * notifications, posts and successful waits of semaphores, and entries of barriers. */
	struct slots acquires, exclusive, notes, posts, takes, enters;
	struct rev_order *order; /* the clocks (reversible/order.h) */
};

void rev_run_init(struct rev_run *run);
void rev_run_release(struct rev_run *run);

/* Returns the index of a thread, and adds the thread if it is new. */
uint32_t rev_run_thread(struct rev_run *run, uint32_t number);

/* Processes the next event in the order of the run.  Events other than operations and
 * initialisations are ignored.  Returns true if the event is an operation, which begins a new
 * segment of its thread. */
bool rev_run_event(struct rev_run *run, uint32_t thread, const struct trace_event *e, uint32_t site);

/* Completes the tables.  Call this after the last event. */
void rev_run_finish(struct rev_run *run);

/* Makes the initial value of a semaphore unlimited. */
void rev_run_endless(struct rev_run *run, uint32_t object);

/* Returns the object that is now at an address, or REV_NONE if there is none. */
uint32_t rev_run_find(const struct rev_run *run, uint64_t address);

static inline struct rev_op *rev_run_op(const struct rev_run *run, uint32_t thread, uint32_t n)
{
	return &run->ops[run->threads[thread].ops[n - 1]];
}

/* Returns how many operations the thread has done when it is in segment n.  As in schedules,
 * operations on channels are not counted. */
static inline uint32_t rev_counted(const struct rev_run *run, uint32_t thread, uint32_t n)
{
	return n ? rev_run_op(run, thread, n)->counted : 0;
}

/* If segment n of the thread is in a section of `lock`, returns the acquisition that began the
 * section.  Returns NULL if the thread does not hold the lock there. */
const struct rev_op *rev_section(const struct rev_run *run, uint32_t lock, uint32_t thread, uint32_t n);

/* Returns the acquisitions that can exclude this one. */
static inline const struct slots *rev_rivals(const struct rev_run *run, const struct rev_op *acquire)
{
	return acquire->flags & REV_SHARED ? &run->exclusive : &run->acquires;
}

#endif
