/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flow graph of all threads connects the flow graphs of all functions.  Its edges are calls,
 * returns, and the starts and ends of threads.  A start is like a call that the caller does not
 * wait for; an end comes before every join.  The graph answers whether one instruction may come
 * before another.  What another thread does may happen at any time between its start and the end of
 * the program.
 *
 * A node is a part of a basic block.  It ends at the end of the block, or after a join or a call of
 * a function whose code is in the facts.  Returns are not matched with calls: a function may return
 * to any of its callers.
 */
#ifndef SLICE_TFLOW_H
#define SLICE_TFLOW_H

#include "base/map.h"
#include "facts/facts.h"

/* A call that starts a thread.  The members are bit sets of nodes: what may be executed after the
 * call, and what the thread may execute. */
struct tflow_start {
	uint64_t *behind, *thread;
};

struct tflow {
	const struct facts *f;
	/* The node of each value of the facts; for an argument, the node at which its function
	 * begins. */
	uint32_t *node_of;
	uint32_t nodes;
	struct facts_graph graph;
	struct tflow_start *starts;
	size_t start_count, start_capacity;
	/* By node: the set of nodes that may come before it; computed on demand. */
	uint64_t **before;
	uint64_t made; /* the work for all sets in `before`, in visited nodes */
	/* The work was too much, so everything is assumed to come before everything. */
	bool coarse;
};

void tflow_init(struct tflow *w, const struct facts *f);
void tflow_release(struct tflow *w);

/* Returns true if the instruction `from` may be executed before the instruction `to`. */
bool tflow_comes_before(struct tflow *w, uint32_t from, uint32_t to);

/* Fills `steps`, by node, with the number of edges from each node to the nearest of the
 * instructions `values`; FACTS_NONE for a node from which no such instruction can be reached. */
void tflow_steps(const struct tflow *w, const uint32_t *values, size_t count, uint32_t *steps);

#endif
