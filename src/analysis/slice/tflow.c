// SPDX-License-Identifier: Apache-2.0
/* Builds the flow graph of all threads (slice/tflow.h) from the facts, and answers questions about
 * it. */
#include "slice/tflow.h"

#include "base/alloc.h"
#include "base/error.h"
#include "facts/role.h"

#include <stdlib.h>
#include <string.h>

enum { OP_INVOKE = 5 }; /* LLVM's opcode number, as in the facts */
/* The largest amount of work for computing the sets `before`, in visited nodes.  It was set by
 * hand.  This much work takes some seconds. */
enum { NODES_MADE_MAX = 1 << 29 };

static size_t words(const struct tflow *w)
{
	return w->nodes / 64 + 1;
}

static bool has(const uint64_t *set, uint32_t node)
{
	return set[node / 64] >> node % 64 & 1;
}

static void put(uint64_t *set, uint32_t node)
{
	set[node / 64] |= UINT64_C(1) << node % 64;
}

/* ---------------------------------------------------------------- the graph --- */

struct edges {
	struct facts_edge *items;
	size_t count, capacity;
};

static void add_edge(struct edges *e, uint32_t from, uint32_t to)
{
	RD_GROW(e->items, e->capacity, e->count + 1);
	e->items[e->count++] = (struct facts_edge){from, to};
}

static bool is_join(const struct facts *f, uint32_t value)
{
	struct facts_run calls = facts_calls_of(f, value);
	for (uint32_t c = calls.first; c < calls.end; c++) {
		uint32_t role = f->functions[f->calls[c].function].role;
		if (role == FACTS_ROLE_THREAD_JOIN || role == FACTS_ROLE_TRY_JOIN)
			return true;
	}
	return false;
}

/* Returns true if the value is a join, or a call of a function whose code is in the facts. */
static bool ends_node(const struct facts *f, uint32_t value)
{
	struct facts_run calls = facts_calls_of(f, value);
	for (uint32_t c = calls.first; c < calls.end; c++)
		if (!(f->functions[f->calls[c].function].flags & FACTS_FUNCTION_EXTERNAL))
			return true;
	return f->values[value].kind == FACTS_CALL && is_join(f, value);
}

static void number_nodes(struct tflow *w, uint32_t function)
{
	const struct facts *f = w->f;
	struct facts_run blocks = facts_blocks_of(f, function), values = facts_values_of(f, function);
	for (uint32_t v = values.first; v < values.end; v++)
		w->node_of[v] = w->nodes;
	for (uint32_t b = blocks.first; b < blocks.end; b++) {
		struct facts_run run = facts_block_values(f, function, b);
		for (uint32_t v = run.first; v < run.end; v++) {
			w->node_of[v] = w->nodes;
			if (v + 1 < run.end && ends_node(f, v))
				w->nodes++;
		}
		w->nodes++;
	}
}

/* Returns the node at the beginning of a block; last_node() returns the node at its end. */
static uint32_t first_node(const struct tflow *w, uint32_t function, uint32_t block)
{
	struct facts_run run = facts_block_values(w->f, function, block);
	return run.first < run.end ? w->node_of[run.first] : FACTS_NONE;
}

static uint32_t last_node(const struct tflow *w, uint32_t function, uint32_t block)
{
	struct facts_run run = facts_block_values(w->f, function, block);
	return run.first < run.end ? w->node_of[run.end - 1] : FACTS_NONE;
}

/* Adds edges from the returns of a function to the node `back`. */
static void add_returns(const struct tflow *w, struct edges *e, uint32_t function, uint32_t back)
{
	struct facts_run values = facts_values_of(w->f, function);
	for (uint32_t v = values.first; v < values.end; v++)
		if (w->f->values[v].kind == FACTS_RETURN)
			add_edge(e, w->node_of[v], back);
}

