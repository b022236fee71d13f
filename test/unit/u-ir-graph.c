/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order, dominators and loops of random graphs, against their definitions: a
 * dominates b if b is not reached without a; a natural loop is its header and what
 * reaches a back edge without meeting the header.
 */
#include "base/alloc.h"
#include "ir/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_NODES = 14, ROUNDS = 4000 };

static uint32_t seed = 12345;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

struct sample {
	uint32_t nodes;
	struct ir_edge edges[64];
	size_t count;
};

static void make_sample(struct sample *s)
{
	s->nodes = 1 + random_below(MAX_NODES);
	s->count = random_below(3 * s->nodes);
	for (size_t i = 0; i < s->count; i++)
		s->edges[i] = (struct ir_edge){random_below(s->nodes), random_below(s->nodes)};
}

/* The nodes reached from `start` over at least zero edges, never entering `without`. */
static void reach(const struct sample *s, uint32_t start, uint32_t without, bool *reached)
{
	memset(reached, 0, MAX_NODES * sizeof *reached);
	if (start == without)
		return;
	reached[start] = true;
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < s->count; i++) {
			const struct ir_edge *e = &s->edges[i];
			if (reached[e->from] && !reached[e->to] && e->to != without)
				changed = reached[e->to] = true;
		}
	}
}

static bool slow_dominates(const struct sample *s, uint32_t a, uint32_t b)
{
	bool all[MAX_NODES], others[MAX_NODES];
	reach(s, 0, IR_NONE, all);
	reach(s, 0, a, others);
	return all[a] && all[b] && !others[b];
}

static void test_order(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct sample s;
		struct ir_graph g;
		bool reached[MAX_NODES];
		uint32_t count = 0;
		make_sample(&s);
		ir_graph_init(&g, s.nodes, s.edges, s.count);
		reach(&s, 0, IR_NONE, reached);
		for (uint32_t n = 0; n < s.nodes; n++) {
			count += reached[n];
			assert_int_equal(g.number[n] != IR_NONE, reached[n]);
			if (reached[n])
				assert_int_equal(g.order[g.number[n]], n);
		}
		assert_int_equal(g.reached, count);
		assert_int_equal(g.succ_start[s.nodes], s.count);
		assert_int_equal(g.pred_start[s.nodes], s.count);
		ir_graph_release(&g);
	}
}

static void test_dominators(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct sample s;
		struct ir_graph g;
		make_sample(&s);
		ir_graph_init(&g, s.nodes, s.edges, s.count);
		ir_graph_dominators(&g);
		for (uint32_t a = 0; a < s.nodes; a++)
			for (uint32_t b = 0; b < s.nodes; b++)
				assert_int_equal(ir_graph_dominates(&g, a, b), slow_dominates(&s, a, b));
		ir_graph_release(&g);
	}
}

/* Whether `n` belongs to the natural loop of `header`; *exists: there is one. */
static bool slow_in_loop(const struct sample *s, uint32_t header, uint32_t n, bool *exists)
{
	bool inside = false, alive[MAX_NODES], from[MAX_NODES];
	*exists = false;
	reach(s, 0, IR_NONE, alive);
	reach(s, n, header, from);
	for (size_t i = 0; i < s->count; i++) {
		if (s->edges[i].to != header || !slow_dominates(s, header, s->edges[i].from))
			continue;
		*exists = true;
		inside |= n == header || (alive[n] && from[s->edges[i].from]);
	}
	return inside;
}

static void test_loops(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS / 4; round++) {
		struct sample s;
		struct ir_graph g;
		struct ir_loops loops;
		make_sample(&s);
		ir_graph_init(&g, s.nodes, s.edges, s.count);
		ir_graph_dominators(&g);
		ir_loops_init(&loops, &g);
		size_t count = 0;
		for (uint32_t h = 0; h < s.nodes; h++) {
			const struct ir_loop *loop = NULL;
			bool exists;
			slow_in_loop(&s, h, h, &exists);
			count += exists;
			for (size_t i = 0; i < loops.count; i++)
				if (loops.items[i].header == h)
					loop = &loops.items[i];
			assert_int_equal(loop != NULL, exists);
			for (uint32_t n = 0; exists && n < s.nodes; n++)
				assert_int_equal(ir_loop_has(loop, n), slow_in_loop(&s, h, n, &exists));
		}
		assert_int_equal(count, loops.count);
		/* The innermost loop of a node is a smallest one that has it. */
		for (uint32_t n = 0; n < s.nodes; n++) {
			uint32_t smallest = IR_NONE;
			for (size_t i = 0; i < loops.count; i++)
				if (ir_loop_has(&loops.items[i], n) && loops.items[i].size < smallest)
					smallest = loops.items[i].size;
			assert_int_equal(loops.innermost[n] == IR_NONE, smallest == IR_NONE);
			if (smallest != IR_NONE)
				assert_int_equal(loops.items[loops.innermost[n]].size, smallest);
		}
		ir_loops_release(&loops);
		ir_graph_release(&g);
	}
}

/* A long chain must neither recurse nor take quadratic time. */
static void test_long_chain(void **state)
{
	enum { LENGTH = 200000 };
	struct ir_edge *edges = rd_xcalloc(LENGTH, sizeof *edges);
	struct ir_graph g;
	(void)state;
	for (uint32_t i = 0; i + 1 < LENGTH; i++)
		edges[i] = (struct ir_edge){i, i + 1};
	ir_graph_init(&g, LENGTH, edges, LENGTH - 1);
	ir_graph_dominators(&g);
	assert_int_equal(g.reached, LENGTH);
	assert_int_equal(g.idom[LENGTH - 1], LENGTH - 2);
	ir_graph_release(&g);
	free(edges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_dominators),
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_long_chain),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
