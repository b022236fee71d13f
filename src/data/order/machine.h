/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine that executes events one at a time and refuses those which the synchronisation primitives do
 * not allow at that moment (doc/design/order.md).  It is the plain meaning of every event kind; nothing is
 * found with it, so that what the analyses claim can be checked against it.
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
	uint32_t *entered, *enters; /* barrier instances: so far, in all */
	uint32_t *at;		    /* per thread: behind its latest event */
	uint8_t *once_done;
	uint8_t *forked, *joined, *ended, *has_fork; /* per thread */
	uint32_t *last_write;			     /* per variable: the writing event or EXEC_NONE */
	uint32_t *waiting;			     /* per thread: its EXEC_WAIT while it waits */
	/* Of a whole execution, in which a wake takes any notification. */
	uint8_t *woken;	      /* per thread: its wait was notified */
	uint64_t *deadline;   /* per thread: when its wake comes; for the choice of a signal */
	struct rd_umap wakes; /* waits to the places of their wakes in the order that is tried */
};

void machine_init(struct machine *m, const struct exec *x);
void machine_release(struct machine *m);

/* Back to the start.  The order that is going to be tried tells which wait a signal is to end. */
void machine_reset(struct machine *m, const uint32_t *order, size_t count);

/* Whether event `e` may happen now: NULL, or why not.  That its thread is there is the caller's business. */
const char *machine_may(const struct machine *m, uint32_t e);

/* Executes event `e`, even if it may not happen. */
void machine_do(struct machine *m, uint32_t e);

/* Executes event `e` if it may happen; returns NULL, or why it may not. */
const char *machine_step(struct machine *m, uint32_t e);

/* The acquisition that keeps `e` from its lock; EXEC_NONE: nothing does. */
uint32_t machine_in_way(const struct machine *m, uint32_t e);

/* The hold of `thread` on `lock`; NULL: it has none. */
const struct machine_hold *machine_find_hold(const struct machine *m, uint32_t lock, uint16_t thread);

#endif
