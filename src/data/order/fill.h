/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translates the operations of a trace into the events of an execution (exec.h).  This code does
 * not depend on the trace reader.
 *
 * The caller numbers objects and threads.  An object that is initialised again gets a new number.
 * An operation becomes one event or several.  In a whole execution (struct exec), it always
 * becomes exactly one event.
 */
#ifndef ORDER_FILL_H
#define ORDER_FILL_H

#include "base/map.h"
#include "order/exec.h"
#include "raddle/event.h"

/* An operation as recorded in a trace. */
struct order_op {
	uint32_t thread;
	uint32_t kind; /* enum raddle_event */
	/* The class of the object (enum raddle_class), or RADDLE_CLASS_THREAD for operations on
	 * threads. */
	uint8_t class;
	uint32_t object; /* EXEC_NONE if it has no object */
	/* The mutex of a wait or wake, or the created or joined thread.  Otherwise EXEC_NONE. */
	uint32_t second;
	/* The meaning depends on the kind, for example a result, the size of a barrier or the value
	 * of a semaphore. */
	uint64_t value;
};

/* A message through a channel.  It is modelled as a once control: the send runs the initialiser,
 * and each receive passes the control. */
struct order_message {
	uint32_t thread, once;
};

/* The state of an object. */
struct order_object {
	/* The number of the object among the objects of its kind in the execution, or EXEC_NONE if
	 * it has no number yet. */
	uint32_t number;
	uint32_t once_lock; /* the lock that is held while the initialiser runs */
	uint32_t once_done; /* the event at which the initialiser last returned */
	uint32_t size;	    /* number of threads of a barrier; 0 if unknown */
	/* The barrier instance that is being entered, or EXEC_NONE if there is none. */
	uint32_t instance;
	/* During look-ahead, 1 + the thread that holds the lock, or 0 if no thread does. */
	uint32_t holder;
	uint32_t depth; /* during look-ahead: recursion depth of the holder */
	bool handed;	/* the lock was released by a thread other than its holder */
	/* True if readers share the lock or waits release it, so that it cannot be treated as a
	 * semaphore. */
	bool shared;
	bool left;    /* a thread ended while it held the lock */
	bool writers; /* the read-write lock admits no reader while a writer waits */
	/* For a read-write lock that prefers writers, a second lock, which a writer holds while it
	 * waits and while it writes.  Otherwise EXEC_NONE. */
	uint32_t gate;
	/* 1 + the thread that holds the gate; 0 if no thread does. */
	uint32_t writer;
	uint32_t first;	  /* for a barrier: its first instance */
	uint32_t entered; /* number of arrivals at `instance` so far */
	/* For a channel, the latest message of each thread that has sent one. */
	struct order_message *messages;
	size_t message_count, message_capacity;
};

struct order_thread {
	uint32_t inside; /* the barrier instance that the thread is in */
	uint32_t wait;	 /* the mutex that the thread released for a wait */
	uint32_t last;	 /* its latest event */
	bool timed;	 /* its wait has a time limit */
	bool created;
};

struct order_filler {
	struct exec *x;
	/* True if the program hung.  In that case, a lock whose holder has ended stays locked, so
	 * that its holder is known. */
	bool hung;
	bool handed;  /* some lock was released by a thread other than its holder */
	uint64_t odd; /* number of operations that no primitive allows; they order nothing */
	struct order_object *objects;
	struct order_thread *threads;
	size_t object_count, object_capacity, thread_count, thread_capacity;
	struct rd_umap depths; /* maps (thread, lock) to the recursion depth */
	/* A set of (thread, object) pairs: the once controls that the thread knows to have run. */
	struct rd_umap passed;
	/* A set of (thread, once) pairs: the messages that the thread has received. */
	struct rd_umap received;
	uint32_t *robust; /* locks that will be taken over from a dead thread */
	size_t robust_count, robust_capacity;
};

void order_filler_init(struct order_filler *f, struct exec *x);
void order_filler_release(struct order_filler *f);

/* Announces that another thread will take over the lock from a thread that ended (EOWNERDEAD).
 * The end of that thread is then treated as the release of the lock. */
void order_fill_robust(struct order_filler *f, uint32_t object);

/* Call this for every operation of the run, in the order in which they happened, before the first
 * call of order_fill().  The function finds locks that are released by a thread other than their
 * holder, and locks whose holder ends.  Such a lock is treated as a semaphore with initial value
 * 1.  A mutex that is used with a condition, or a lock that readers share, is never treated as a
 * semaphore. */
void order_fill_look_ahead(struct order_filler *f, const struct order_op *op);

/* Appends the events of the next operation.  The operations of all threads must be passed in
 * recorded order. */
void order_fill(struct order_filler *f, const struct order_op *op);

/* Handles an unfinished operation.  If the operation waits for something, appends its event as
 * EXEC_PENDING. */
void order_fill_pending(struct order_filler *f, const struct order_op *op);

/* Returns the state of an object.  It is valid until the next operation. */
struct order_object *order_fill_object(struct order_filler *f, uint32_t object);

/* Returns the effect of an operation on locks: 1 if it has acquired its object, -1 if it is about
 * to release it, and 0 otherwise.  A condition wait counts, because it releases and acquires its
 * mutex.  Running the initialiser of a once control counts as well. */
int order_lock_change(uint32_t kind, uint64_t value, bool *shared);

#endif
