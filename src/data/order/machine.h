/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine that executes events one at a time and rejects those that the synchronisation
 * primitives do not allow at that moment (doc/design/order.md).  It defines the meaning of every
 * kind of event. It does not search, so the results of analyses can be checked against it.
 */
#ifndef ORDER_MACHINE_H
#define ORDER_MACHINE_H

#include "base/map.h"
#include "order/exec.h"

struct machine_hold { /* one thread's hold on one lock */
	uint32_t lock;
	uint16_t thread;
	bool shared;
	uint32_t depth;
	uint32_t acquire; /* the event */
};

struct machine {
	const struct exec *x;
	struct machine_hold *holds; /* unordered; short unless a thread holds hundreds of locks */
	size_t hold_count, hold_capacity;
	uint32_t *lock_holders; /* number of holds of each lock */
	int64_t *sem_value;
	uint32_t *entered, *enters; /* barrier instances: arrivals so far, and in all */
	uint32_t *at;		    /* per thread: the position after its latest event */
	uint8_t *once_done;
	uint8_t *forked, *joined, *ended, *has_fork; /* per thread */
	uint32_t *last_write;			     /* per variable: the writing event or EXEC_NONE */
	uint32_t *waiting;			     /* per thread: its EXEC_WAIT while it waits */
	/* Of a whole execution, in which a wake takes any notification. */
	uint8_t *woken;	      /* per thread: its wait was notified */
	uint64_t *deadline;   /* per thread: the place of its wake, which decides whom a signal wakes */
	struct rd_umap wakes; /* from waits to the places of their wakes in the order that is tried */
};

void machine_init(struct machine *m, const struct exec *x);
void machine_release(struct machine *m);

/* Returns to the start.  The order to be tried determines which wait a signal ends. */
void machine_reset(struct machine *m, const uint32_t *order, size_t count);

/* Whether event `e` may happen now: NULL, or why not.  The caller ensures that the thread has
 * reached it. */
const char *machine_may(const struct machine *m, uint32_t e);

/* Executes event `e`, even if it may not happen. */
void machine_do(struct machine *m, uint32_t e);

/* Executes event `e` if it may happen; returns NULL, or why it may not. */
const char *machine_step(struct machine *m, uint32_t e);

/* The acquisition that excludes `e` from its lock; EXEC_NONE: no acquisition does. */
uint32_t machine_blocker(const struct machine *m, uint32_t e);

/* The hold of `thread` on `lock`; NULL: the thread does not hold it. */
const struct machine_hold *machine_find_hold(const struct machine *m, uint32_t lock, uint16_t thread);

#endif
