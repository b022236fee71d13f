/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds steps of pointers that repeat.  For example, a loop advances a pointer (p = p + 4).  The
 * solver would find that the pointer points to one place after another.  Such a step is part of a
 * cycle of copies and steps.  So it is replaced by a step over any number of elements.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "facts/graph.h"
#include "ir/points.h"

#include <stdlib.h>
#include <string.h>

struct cycle_search {
	const struct facts_graph *g;
	uint32_t *number, *low, *component, *stack, *path, *edge;
	uint32_t next_number, depth, count;
};

static void close_component(struct cycle_search *s, uint32_t n)
{
	RD_ASSERT(n < s->g->nodes);
	uint32_t member;
	do {
		member = s->stack[--s->depth];
		s->component[member] = s->count;
	} while (member != n);
	s->count++;
}

/* Tarjan's search without recursion.  path[] contains the nodes on the stack, and edge[] the next
 * edge of each node. */
static void search_from(struct cycle_search *s, uint32_t start)
{
	uint32_t length = 0;
	s->path[length++] = start;
	while (length != 0) {
		uint32_t n = s->path[length - 1];
		if (s->number[n] == 0) {
			s->number[n] = s->low[n] = ++s->next_number;
			s->stack[s->depth++] = n;
			s->edge[n] = s->g->succ_start[n];
		}
		if (s->edge[n] < s->g->succ_start[n + 1]) {
			uint32_t to = s->g->succ[s->edge[n]++];
			if (s->number[to] == 0)
				s->path[length++] = to;
			else if (s->component[to] == FACTS_NONE && s->number[to] < s->low[n])
				s->low[n] = s->number[to];
			continue;
		}
		length--;
		if (length != 0 && s->low[n] < s->low[s->path[length - 1]])
			s->low[s->path[length - 1]] = s->low[n];
		if (s->low[n] == s->number[n])
			close_component(s, n);
	}
}

/* Sets component[n] to the same number for all nodes that are on a common cycle. */
static void components(const struct facts_graph *g, uint32_t *component)
{
	struct cycle_search s = {.g = g, .component = component};
	uint32_t *all = rd_xcalloc(5 * ((size_t)g->nodes + 1), sizeof *all);
	s.number = all;
	s.low = all + g->nodes + 1;
	s.stack = s.low + g->nodes + 1;
	s.path = s.stack + g->nodes + 1;
	s.edge = s.path + g->nodes + 1;
	memset(component, 0xff, ((size_t)g->nodes + 1) * sizeof *component);
	for (uint32_t n = 0; n < g->nodes; n++)
		if (s.number[n] == 0)
			search_from(&s, n);
	free(all);
}

void ir_points_repeat(struct ir_points_problem *p)
{
	struct facts_edge *edges = rd_xcalloc(p->constraint_count + 1, sizeof *edges);
	uint32_t *component = rd_xcalloc((size_t)p->variables + 2, sizeof *component);
	struct facts_graph g;
	size_t count = 0;
	for (size_t i = 0; i < p->constraint_count; i++)
		if (p->constraints[i].kind == IR_COPY || p->constraints[i].kind == IR_STEP)
			edges[count++] = (struct facts_edge){p->constraints[i].from, p->constraints[i].to};
	facts_graph_init(&g, p->variables, edges, count);
	components(&g, component);
	for (size_t i = 0; i < p->constraint_count; i++) {
		struct ir_constraint *c = &p->constraints[i];
		if (c->kind != IR_STEP || c->offset == 0 || c->stride == IR_ANYWHERE ||
		    component[c->from] != component[c->to])
			continue;
		c->stride = ir_common_divisor(c->offset < 0 ? -c->offset : c->offset, c->stride);
		c->offset = 0;
	}
	facts_graph_release(&g);
	free(edges);
	free(component);
}
