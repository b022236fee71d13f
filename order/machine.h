/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine that executes events one at a time and refuses those which the
 * synchronisation primitives do not allow at that moment.  It is the plain
 * meaning of every event kind; the analyses never use it, so that what they
 * claim can be checked against it.
 */
#ifndef ORDER_MACHINE_H
#define ORDER_MACHINE_H

#include "order/exec.h"

struct machine_hold { /* one thread's hold on one lock */
	uint32_t lock;
	uint16_t thread;
	bool shared;
	uint32_t depth;
};

struct machine {
	const struct exec *x;
	struct machine_hold *holds; /* unordered; short unless a thread holds hundreds of locks */
	size_t hold_count, hold_capacity;
	uint32_t *lock_holders; /* number of holds of each lock */
	int64_t *sem_value;
	uint32_t *entered, *enters; /* barrier instances: so far, in all */
	uint8_t *done;		    /* per event */
	uint8_t *once_done;
	uint8_t *forked, *joined, *ended, *has_fork; /* per thread */
	uint32_t *last_write;			     /* per variable: the writing event or EXEC_NONE */
	uint32_t *waiting;			     /* per thread: its EXEC_WAIT while it waits */
};

void machine_init(struct machine *m, const struct exec *x);
void machine_release(struct machine *m);

/* Executes event `e`; returns NULL, or why it is not possible now. */
const char *machine_step(struct machine *m, uint32_t e);

/* Whether `thread` holds `lock`, and whether only shared. */
const struct machine_hold *machine_find_hold(const struct machine *m, uint32_t lock, uint16_t thread);

/* Whether a thread other than `thread` holds `lock` so that `kind` must block;
 * the holder is written to *holder. */
bool machine_blocked(const struct machine *m, const struct exec_event *acquire, uint16_t *holder);

#endif
