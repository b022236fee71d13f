/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine that executes events one at a time and rejects those that the synchronisation
 * primitives do not allow at that moment (doc/design/order.md).  It defines the meaning of every
 * kind of event. The machine does not search for orders, so it can check the results of analyses
 * that do.
 */
#ifndef ORDER_MACHINE_H
#define ORDER_MACHINE_H

#include "base/map.h"
#include "order/exec.h"

struct machine_hold { /* a lock that a thread holds */
	uint32_t lock;
	uint16_t thread;
	bool shared;
	uint32_t depth;
	uint32_t acquire; /* the event of the acquisition */
};

struct machine {
	const struct exec *x;
	/* The list is not sorted, because it is short unless a thread holds hundreds of locks. */
	struct machine_hold *holds;
	size_t hold_count, hold_capacity;
	uint32_t *lock_holders; /* the number of threads that hold each lock */
	int64_t *sem_value;
	/* For each barrier instance, the number of arrivals so far, and in the whole execution. */
	uint32_t *entered, *enters;
	uint32_t *at; /* 1 + the index of each thread's latest event */
	uint8_t *once_done;
	/* Indexed by thread.  The first three are true if the thread has been created, joined or
	 * ended so far.  The last one is true if the execution contains the thread's creation. */
	uint8_t *forked, *joined, *ended, *has_fork;
	/* The event of the last write to each variable, or EXEC_NONE if there is none. */
	uint32_t *last_write;
	uint32_t *waiting; /* the EXEC_WAIT event of each thread that is waiting */
	/* The following members are used only for a whole execution, in which a wake takes any
	 * notification. */
	uint8_t *woken; /* for each thread, true if its wait was notified */
	/* The position of each thread's wake in the order.  It decides which thread a signal
	 * wakes. */
	uint64_t *deadline;
	/* Maps a wait to the position of its wake in the order that is tried. */
	struct rd_umap wakes;
};

void machine_init(struct machine *m, const struct exec *x);
void machine_release(struct machine *m);

/* Returns the machine to its initial state.  `order` is the order of events that will be tried.
 * From this order, the machine knows which waiting thread a signal wakes. */
void machine_reset(struct machine *m, const uint32_t *order, size_t count);

/* Returns NULL if event `e` may happen now, or else the reason why it may not.  The caller must
 * ensure that the thread has reached the event. */
const char *machine_may(const struct machine *m, uint32_t e);

/* Executes event `e`, even if it may not happen. */
void machine_do(struct machine *m, uint32_t e);

/* If event `e` may happen, executes it and returns NULL.  Otherwise returns the reason why it may
 * not. */
const char *machine_step(struct machine *m, uint32_t e);

/* Returns the acquisition by another thread that prevents `e` from acquiring its lock, or EXEC_NONE
 * if there is none. */
uint32_t machine_blocker(const struct machine *m, uint32_t e);

/* Returns the entry of a lock that the thread holds, or NULL if the thread does not hold it. */
const struct machine_hold *machine_find_hold(const struct machine *m, uint32_t lock, uint16_t thread);

#endif
