/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow graphs: order, dominators, post-dominators and natural loops.  Nodes are
 * numbers from 0; node 0 is the entry.
 */
#ifndef FACTS_GRAPH_H
#define FACTS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FACTS_NONE UINT32_MAX

struct facts_edge {
	uint32_t from, to;
};

struct facts_graph {
	uint32_t nodes;
	uint32_t reached; /* the number of reachable nodes, which is the length of `order` */
	/* The successors of node n are succ[succ_start[n]] to succ[succ_start[n + 1] - 1]. */
	uint32_t *succ_start, *succ;
	uint32_t *pred_start, *pred;
	uint32_t *order;  /* the reachable nodes, in reverse postorder */
	uint32_t *number; /* the index of each node in `order`; FACTS_NONE if unreachable */
	/* The immediate dominator of each node, or FACTS_NONE if the node is unreachable.  The
	 * entry is its own immediate dominator. */
	uint32_t *idom;
};

/* The edges are kept in their order, so the results depend only on the input. */
void facts_graph_init(struct facts_graph *g, uint32_t nodes, const struct facts_edge *edges, size_t count);
void facts_graph_release(struct facts_graph *g);

/* Fills g->idom. */
void facts_graph_dominators(struct facts_graph *g);
bool facts_graph_dominates(const struct facts_graph *g, uint32_t a, uint32_t b);

/* Makes the graph with reversed edges, whose dominators are the post-dominators of g.  Node 0 of
 * the new graph is the common end of all paths, and node n + 1 is node n of g.  A node without
 * successors leads to the end.  If a cycle has no exit, its last node in the order of g also leads
 * to the end. */
void facts_graph_reverse(const struct facts_graph *g, struct facts_graph *reverse);

/* A natural loop.  All back edges to one header form a single loop. */
struct facts_loop {
	uint32_t header;
	uint32_t size;
	uint32_t *body; /* the nodes of the loop, the header first */
};

struct facts_loops {
	struct facts_loop *items; /* the loops, larger ones first */
	size_t count;
	/* The innermost loop of each node; FACTS_NONE if the node is in no loop. */
	uint32_t *innermost;
};

/* Needs dominators.  Cycles with several entries are not natural loops and are not listed. */
void facts_loops_init(struct facts_loops *l, const struct facts_graph *g);
void facts_loops_release(struct facts_loops *l);
bool facts_loop_has(const struct facts_loop *loop, uint32_t node);

#endif
