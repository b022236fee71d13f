/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the operations of a trace to the events of an execution (exec.h), whoever has read the trace.
 *
 * Objects and threads are numbers of the caller's; a new life of an object is a new number.  Each operation
 * becomes the events it consists of, or, in a whole execution, exactly one event.
 */
#ifndef ORDER_FILL_H
#define ORDER_FILL_H

#include "base/map.h"
#include "order/exec.h"
#include "raddle/event.h"

/* An operation as a trace has it. */
struct order_op {
	uint32_t thread;
	uint32_t kind;	 /* enum raddle_event */
	uint8_t class;	 /* enum raddle_class of the object; THREAD: about threads */
	uint32_t object; /* EXEC_NONE: none */
	uint32_t second; /* the mutex of a wait or wake; the thread that is created or joined; EXEC_NONE */
	uint64_t value;	 /* result, size of a barrier, value of a semaphore, ... */
};

/* What a thread sent through a channel is a once: it happens when it is sent, and who receives passes it. */
struct order_message {
	uint32_t thread, once;
};

/* What is known of an object. */
struct order_object {
	uint32_t number;    /* in its space of the execution; EXEC_NONE: none yet */
	uint32_t once_lock; /* the lock that stands for running the initialiser */
	uint32_t once_done; /* the event at which it returned last */
	uint32_t size;	    /* of a barrier; 0: unknown */
	uint32_t instance;  /* the use of a barrier that is being entered; EXEC_NONE */
	uint32_t holder;    /* looking ahead: 1 + the thread that has the lock; 0: none */
	uint32_t depth;	    /* and how often it has it */
	bool handed;	    /* a lock that a thread gave back which did not take it */
	bool shared;	    /* by readers, or given up in waits: it is no semaphore */
	bool left;	    /* a thread ended that had the lock */
	bool writers;	    /* a read-write lock that lets no reader in while a writer waits */
	uint32_t gate;	 /* of such a lock: what a writer has while it waits and while it writes; EXEC_NONE */
	uint32_t writer; /* 1 + the thread that has the gate; 0: none */
	uint32_t first;	 /* its first use */
	uint32_t entered;		/* of that instance, so far */
	struct order_message *messages; /* of a channel: the latest of each thread that has sent */
	size_t message_count, message_capacity;
};

struct order_thread {
	uint32_t inside; /* the barrier instance it is in */
	uint32_t wait;	 /* the mutex it gave up for a wait */
	uint32_t last;	 /* its latest event */
	bool timed;	 /* its wait has a time limit */
	bool created;
};

struct order_filler {
	struct exec *x;
	bool stands;  /* of a program that stands: a lock of a thread that ended stays one, so that its holder
			 is known */
	bool handed;  /* some lock is handed over */
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

/* The lock will be taken over from a dead thread (EOWNERDEAD), which gives it back by ending. */
void order_fill_robust(struct order_filler *f, uint32_t object);

/* Before the first order_fill(), all operations in the order in which they happened: which locks are handed
 * over, that is given back by a thread that did not take them.  Such a lock is a semaphore that begins
 * with 1. A mutex that is waited with is none, nor is a lock that readers share. */
void order_fill_look_ahead(struct order_filler *f, const struct order_op *op);

/* The next operation of all threads: appends its events. */
void order_fill(struct order_filler *f, const struct order_op *op);

/* An operation that its thread had begun and not finished: appends what it waits for, as EXEC_PENDING, if it
 * is one that waits. */
void order_fill_pending(struct order_filler *f, const struct order_op *op);

/* What is known of an object so far; valid until the next operation. */
struct order_object *order_fill_object(struct order_filler *f, uint32_t object);

/* What an operation does to locks: 1 it has acquired its object, -1 it is about to release it, 0 neither.
 * Waits count too: they release and acquire their mutex; and so does running the initialiser of a once
 * control. */
int order_lock_change(uint32_t kind, uint64_t value, bool *shared);

#endif
