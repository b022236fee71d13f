/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes properties of flow graphs from a list of edges: reverse postorder, dominators, the
 * reversed graph and natural loops.
 *
 * A node d dominates n if every path from the entry to n contains d.  The obvious method is to
 * remove d and to check what is still reachable (test/unit/u-facts-graph.c does that).  This code
 * uses the iteration of Cooper, Harvey and Kennedy ("A simple, fast dominance algorithm"): the
 * immediate dominator of a node is the nearest common ancestor of its predecessors in the tree
 * built so far.  In reverse postorder, the iteration converges in very few rounds.
 *
 * Invariants: order[number[n]] == n for reachable n; idom[n] precedes n in `order`, except for the
 * entry.
 */
#include "facts/graph.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* Fills the adjacency lists by a counting sort of the edges by source, or by target. */
static void adjacency(struct facts_graph *g, const struct facts_edge *edges, size_t count, bool by_target)
{
	uint32_t *start = rd_xcalloc(g->nodes + 2, sizeof *start);
	uint32_t *list = rd_xcalloc(count + 1, sizeof *list);
	for (size_t i = 0; i < count; i++)
		start[(by_target ? edges[i].to : edges[i].from) + 2]++;
	for (uint32_t n = 2; n < g->nodes + 2; n++)
		start[n] += start[n - 1];
	for (size_t i = 0; i < count; i++) {
		uint32_t key = by_target ? edges[i].to : edges[i].from;
		list[start[key + 1]++] = by_target ? edges[i].from : edges[i].to;
	}
	*(by_target ? &g->pred_start : &g->succ_start) = start;
	*(by_target ? &g->pred : &g->succ) = list;
}

/* Numbers the nodes by a depth-first search.  It does not recurse, because functions of generated
 * programs have hundreds of thousands of blocks. */
static void number_nodes(struct facts_graph *g)
{
	uint32_t *stack = rd_xcalloc(g->nodes + 1, sizeof *stack);
	uint32_t *next = rd_xcalloc(g->nodes + 1, sizeof *next);
	uint32_t depth = 0, left = g->nodes;
	if (g->nodes != 0) {
		g->number[0] = 0;
		stack[depth++] = 0;
	}
	while (depth != 0) {
		uint32_t n = stack[depth - 1];
		uint32_t edge = g->succ_start[n] + next[n];
		if (edge == g->succ_start[n + 1]) {
			g->order[--left] = n;
			depth--;
			continue;
		}
		next[n]++;
		uint32_t to = g->succ[edge];
		if (g->number[to] == FACTS_NONE) {
			g->number[to] = 0;
			stack[depth++] = to;
		}
	}
	g->reached = g->nodes - left;
	memmove(g->order, g->order + left, g->reached * sizeof *g->order);
	for (uint32_t i = 0; i < g->reached; i++)
		g->number[g->order[i]] = i;
	free(stack);
	free(next);
}

void facts_graph_init(struct facts_graph *g, uint32_t nodes, const struct facts_edge *edges, size_t count)
{
	memset(g, 0, sizeof *g);
	g->nodes = nodes;
	adjacency(g, edges, count, false);
	adjacency(g, edges, count, true);
	g->order = rd_xcalloc(nodes + 1, sizeof *g->order);
	g->number = rd_xmalloc((nodes + 1) * sizeof *g->number);
	memset(g->number, 0xff, (nodes + 1) * sizeof *g->number);
	number_nodes(g);
}

void facts_graph_release(struct facts_graph *g)
{
	RD_FREE(g->succ_start, g->succ, g->pred_start, g->pred, g->order, g->number, g->idom);
	memset(g, 0, sizeof *g);
}

static uint32_t meet(const struct facts_graph *g, uint32_t a, uint32_t b)
{
	while (a != b) {
		while (g->number[a] > g->number[b])
			a = g->idom[a];
		while (g->number[b] > g->number[a])
			b = g->idom[b];
	}
	return a;
}

static bool dominator_round(struct facts_graph *g)
{
	bool changed = false;
	for (uint32_t i = 1; i < g->reached; i++) {
		uint32_t n = g->order[i], dominator = FACTS_NONE;
		for (uint32_t e = g->pred_start[n]; e < g->pred_start[n + 1]; e++) {
			uint32_t p = g->pred[e];
			if (g->number[p] == FACTS_NONE || g->idom[p] == FACTS_NONE)
				continue;
			dominator = dominator == FACTS_NONE ? p : meet(g, p, dominator);
		}
		RD_ASSERT(dominator != FACTS_NONE);
		changed |= g->idom[n] != dominator;
		g->idom[n] = dominator;
	}
	return changed;
}

void facts_graph_dominators(struct facts_graph *g)
{
	free(g->idom);
	g->idom = rd_xmalloc((g->nodes + 1) * sizeof *g->idom);
	memset(g->idom, 0xff, (g->nodes + 1) * sizeof *g->idom);
	if (g->nodes != 0)
		g->idom[0] = 0;
	while (dominator_round(g))
		;
}

