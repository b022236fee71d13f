/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which operations of a schedule must come in its order, since another order would
 * be another execution, and which orders the program keeps by itself (clash.c).
 */
#ifndef PREDICT_CLASH_H
#define PREDICT_CLASH_H

#include "order/exec.h"

#define NO_OP UINT32_MAX

/* The events of a witness one behind the other, and the synchronisation operations
 * among them, by their place in the order.  Threads are numbered from 0 in the
 * order in which they appear. */
struct line {
	const struct exec *x;
	uint32_t *events;
	size_t count;
	uint32_t *ops;	     /* events */
	uint32_t *index;     /* of each operation in its thread, from 1 */
	uint32_t *op_thread; /* number of its thread */
	uint32_t *wake;	     /* of the acquisition behind a wake: that event, else NO_OP */
	uint32_t op_count;
	uint32_t *thread_of; /* number of each thread of the execution, NO_OP: none */
	uint32_t threads;
	uint32_t *first;     /* by number of a thread: where its operations begin in by_thread */
	uint32_t *by_thread; /* operations */
};

/* Operation `to` must not come before `from`, and only a schedule can see to it. */
struct clash {
	uint32_t from, to;
};

struct clashes {
	struct clash *items;
	size_t count, capacity;
	uint8_t *forced; /* by operation: it must be named whatever its order */
};

/* Collects the clashes that neither the program nor the others imply. */
void predict_clashes(const struct line *l, struct clashes *c);

/* Whether the order of the operations with listed[] set implies all others. */
bool predict_clashes_implied(const struct line *l, const uint8_t *listed);

#endif
