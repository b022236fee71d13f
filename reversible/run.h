/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The skeleton of a run: its synchronisation operations, in the order in which they happened, and
 * what each one needs.  What lies between two operations of a thread is a segment: all that happens
 * in it is equally free to move, so the reversibility check asks about segments only.
 *
 * The operations of a thread count from 1, as in schedules (doc/format/schedule.md); segment n lies
 * behind operation n.  A state of the run is a number for each thread: the operations it has done.
 */
#ifndef REVERSIBLE_RUN_H
#define REVERSIBLE_RUN_H

#include "base/map.h"
#include "trace/event.h"

#define REV_NONE UINT32_MAX
#define REV_ENDLESS (1u << 30) /* as the value of a semaphore */

/* What an operation does, for the order. */
enum rev_kind {
	REV_FREE, /* needs nothing but the one before it: failed tries, detach, inner locks */
	REV_START,
	REV_END,
	REV_CREATE,
	REV_JOIN,
	REV_ACQUIRE,
	REV_RELEASE,
	REV_WAIT, /* releases its lock and begins to wait */
	REV_WAKE, /* acquires its lock again */
	REV_NOTIFY,
	REV_ENTER,
	REV_EXIT,
	REV_POST,
	REV_TAKE,
	REV_ONCE_RUN,
	REV_ONCE_DONE,
	REV_ONCE_PASS,
	REV_KINDS,
};

enum rev_flag {
	REV_SHARED = 1,	  /* of an acquisition: for reading */
	REV_TRY = 2,	  /* what comes of it depends on when it is done */
	REV_ALL = 4,	  /* of a notification: a broadcast */
	REV_ALONE = 8,	  /* of a wake: no notification is needed, the time was up */
	REV_PENDING = 16, /* of a lock: an acquisition that is never released */
};

struct rev_op {
	uint8_t kind;  /* enum rev_kind */
	uint8_t event; /* enum raddle_event */
	uint8_t flags; /* enum rev_flag */
	uint32_t thread, n;
	uint32_t object; /* of rev_run.objects; of create and join: the thread; REV_NONE */
	uint32_t lock;	 /* of acquire, release, wait, wake: of rev_run.objects; REV_NONE */
	uint32_t link;	 /* acquire, wake: the operation that releases; release, wait: the acquisition;
			  * enter, exit: the use of the barrier; REV_NONE */
	uint32_t pair;	 /* start: the creation; join: the end; once-pass: the end of the routine; wake: the
			  * wait; REV_NONE: it was not seen */
	uint32_t cause;	 /* wake: the notification that ended it in the run; REV_NONE */
	uint32_t site;	 /* where it was called; 0: unknown */
	uint32_t row;	 /* its clock: rev_order.h */
};

enum rev_class { REV_LOCK, REV_COND, REV_BARRIER, REV_SEM, REV_ONCE };

/* The operations of one thread on an object, by position in rev_run.ops. */
struct rev_list {
	uint32_t thread;
	uint32_t *at;
	size_t count, capacity;
};

/* A lock, condition variable, ... from one initialisation to the next. */
struct rev_object {
	uint64_t address;
	const char *name; /* canonical, of those that a report shows; else NULL */
	uint8_t class;	  /* enum rev_class */
	bool foreign;	  /* a library's own: nothing of the program depends on its order */
	bool known;	  /* whether it is was looked at */
	bool tried;	  /* it has operations with REV_TRY */
	bool signalled;	  /* of a condition: by a signal that is no broadcast */
	uint64_t value;	  /* initial: of a semaphore; threads of a barrier; 0: unknown */
	uint32_t done;	  /* once: the last end of the routine; REV_NONE */
	uint32_t current; /* barrier: the use that is being entered */
	/* By thread: locks: all acquisitions, and those for writing; conditions: notifications; semaphores:
	 * posts, and successful waits; barriers: entries. */
	struct rev_list *first, *second;
	size_t first_count, first_capacity, second_count, second_capacity;
};

/* One use of a barrier: those who entered. */
struct rev_use {
	uint32_t object;
	uint32_t *enters;
	size_t count, capacity, left;
};

struct rev_thread {
	uint32_t number; /* in the trace */
	uint32_t create; /* the operation that created it; REV_NONE */
	uint32_t end;	 /* its last operation; REV_NONE: it has none */
	bool ended;
	uint32_t *ops; /* operation n is at n - 1 */
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
	uint64_t odd;		 /* operations that contradict their primitive; they order nothing */
	struct rd_umap numbers;	 /* thread number -> index */
	struct rd_umap at;	 /* address -> object */
	struct rd_umap depth;	 /* (lock, thread) -> how often it is held; the acquisition */
	struct rd_umap waits;	 /* thread -> its wait that has begun */
	struct rd_umap inside;	 /* (barrier, thread) -> the use it is in */
	struct rev_order *order; /* rev_order.h */
};

void rev_run_init(struct rev_run *run);
void rev_run_release(struct rev_run *run);

/* The index of a thread; new ones are added. */
uint32_t rev_run_thread(struct rev_run *run, uint32_t number);

/* The next event of all threads.  Others than operations and initialisations are passed over.  Returns
 * whether it is an operation: then it begins a new segment of its thread. */
bool rev_run_event(struct rev_run *run, uint32_t thread, const struct trace_event *e, uint32_t site);

/* After the last event: ties up what was left open. */
void rev_run_finish(struct rev_run *run);

/* The object that lies at an address now; REV_NONE. */
uint32_t rev_run_find(const struct rev_run *run, uint64_t address);

static inline struct rev_op *rev_run_op(const struct rev_run *run, uint32_t thread, uint32_t n)
{
	return &run->ops[run->threads[thread].ops[n - 1]];
}

/* How many operations of the list are among the first `n` of its thread. */
size_t rev_list_until(const struct rev_run *run, const struct rev_list *list, uint32_t n);

/* The acquisition of the section of the lock that segment n of the thread is in; NULL: it does not hold it.
 */
const struct rev_op *rev_section(const struct rev_run *run, uint32_t lock, uint32_t thread, uint32_t n);

/* The part of a thread, or NULL. */
const struct rev_list *rev_list_of(const struct rev_list *lists, size_t count, uint32_t thread);

#endif