bool facts_graph_dominates(const struct facts_graph *g, uint32_t a, uint32_t b)
{
	RD_ASSERT(a < g->nodes && b < g->nodes);
	if (g->number[a] == FACTS_NONE || g->number[b] == FACTS_NONE)
		return false;
	while (g->number[b] > g->number[a])
		b = g->idom[b];
	return a == b;
}

/* Marks all nodes from which `from` can be reached.  `stack` has room for every node. */
static void mark_back(const struct facts_graph *g, uint32_t from, bool *marked, uint32_t *stack)
{
	uint32_t depth = 0;
	marked[from] = true;
	stack[depth++] = from;
	while (depth != 0) {
		uint32_t n = stack[--depth];
		for (uint32_t e = g->pred_start[n]; e < g->pred_start[n + 1]; e++)
			if (!marked[g->pred[e]]) {
				marked[g->pred[e]] = true;
				stack[depth++] = g->pred[e];
			}
	}
}

void facts_graph_reverse(const struct facts_graph *g, struct facts_graph *reverse)
{
	size_t edges = g->nodes != 0 ? g->succ_start[g->nodes] : 0, count = 0;
	struct facts_edge *list = rd_xcalloc(edges + g->nodes + 1, sizeof *list);
	bool *ends = rd_xcalloc(g->nodes + 1, sizeof *ends);
	uint32_t *stack = rd_xcalloc(g->nodes + 1, sizeof *stack);
	for (uint32_t n = 0; n < g->nodes; n++) {
		for (uint32_t e = g->succ_start[n]; e < g->succ_start[n + 1]; e++)
			list[count++] = (struct facts_edge){g->succ[e] + 1, n + 1};
		if (g->succ_start[n] != g->succ_start[n + 1])
			continue;
		list[count++] = (struct facts_edge){0, n + 1};
		if (!ends[n])
			mark_back(g, n, ends, stack);
	}
	for (uint32_t i = g->reached; i-- > 0;) {
		if (ends[g->order[i]])
			continue;
		list[count++] = (struct facts_edge){0, g->order[i] + 1};
		mark_back(g, g->order[i], ends, stack);
	}
	facts_graph_init(reverse, g->nodes + 1, list, count);
	RD_FREE(list, ends, stack);
}

/* Adds blocks to the loop, walking backwards from the source of a back edge to the header. */
static void loop_add(struct facts_loop *loop, const struct facts_graph *g, uint32_t *mark, uint32_t source)
{
	uint32_t done = loop->size;
	if (mark[source] != loop->header) {
		mark[source] = loop->header;
		loop->body[loop->size++] = source;
	}
	for (; done < loop->size; done++) {
		uint32_t n = loop->body[done];
		for (uint32_t e = g->pred_start[n]; e < g->pred_start[n + 1]; e++) {
			uint32_t p = g->pred[e];
			if (g->number[p] == FACTS_NONE || mark[p] == loop->header)
				continue;
			mark[p] = loop->header;
			loop->body[loop->size++] = p;
		}
	}
}

static int larger_first(const void *a, const void *b)
{
	const struct facts_loop *x = a, *y = b;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->header < y->header ? -1 : 1;
}

void facts_loops_init(struct facts_loops *l, const struct facts_graph *g)
{
	size_t capacity = 0;
	uint32_t *mark = rd_xmalloc((g->nodes + 1) * sizeof *mark);
	uint32_t *body = rd_xmalloc((g->nodes + 1) * sizeof *body);
	memset(l, 0, sizeof *l);
	memset(mark, 0xff, (g->nodes + 1) * sizeof *mark);
	for (uint32_t i = 0; i < g->reached; i++) {
		struct facts_loop loop = {.header = g->order[i], .size = 1, .body = body};
		bool found = false;
		body[0] = loop.header;
		mark[loop.header] = loop.header;
		for (uint32_t e = g->pred_start[loop.header]; e < g->pred_start[loop.header + 1]; e++) {
			if (!facts_graph_dominates(g, loop.header, g->pred[e]))
				continue;
			found = true;
			loop_add(&loop, g, mark, g->pred[e]);
		}
		if (!found)
			continue;
		loop.body = rd_xmalloc(loop.size * sizeof *loop.body);
		memcpy(loop.body, body, loop.size * sizeof *loop.body);
		RD_GROW(l->items, capacity, l->count + 1);
		l->items[l->count++] = loop;
	}
	free(mark);
	free(body);
	if (l->count != 0)
		qsort(l->items, l->count, sizeof *l->items, larger_first);
	l->innermost = rd_xmalloc((g->nodes + 1) * sizeof *l->innermost);
	memset(l->innermost, 0xff, (g->nodes + 1) * sizeof *l->innermost);
	for (size_t i = 0; i < l->count; i++)
		for (uint32_t k = 0; k < l->items[i].size; k++)
			l->innermost[l->items[i].body[k]] = i;
}

void facts_loops_release(struct facts_loops *l)
{
	RD_FREE_EACH(l->items, l->count, .body);
	free(l->items);
	free(l->innermost);
	memset(l, 0, sizeof *l);
}

bool facts_loop_has(const struct facts_loop *loop, uint32_t node)
{
	for (uint32_t i = 0; i < loop->size; i++)
		if (loop->body[i] == node)
			return true;
	return false;
}