static void connect_call(const struct tflow *w, struct edges *e, uint32_t value, uint32_t back)
{
	const struct facts *f = w->f;
	struct facts_run calls = facts_calls_of(f, value);
	for (uint32_t c = calls.first; c < calls.end; c++) {
		uint32_t function = f->calls[c].function;
		struct facts_run blocks = facts_blocks_of(f, function);
		if (blocks.first == blocks.end || first_node(w, function, blocks.first) == FACTS_NONE)
			continue;
		add_edge(e, w->node_of[value], first_node(w, function, blocks.first));
		if (f->calls[c].kind != FACTS_EDGE_START)
			add_returns(w, e, function, back);
	}
}

/* Adds edges to a join from the ends of all threads, since it may join any of them. */
static void connect_join(const struct tflow *w, struct edges *e, uint32_t back)
{
	for (size_t c = 0; c < w->f->call_count; c++)
		if (w->f->calls[c].kind == FACTS_EDGE_START)
			add_returns(w, e, w->f->calls[c].function, back);
}

static void connect(const struct tflow *w, struct edges *e, uint32_t function)
{
	const struct facts *f = w->f;
	struct facts_run blocks = facts_blocks_of(f, function);
	for (uint32_t b = blocks.first; b < blocks.end; b++) {
		struct facts_run run = facts_block_values(f, function, b);
		struct facts_run to = facts_successors_of(f, b);
		for (uint32_t v = run.first; v < run.end; v++) {
			uint32_t back = v + 1 < run.end ? w->node_of[v + 1] : w->node_of[v];
			if (back != w->node_of[v])
				add_edge(e, w->node_of[v], back);
			if (f->values[v].kind != FACTS_CALL)
				continue;
			connect_call(w, e, v, back);
			if (is_join(f, v))
				connect_join(w, e, back);
		}
		for (uint32_t s = to.first; s < to.end && run.first < run.end; s++) {
			uint32_t next = first_node(w, function, f->successors[s].block);
			if (next != FACTS_NONE)
				add_edge(e, last_node(w, function, b), next);
		}
	}
}

/* ----------------------------------------------------------------- searches --- */

/* Adds the nodes that can be reached from `node` by one or more edges to `set`.  Returns their
 * number. */
static uint32_t spread(const struct tflow *w, uint32_t node, bool back, uint64_t *set)
{
	const struct facts_graph *g = &w->graph;
	const uint32_t *start = back ? g->pred_start : g->succ_start, *list = back ? g->pred : g->succ;
	uint32_t *stack = rd_xcalloc(w->nodes + 1, sizeof *stack), depth = 0, seen = 1;
	stack[depth++] = node;
	while (depth != 0) {
		uint32_t n = stack[--depth];
		for (uint32_t i = start[n]; i < start[n + 1]; i++) {
			if (has(set, list[i]))
				continue;
			put(set, list[i]);
			stack[depth++] = list[i];
			seen++;
		}
	}
	/* Each node is reached once, except that the first may be reached a second time. */
	RD_ASSERT(seen <= w->nodes + 1);
	free(stack);
	return seen;
}

static void put_function(const struct tflow *w, uint32_t function, uint64_t *set)
{
	struct facts_run values = facts_values_of(w->f, function);
	for (uint32_t v = values.first; v < values.end; v++)
		put(set, w->node_of[v]);
}

/* Adds the nodes of a function and of all functions that it calls, directly or not. */
static void put_reached(const struct tflow *w, uint32_t function, uint64_t *set)
{
	const struct facts *f = w->f;
	uint32_t *stack = rd_xcalloc(f->function_count + 1, sizeof *stack), depth = 0;
	uint8_t *seen = rd_xcalloc(f->function_count + 1, 1);
	stack[depth++] = function;
	seen[function] = 1;
	while (depth != 0) {
		uint32_t at = stack[--depth];
		struct facts_run values = facts_values_of(f, at);
		put_function(w, at, set);
		for (uint32_t c = facts_calls_of(f, values.first).first;
		     c < f->call_count && f->calls[c].value < values.end; c++) {
			uint32_t to = f->calls[c].function;
			if (seen[to] || f->calls[c].kind == FACTS_EDGE_START)
				continue;
			seen[to] = 1;
			stack[depth++] = to;
		}
	}
	free(stack);
	free(seen);
}

