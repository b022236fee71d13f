/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the operations of a trace to the events of an execution (exec.h).  This code does not depend
 * on the trace reader.
 *
 * The caller numbers objects and threads; an object that is initialised again gets a new number.
 * Each operation becomes the events that it consists of or, in a whole execution, exactly one
 * event.
 */
#ifndef ORDER_FILL_H
#define ORDER_FILL_H

#include "base/map.h"
#include "order/exec.h"
#include "raddle/event.h"

/* An operation as it is in a trace. */
struct order_op {
	uint32_t thread;
	uint32_t kind;	 /* enum raddle_event */
	uint8_t class;	 /* enum raddle_class of the object; THREAD: about threads */
	uint32_t object; /* EXEC_NONE: it has no object */
	uint32_t second; /* the mutex of a wait or wake; the created or joined thread; EXEC_NONE */
	uint64_t value;	 /* result, size of a barrier, value of a semaphore, ... */
};

/* A message through a channel is modelled as a once: the send runs it, and receivers pass it. */
struct order_message {
	uint32_t thread, once;
};

/* The state of an object. */
struct order_object {
	uint32_t number;    /* in its number space of the execution; EXEC_NONE: not numbered yet */
	uint32_t once_lock; /* the lock that represents running the initialiser */
	uint32_t once_done; /* the event at which it returned last */
	uint32_t size;	    /* of a barrier; 0: unknown */
	uint32_t instance;  /* the use of a barrier that is being entered; EXEC_NONE */
	uint32_t holder;    /* during look-ahead: 1 + the thread that holds the lock; 0: no thread does */
	uint32_t depth;	    /* and its recursion depth */
	bool handed;	    /* a lock that was released by another thread than its holder */
	bool shared;	    /* readers share it, or waits release it: it cannot be a semaphore */
	bool left;	    /* a thread ended while it held the lock */
	bool writers;	    /* a read-write lock that admits no reader while a writer waits */
	uint32_t gate; /* of such a lock: what a writer holds while it waits and while it writes; EXEC_NONE */
	uint32_t writer;		/* 1 + the thread that holds the gate; 0: no thread does */
	uint32_t first;			/* of a barrier: its first instance */
	uint32_t entered;		/* arrivals at `instance` so far */
	struct order_message *messages; /* of a channel: the latest of each thread that has sent */
	size_t message_count, message_capacity;
};

struct order_thread {
	uint32_t inside; /* the barrier instance it is in */
	uint32_t wait;	 /* the mutex that it released for a wait */
	uint32_t last;	 /* its latest event */
	bool timed;	 /* its wait has a time limit */
	bool created;
};

struct order_filler {
	struct exec *x;
	bool hung;    /* the program hung: a lock of a thread that ended stays locked, so that its holder is
			 known */
	bool handed;  /* some lock was released by another thread than its holder */
	uint64_t odd; /* operations that contradict their primitive; they order nothing */
	struct order_object *objects;
	struct order_thread *threads;
	size_t object_count, object_capacity, thread_count, thread_capacity;
	struct rd_umap depths;	 /* (thread, lock) to recursion depth */
	struct rd_umap passed;	 /* (thread, object) of once controls that the thread knows to have run */
	struct rd_umap received; /* (thread, once) of messages that the thread has received */
	uint32_t *robust;	 /* locks that will be taken over from a dead thread */
	size_t robust_count, robust_capacity;
};

void order_filler_init(struct order_filler *f, struct exec *x);
void order_filler_release(struct order_filler *f);

/* Announces that the lock will be taken over from a dead thread (EOWNERDEAD).  The dead thread
 * releases it by ending. */
void order_fill_robust(struct order_filler *f, uint32_t object);

/* Call this for all operations, in the order in which they happened, before the first
 * order_fill().  It finds locks that another thread than their holder releases, and locks whose
 * holder ends.  Such a lock is treated as a semaphore with initial value 1.  A mutex that is used
 * with a condition, or a lock that readers share, is never a semaphore. */
void order_fill_look_ahead(struct order_filler *f, const struct order_op *op);

/* Appends the events of the next operation, in the order of all threads. */
void order_fill(struct order_filler *f, const struct order_op *op);

/* For an unfinished operation: if it waits for something, appends that as EXEC_PENDING. */
void order_fill_pending(struct order_filler *f, const struct order_op *op);

/* The state of an object; valid until the next operation. */
struct order_object *order_fill_object(struct order_filler *f, uint32_t object);

/* The effect of an operation on locks: 1 if it has acquired its object, -1 if it is about to
 * release it, 0 otherwise.  Waits are included, because they release and acquire their mutex.  So
 * is running the initialiser of a once control. */
int order_lock_change(uint32_t kind, uint64_t value, bool *shared);

#endif
