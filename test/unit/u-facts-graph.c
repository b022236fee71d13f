/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of the order, dominators, post-dominators and loops of random graphs, compared with
 * their definitions.  Node a dominates b if b cannot be reached without passing a.  A natural loop
 * consists of its header and all nodes that reach a back edge without passing the header.
 */
#include "base/alloc.h"
#include "facts/graph.h"

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
	struct facts_edge edges[64];
	size_t count;
};

static void make_sample(struct sample *s)
{
	s->nodes = 1 + random_below(MAX_NODES);
	s->count = random_below(3 * s->nodes);
	for (size_t i = 0; i < s->count; i++)
		s->edges[i] = (struct facts_edge){random_below(s->nodes), random_below(s->nodes)};
}

/* Finds the nodes that zero or more edges reach from `start`, without entering `without`. */
static void reach(const struct sample *s, uint32_t start, uint32_t without, bool *reached)
{
	memset(reached, 0, MAX_NODES * sizeof *reached);
	if (start == without)
		return;
	reached[start] = true;
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < s->count; i++) {
			const struct facts_edge *e = &s->edges[i];
			if (reached[e->from] && !reached[e->to] && e->to != without)
				changed = reached[e->to] = true;
		}
	}
}

static bool slow_dominates(const struct sample *s, uint32_t a, uint32_t b)
{
	bool all[MAX_NODES], others[MAX_NODES];
	reach(s, 0, FACTS_NONE, all);
	reach(s, 0, a, others);
	return all[a] && all[b] && !others[b];
}

static void test_order(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct sample s;
		struct facts_graph g;
		bool reached[MAX_NODES];
		uint32_t count = 0;
		make_sample(&s);
		facts_graph_init(&g, s.nodes, s.edges, s.count);
		reach(&s, 0, FACTS_NONE, reached);
		for (uint32_t n = 0; n < s.nodes; n++) {
			count += reached[n];
			assert_int_equal(g.number[n] != FACTS_NONE, reached[n]);
			if (reached[n])
				assert_int_equal(g.order[g.number[n]], n);
		}
		assert_int_equal(g.reached, count);
		assert_int_equal(g.succ_start[s.nodes], s.count);
		assert_int_equal(g.pred_start[s.nodes], s.count);
		facts_graph_release(&g);
	}
}

static void test_dominators(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct sample s;
		struct facts_graph g;
		make_sample(&s);
		facts_graph_init(&g, s.nodes, s.edges, s.count);
		facts_graph_dominators(&g);
		for (uint32_t a = 0; a < s.nodes; a++)
			for (uint32_t b = 0; b < s.nodes; b++)
				assert_int_equal(facts_graph_dominates(&g, a, b), slow_dominates(&s, a, b));
		facts_graph_release(&g);
	}
}

/* Node a post-dominates b if no end can be reached from b without passing a.  The reversed graph
 * defines which nodes are ends.  Every node without successors must be an end, and every reachable
 * node must have a path to an end. */
static void test_post_dominators(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct sample s;
		struct facts_graph g, r;
		bool end[MAX_NODES] = {false}, way[MAX_NODES];
		make_sample(&s);
		facts_graph_init(&g, s.nodes, s.edges, s.count);
		facts_graph_reverse(&g, &r);
		facts_graph_dominators(&r);
		assert_int_equal(r.nodes, s.nodes + 1);
		for (uint32_t e = r.succ_start[0]; e < r.succ_start[1]; e++)
			end[r.succ[e] - 1] = true;
		for (uint32_t n = 0; n < s.nodes; n++)
			if (g.succ_start[n] == g.succ_start[n + 1])
				assert_true(end[n]);
		for (uint32_t b = 0; b < s.nodes; b++) {
			if (g.number[b] == FACTS_NONE)
				continue;
			assert_true(facts_graph_dominates(&r, 0, b + 1));
			for (uint32_t a = 0; a < s.nodes; a++) {
				bool escapes = false;
				reach(&s, b, a, way);
				for (uint32_t n = 0; n < s.nodes; n++)
					escapes |= way[n] && end[n];
				if (g.number[a] != FACTS_NONE)
					assert_int_equal(facts_graph_dominates(&r, a + 1, b + 1), !escapes);
			}
		}
		facts_graph_release(&g);
		facts_graph_release(&r);
	}
}

/* Whether `n` belongs to the natural loop of `header`.  Sets *exists if there is such a loop. */
static bool slow_in_loop(const struct sample *s, uint32_t header, uint32_t n, bool *exists)
{
	bool inside = false, alive[MAX_NODES], from[MAX_NODES];
	*exists = false;
	reach(s, 0, FACTS_NONE, alive);
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
		struct facts_graph g;
		struct facts_loops loops;
		make_sample(&s);
		facts_graph_init(&g, s.nodes, s.edges, s.count);
		facts_graph_dominators(&g);
		facts_loops_init(&loops, &g);
		size_t count = 0;
		for (uint32_t h = 0; h < s.nodes; h++) {
			const struct facts_loop *loop = NULL;
			bool exists;
			slow_in_loop(&s, h, h, &exists);
			count += exists;
			for (size_t i = 0; i < loops.count; i++)
				if (loops.items[i].header == h)
					loop = &loops.items[i];
			assert_int_equal(loop != NULL, exists);
			for (uint32_t n = 0; exists && n < s.nodes; n++)
				assert_int_equal(facts_loop_has(loop, n), slow_in_loop(&s, h, n, &exists));
		}
		assert_int_equal(count, loops.count);
		/* The innermost loop of a node is the smallest loop that contains it. */
		for (uint32_t n = 0; n < s.nodes; n++) {
			uint32_t smallest = FACTS_NONE;
			for (size_t i = 0; i < loops.count; i++)
				if (facts_loop_has(&loops.items[i], n) && loops.items[i].size < smallest)
					smallest = loops.items[i].size;
			assert_int_equal(loops.innermost[n] == FACTS_NONE, smallest == FACTS_NONE);
			if (smallest != FACTS_NONE)
				assert_int_equal(loops.items[loops.innermost[n]].size, smallest);
		}
		facts_loops_release(&loops);
		facts_graph_release(&g);
	}
}

/* A long chain must neither recurse nor take quadratic time. */
static void test_long_chain(void **state)
{
	enum { LENGTH = 200000 };
	struct facts_edge *edges = rd_xcalloc(LENGTH, sizeof *edges);
	struct facts_graph g;
	(void)state;
	for (uint32_t i = 0; i + 1 < LENGTH; i++)
		edges[i] = (struct facts_edge){i, i + 1};
	facts_graph_init(&g, LENGTH, edges, LENGTH - 1);
	facts_graph_dominators(&g);
	assert_int_equal(g.reached, LENGTH);
	assert_int_equal(g.idom[LENGTH - 1], LENGTH - 2);
	facts_graph_release(&g);
	free(edges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),		cmocka_unit_test(test_dominators),
		cmocka_unit_test(test_post_dominators), cmocka_unit_test(test_loops),
		cmocka_unit_test(test_long_chain),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
