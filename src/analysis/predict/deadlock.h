/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside deadlock prediction.  A *stop* is an operation that can block for good.
 * Stops of one thread with the same operation, object, code site and held locks
 * are one *node*; its stops are its instances, in program order.
 */
#ifndef PREDICT_DEADLOCK_H
#define PREDICT_DEADLOCK_H

#include "predict/internal.h"

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
	struct list of_thread; /* the nodes of a thread */
	struct list holders;   /* the nodes that hold a lock */
};

/* Whether stop `e` waits for a lock that the thread standing before `h` holds. */
bool predict_stop_held_by(const struct core *c, uint32_t e, uint32_t h);

/* Whether any one of the others is enough for `e` to be stuck (a lock, a join, a
 * barrier), or all suppliers have to be (a condition, a semaphore). */
static inline bool stop_needs_all(uint8_t kind)
{
	return kind == EXEC_WAKE || kind == EXEC_TAKE;
}

/* The events that could serve such a stop. */
static inline const struct slots *stop_suppliers(const struct core *c, uint8_t kind)
{
	return kind == EXEC_WAKE ? &c->notes : &c->posts;
}

void predict_nodes_build(struct nodes *g, const struct core *c);
void predict_nodes_release(struct nodes *g);

/* Calls `found` for every set of nodes, of different threads, that could be a
 * deadlock as far as locks and threads go: each is in need of another.  Returns
 * false if the limit was reached before. */
struct cycle_limit {
	uint64_t steps;
	const int64_t *deadline_ns; /* 0 there: none; it may be put off meanwhile */
};
typedef void cycle_fn(void *context, const uint32_t *nodes, uint32_t count);
bool predict_cycles(const struct nodes *g, uint32_t max_threads, const struct cycle_limit *limit,
		    cycle_fn *found, void *context);

#endif
