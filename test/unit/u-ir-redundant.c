/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests which steps of random flow graphs are redundant, compared with the definition.  (A step is
 * an access, or a FORGET, after which earlier accesses no longer count.)  The test walks all
 * paths, and keeps the accesses since the last FORGET on each path.  A step is redundant if an
 * earlier step covers it on every path.
 */
#include "ir/redundant.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_BLOCKS = 7, MAX_KEYS = 5, MAX_STEPS = 24, ROUNDS = 3000 };

static uint32_t seed = 99;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

struct sample {
	uint32_t blocks, keys;
	size_t edge_count, step_count;
	struct facts_edge edges[32];
	struct ir_key key[MAX_KEYS];
	struct ir_step steps[MAX_STEPS];
	bool reached[MAX_STEPS], missing[MAX_STEPS]; /* results of the walk */
	/* whether the block was entered with this set of facts */
	uint8_t seen[MAX_BLOCKS][1 << (2 * MAX_KEYS)];
};

static bool covers(const struct sample *s, uint32_t outer, uint32_t inner)
{
	const struct ir_key *o = &s->key[outer], *i = &s->key[inner];
	return o->base == i->base && o->offset <= i->offset &&
	       i->offset + (int64_t)i->size <= o->offset + (int64_t)o->size;
}

static void make_sample(struct sample *s)
{
	memset(s, 0, sizeof *s);
	s->blocks = 1 + random_below(MAX_BLOCKS);
	s->keys = 1 + random_below(MAX_KEYS);
	s->edge_count = random_below(2 * s->blocks + 1);
	for (size_t i = 0; i < s->edge_count; i++)
		s->edges[i] = (struct facts_edge){random_below(s->blocks), random_below(s->blocks)};
	for (uint32_t i = 0; i < s->keys; i++) /* distinct keys; each base has 6 possible ones */
		for (uint32_t k = FACTS_NONE; k != i;) {
			s->key[i] =
				(struct ir_key){random_below(2), random_below(3) * 4, 4u << random_below(2)};
			for (k = 0; k < i && !(covers(s, k, i) && covers(s, i, k)); k++)
				;
		}
	for (uint32_t b = 0; b < s->blocks; b++)
		for (uint32_t n = random_below(4); n != 0 && s->step_count < MAX_STEPS; n--)
			s->steps[s->step_count++] = (struct ir_step){
				b, random_below(s->keys),
				random_below(8) == 0 ? IR_STEP_FORGET : (enum ir_step_kind)random_below(2)};
}

/* Whether earlier steps cover this one.  `facts` has two bits for each key: it was read, it was
 * written. */
static bool covered(const struct sample *s, uint32_t facts, const struct ir_step *step)
{
	for (uint32_t k = 0; k < s->keys; k++) {
		uint32_t enough = step->kind == IR_STEP_WRITE ? 2u : 3u;
		if (facts >> (2 * k) & enough && covers(s, k, step->key))
			return true;
	}
	return false;
}

static void walk(struct sample *s, uint32_t block, uint32_t facts)
{
	if (s->seen[block][facts])
		return;
	s->seen[block][facts] = 1;
	for (size_t i = 0; i < s->step_count; i++) {
		const struct ir_step *step = &s->steps[i];
		if (step->block != block)
			continue;
		if (step->kind == IR_STEP_FORGET) {
			facts = 0;
			continue;
		}
		s->reached[i] = true;
		s->missing[i] |= !covered(s, facts, step);
		facts |= (step->kind == IR_STEP_WRITE ? 2u : 1u) << (2 * step->key);
	}
	for (size_t e = 0; e < s->edge_count; e++)
		if (s->edges[e].from == block)
			walk(s, s->edges[e].to, facts);
}

static void test_against_all_paths(void **state)
{
	static struct sample s;
	unsigned found = 0;
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct facts_graph g;
		bool redundant[MAX_STEPS];
		make_sample(&s);
		facts_graph_init(&g, s.blocks, s.edges, s.edge_count);
		struct ir_steps steps = {s.steps, s.step_count, s.key, s.keys};
		ir_redundant(&g, &steps, redundant);
		walk(&s, 0, 0);
		for (size_t i = 0; i < s.step_count; i++) {
			assert_int_equal(redundant[i], s.reached[i] && !s.missing[i]);
			found += redundant[i];
		}
		facts_graph_release(&g);
	}
	assert_true(found > ROUNDS / 4);
}

static void test_nothing_to_do(void **state)
{
	struct facts_graph g;
	bool redundant[1] = {true};
	struct ir_step step = {0, 0, IR_STEP_READ};
	struct ir_key key = {0, 0, 4};
	struct ir_steps steps = {&step, 1, &key, 1};
	(void)state;
	facts_graph_init(&g, 1, NULL, 0);
	ir_redundant(&g, &steps, redundant);
	assert_false(redundant[0]);
	facts_graph_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_all_paths),
		cmocka_unit_test(test_nothing_to_do),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
