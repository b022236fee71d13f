/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow graphs without LLVM: order, dominators, natural loops and the dataflow
 * that finds accesses which say nothing new.  Nodes are numbers from 0; node 0
 * is the entry.
 */
#ifndef IR_GRAPH_H
#define IR_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IR_NONE UINT32_MAX

struct ir_edge {
	uint32_t from, to;
};

struct ir_graph {
	uint32_t nodes;
	uint32_t reached;	     /* length of `order` */
	uint32_t *succ_start, *succ; /* successors of n: succ[succ_start[n]] up to succ_start[n + 1] */
	uint32_t *pred_start, *pred;
	uint32_t *order;  /* reachable nodes in reverse postorder */
	uint32_t *number; /* place of a node in `order`, IR_NONE if unreachable */
	uint32_t *idom;	  /* immediate dominator; the entry's is itself; IR_NONE if unreachable */
};

/* Edges keep the order in which they are given, so that results do not depend
 * on anything but the input. */
void ir_graph_init(struct ir_graph *g, uint32_t nodes, const struct ir_edge *edges, size_t count);
void ir_graph_release(struct ir_graph *g);

/* Fills g->idom. */
void ir_graph_dominators(struct ir_graph *g);
bool ir_graph_dominates(const struct ir_graph *g, uint32_t a, uint32_t b);

/* A natural loop: all back edges to one header together. */
struct ir_loop {
	uint32_t header;
	uint32_t size;
	uint32_t *body; /* header first */
};

struct ir_loops {
	struct ir_loop *items; /* larger ones first */
	size_t count;
	uint32_t *innermost; /* loop of each node, IR_NONE if none */
};

/* Needs dominators.  Cycles with several entries are no natural loops and are
 * left out. */
void ir_loops_init(struct ir_loops *l, const struct ir_graph *g);
void ir_loops_release(struct ir_loops *l);
bool ir_loop_has(const struct ir_loop *loop, uint32_t node);

/*
 * Accesses that say nothing new.  A step is something a block does: it reads
 * or writes the bytes of a key, or it forgets everything.  A read is redundant if
 * on every path from the entry its bytes were read or written since the
 * last forgetting; a write if they were written.
 */
enum ir_step_kind { IR_STEP_READ, IR_STEP_WRITE, IR_STEP_FORGET };

struct ir_step {
	uint32_t block; /* steps are sorted by block and in program order within it */
	uint32_t key;	/* not for FORGET */
	enum ir_step_kind kind;
};

/* The bytes of a key: keys of one base may contain one another. */
struct ir_key {
	uint32_t base;
	int64_t offset;
	uint64_t size;
};

struct ir_steps {
	const struct ir_step *items;
	size_t count;
	const struct ir_key *keys; /* equal ones would not be recognised as such */
	uint32_t key_count;
};

/* redundant[i] is set for each step that is; steps in unreachable blocks are not. */
void ir_redundant(const struct ir_graph *g, const struct ir_steps *steps, bool *redundant);

#endif