static void find_starts(struct tflow *w)
{
	const struct facts *f = w->f;
	for (size_t c = 0; c < f->call_count; c++) {
		uint32_t value = f->calls[c].value, function = f->calls[c].function;
		if (f->calls[c].kind != FACTS_EDGE_START ||
		    (f->functions[function].flags & FACTS_FUNCTION_EXTERNAL))
			continue;
		RD_GROW(w->starts, w->start_capacity, w->start_count + 1);
		struct tflow_start *s = &w->starts[w->start_count++];
		s->behind = rd_xcalloc(words(w), sizeof *s->behind);
		s->thread = rd_xcalloc(words(w), sizeof *s->thread);
		put_reached(w, function, s->thread);
		/* The next node follows the call, unless the call ends its block. */
		uint32_t next = w->node_of[value] + (f->values[value].detail != OP_INVOKE);
		if (next >= w->nodes)
			continue;
		put(s->behind, next);
		spread(w, next, false, s->behind);
	}
}

void tflow_init(struct tflow *w, const struct facts *f)
{
	struct edges e = {0};
	*w = (struct tflow){.f = f};
	w->node_of = rd_xcalloc(f->value_count + 1, sizeof *w->node_of);
	for (uint32_t i = 0; i < f->function_count; i++)
		number_nodes(w, i);
	for (uint32_t i = 0; i < f->function_count; i++)
		connect(w, &e, i);
	facts_graph_init(&w->graph, w->nodes, e.items, e.count);
	free(e.items);
	w->before = rd_xcalloc(w->nodes + 1, sizeof *w->before);
	find_starts(w);
}

void tflow_release(struct tflow *w)
{
	RD_FREE_EACH(w->before, w->nodes);
	for (size_t i = 0; i < w->start_count; i++)
		RD_FREE(w->starts[i].behind, w->starts[i].thread);
	facts_graph_release(&w->graph);
	RD_FREE(w->before, w->starts, w->node_of);
	*w = (struct tflow){0};
}

/* Returns true if, for some start of a thread, the new thread may execute one of the two nodes and
 * the other node may be executed after the start. */
static bool are_parallel(const struct tflow *w, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < w->start_count; i++) {
		const struct tflow_start *s = &w->starts[i];
		if ((has(s->thread, a) && has(s->behind, b)) || (has(s->thread, b) && has(s->behind, a)))
			return true;
	}
	return false;
}

bool tflow_comes_before(struct tflow *w, uint32_t from, uint32_t to)
{
	uint32_t a = w->node_of[from], b = w->node_of[to];
	if ((a == b && from < to) || w->coarse)
		return true;
	if (w->before[b] == NULL) {
		w->before[b] = rd_xcalloc(words(w), sizeof **w->before);
		w->made += spread(w, b, true, w->before[b]) + words(w);
		w->coarse = w->made > NODES_MADE_MAX;
	}
	return has(w->before[b], a) || are_parallel(w, a, b);
}

void tflow_steps(const struct tflow *w, const uint32_t *values, size_t count, uint32_t *steps)
{
	uint32_t *queue = rd_xcalloc(w->nodes + 1, sizeof *queue), head = 0, tail = 0;
	memset(steps, 0xff, w->nodes * sizeof *steps);
	for (size_t i = 0; i < count; i++) {
		uint32_t n = w->node_of[values[i]];
		if (steps[n] == 0)
			continue;
		steps[n] = 0;
		queue[tail++] = n;
	}
	while (head < tail) {
		uint32_t n = queue[head++];
		for (uint32_t i = w->graph.pred_start[n]; i < w->graph.pred_start[n + 1]; i++) {
			uint32_t p = w->graph.pred[i];
			if (steps[p] != FACTS_NONE)
				continue;
			steps[p] = steps[n] + 1;
			queue[tail++] = p;
		}
	}
	RD_ASSERT(tail <= w->nodes);
	free(queue);
}
