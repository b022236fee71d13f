/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of deadlock prediction.  A *stop* is an operation that can block forever, such as the
 * acquisition of a lock.  Stops of one thread with the same operation, object, code site and held
 * locks are the instances of one *node*.  The instances of a node are in program order.
 */
#ifndef PREDICT_DEADLOCK_INT_H
#define PREDICT_DEADLOCK_INT_H

#include "predict/internal-int.h"

struct node {
	uint16_t thread;
	uint8_t kind, flags;
	uint32_t object, site;
	uint32_t held;	 /* head of the list of sections that the thread is in */
	uint32_t *stops; /* the instances, as events */
	uint32_t count;
	size_t capacity;
	/* The number of its strongly connected component.  All nodes of a deadlock have the same
	 * number. */
	uint32_t component;
};

struct nodes {
	const struct core *c;
	struct node *items;
	uint32_t count;
	size_t capacity;
	struct core_list of_thread; /* the nodes of each thread */
	struct core_list holders;   /* for each lock, the nodes at which it is held */
};

/* Returns true if event `e` must wait for a lock that the thread of event `h` holds while that
 * thread is stopped before `h`. */
bool predict_stop_held_by(const struct core *c, uint32_t e, uint32_t h);

/* Returns true if an operation of this kind blocks forever only if all threads that could end the
 * wait are blocked.  This is true of condition variables and semaphores.  With a lock, a join or a
 * barrier, a single blocked thread is enough. */
static inline bool stop_needs_all(uint8_t kind)
{
	return kind == EXEC_WAKE || kind == EXEC_TAKE;
}

/* Returns the events that could end a stop of this kind. */
static inline const struct slots *stop_suppliers(const struct core *c, uint8_t kind)
{
	return kind == EXEC_WAKE ? &c->notes : &c->posts;
}

void predict_nodes_build(struct nodes *g, const struct core *c);
void predict_nodes_release(struct nodes *g);

/* The limits of a search for deadlocks. */
struct cycle_limit {
	uint64_t steps;
	/* Points to the deadline, which may move during the search.  The value 0 means no
	 * deadline. */
	const int64_t *deadline_ns;
};
typedef void cycle_fn(void *context, const uint32_t *nodes, uint32_t count);
/* Calls `found` for every possible deadlock: a set of nodes of different threads in which each
 * node waits for another node of the set.  Considers only waits for locks and for the end of
 * threads.  Returns false if the limit was reached. */
bool predict_cycles(const struct nodes *g, uint32_t max_threads, const struct cycle_limit *limit,
		    cycle_fn *found, void *context);

#endif
