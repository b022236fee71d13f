/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of deadlock prediction.  A *stop* is an operation that can block forever.  Stops of one
 * thread with the same operation, object, code site and held locks form one *node*.  The stops of a
 * node are its instances, in program order.
 */
#ifndef PREDICT_DEADLOCK_INT_H
#define PREDICT_DEADLOCK_INT_H

#include "predict/internal-int.h"

struct node {
	uint16_t thread;
	uint8_t kind, flags;
	uint32_t object, site;
	uint32_t held;	 /* the sections it is in */
	uint32_t *stops; /* events */
	uint32_t count;
	size_t capacity;
	uint32_t component; /* strongly connected; two nodes of one deadlock share it */
};

struct nodes {
	const struct core *c;
	struct node *items;
	uint32_t count;
	size_t capacity;
	struct core_list of_thread; /* the nodes of a thread */
	struct core_list holders;   /* the nodes that hold a lock */
};

/* Whether stop `e` waits for a lock that a thread stopped before `h` holds. */
bool predict_stop_held_by(const struct core *c, uint32_t e, uint32_t h);

/* Whether all suppliers of `e` must be blocked (a condition, a semaphore), or a single other thread
 * is enough (a lock, a join, a barrier). */
static inline bool stop_needs_all(uint8_t kind)
{
	return kind == EXEC_WAKE || kind == EXEC_TAKE;
}

/* The events that could end such a stop. */
static inline const struct slots *stop_suppliers(const struct core *c, uint8_t kind)
{
	return kind == EXEC_WAKE ? &c->notes : &c->posts;
}

void predict_nodes_build(struct nodes *g, const struct core *c);
void predict_nodes_release(struct nodes *g);

/* Calls `found` for every set of nodes of different threads that could be a deadlock by its locks
 * and threads: each node needs another one.  Returns false if the limit was reached. */
struct cycle_limit {
	uint64_t steps;
	const int64_t *deadline_ns; /* pointer to 0: no deadline; the deadline may move meanwhile */
};
typedef void cycle_fn(void *context, const uint32_t *nodes, uint32_t count);
bool predict_cycles(const struct nodes *g, uint32_t max_threads, const struct cycle_limit *limit,
		    cycle_fn *found, void *context);

#endif
