/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flow graph of all threads connects the flow graphs of all functions.  Its edges are calls,
 * returns, and the starts and ends of threads.  The start of a thread is like a call for which the
 * caller does not wait, and the end of a thread comes before every join.  The graph is used to
 * decide whether one instruction may come before another.  The instructions of another thread may
 * be executed at any time between its start and the end of the program.
 *
 * A node is a part of a basic block.  It ends at the end of the block, or after a join or a call of
 * a function whose code is in the facts.  Returns are not matched with calls: a function may return
 * to any of its callers.
 */
#ifndef SLICE_TFLOW_H
#define SLICE_TFLOW_H

#include "base/map.h"
#include "facts/facts.h"

/* A call that starts a thread.  The members are bit sets of nodes.  `behind` contains the nodes
 * that may be executed after the call, and `thread` those that the new thread may execute. */
struct tflow_start {
	uint64_t *behind, *thread;
};

struct tflow {
	const struct facts *f;
	/* The node of each value of the facts.  For an argument, this is the node at which its
	 * function begins. */
	uint32_t *node_of;
	uint32_t nodes;
	struct facts_graph graph;
	struct tflow_start *starts;
	size_t start_count, start_capacity;
	/* For each node, the set of nodes that may come before it.  It is computed on demand. */
	uint64_t **before;
	uint64_t made; /* the work for all sets in `before`, in visited nodes */
	/* True if computing the sets took too much work.  Then every node is assumed to come before
	 * every other. */
	bool coarse;
};

void tflow_init(struct tflow *w, const struct facts *f);
void tflow_release(struct tflow *w);

/* Returns true if the instruction `from` may be executed before the instruction `to`. */
bool tflow_comes_before(struct tflow *w, uint32_t from, uint32_t to);

/* Stores in steps[node] the number of edges from each node to the nearest of the instructions
 * `values`, or FACTS_NONE if none of them can be reached from the node. */
void tflow_steps(const struct tflow *w, const uint32_t *values, size_t count, uint32_t *steps);

#endif
