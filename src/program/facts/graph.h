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
	/* The successors of node n are succ[succ_start[n]] up to, not including, succ[succ_start[n
	 * + 1]]. */
	uint32_t *succ_start, *succ;
	uint32_t *pred_start, *pred;
	uint32_t *order;  /* the reachable nodes, in reverse postorder */
	uint32_t *number; /* the index of each node in `order`; FACTS_NONE if unreachable */
	/* The immediate dominator of each node; FACTS_NONE if unreachable.  That of the entry is
	 * the entry itself. */
	uint32_t *idom;
};

/* The order of edges is kept, so results depend only on the input. */
void facts_graph_init(struct facts_graph *g, uint32_t nodes, const struct facts_edge *edges, size_t count);
void facts_graph_release(struct facts_graph *g);

/* Fills g->idom. */
void facts_graph_dominators(struct facts_graph *g);
bool facts_graph_dominates(const struct facts_graph *g, uint32_t a, uint32_t b);

/* The graph with reversed edges, in which dominators are post-dominators.  Node 0 is the common
 * end; node n + 1 is node n of g.  A node without successors leads to the end.  From every cycle
 * without an exit, the last node in g's order also leads to the end. */
void facts_graph_reverse(const struct facts_graph *g, struct facts_graph *reverse);

/* A natural loop: all back edges to one header together. */
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

/* Needs dominators.  Cycles with several entries are not natural loops and are left out. */
void facts_loops_init(struct facts_loops *l, const struct facts_graph *g);
void facts_loops_release(struct facts_loops *l);
bool facts_loop_has(const struct facts_loop *loop, uint32_t node);

#endif
