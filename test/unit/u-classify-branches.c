// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of classify/branches-int.h with made-up paths.  They compare which branches can be
 * inverted, and in which order, with a definition that compares conditions as trees.  They also
 * test the conditions of a query, and the sentences about conditions.
 */
#include "classify/branches-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 12, VARS = 3, STEPS = 20 };

static uint64_t seed = 31;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* ---- random paths ---- */

struct path {
	struct raddle_expr nodes[NODES];
	struct raddle_shadow_var vars[VARS];
	struct raddle_shadow_step steps[STEPS];
};

/* Makes a path with few different expressions, numbered differently in each path, so that two paths
 * often have equal conditions. */
static void some_path(struct path *p, struct sym_trace *t)
{
	*t = (struct sym_trace){.nodes = p->nodes,
				.vars = p->vars,
				.steps = p->steps,
				.node_count = NODES,
				.var_count = VARS,
				.step_count = below(STEPS + 1),
				.input_count = 2};
	*p = (struct path){.nodes = {{.op = RADDLE_EXPR_NONE}}};
	t->inputs[0] = (struct raddle_shadow_input){.kind = RADDLE_INPUT_ARGV, .number = 1};
	t->inputs[1] = (struct raddle_shadow_input){.kind = RADDLE_INPUT_STDIN};
	for (uint32_t i = 0; i < VARS; i++)
		p->vars[i] = (struct raddle_shadow_var){
			.sort = RADDLE_VAR_BYTE, .bits = 8, .input = below(2), .offset = below(2)};
	for (uint32_t i = 1; i < NODES; i++) {
		struct raddle_expr *e = &p->nodes[i];

		if (i < 3 || below(3) == 0) {
			uint32_t var = below(VARS);

			*e = (struct raddle_expr){.op = RADDLE_EXPR_VAR,
						  .bits = 8,
						  .k = var,
						  .inputs = 1ull << p->vars[var].input};
		} else {
			uint32_t a = 1 + below(i - 1), b = 1 + below(i - 1);

			*e = (struct raddle_expr){.op = below(2) ? RADDLE_EXPR_EQ : RADDLE_EXPR_ULT,
						  .bits = 1,
						  .a = a,
						  .b = b,
						  .inputs = p->nodes[a].inputs | p->nodes[b].inputs};
		}
	}
	for (size_t i = 0; i < t->step_count; i++)
		p->steps[i] = (struct raddle_shadow_step){.site = 1 + below(2),
							  .thread = below(2),
							  .cond = 1 + below(NODES - 1),
							  .taken = below(2),
							  .kind = below(4)   ? RADDLE_STEP_BRANCH
								  : below(2) ? RADDLE_STEP_ADDRESS
									     : RADDLE_STEP_ASSUME,
							  .met = i >= t->step_count / 2};
}

/* ---- the definition of which branches are inverted, and in which order ---- */

/* Whether two expressions are the same tree over the same bytes of input. */
static bool is_same(const struct sym_trace *s, uint32_t a, const struct sym_trace *t, uint32_t b)
{
	const struct raddle_expr *x = &s->nodes[a], *y = &t->nodes[b];

	if (x->op != y->op || x->bits != y->bits)
		return false;
	if (x->op == RADDLE_EXPR_VAR) /* the numbers of the variables do not matter */
		return s->vars[x->k].input == t->vars[y->k].input &&
		       s->vars[x->k].offset == t->vars[y->k].offset;
	return x->op == RADDLE_EXPR_NONE || (is_same(s, x->a, t, y->a) && is_same(s, x->b, t, y->b));
}

static bool has_other(const struct sym_trace *t, const struct sym_trace *other, size_t step)
{
	for (size_t i = 0; i < other->step_count; i++)
		if (other->steps[i].met && other->steps[i].site == t->steps[step].site &&
		    is_same(t, t->steps[step].cond, other, other->steps[i].cond))
			return true;
	return false;
}

/* Returns the group of a branch.  Groups with lower numbers are inverted first. */
static unsigned group_of(const struct sym_trace *t, const struct sym_trace *other, size_t step)
{
	const struct raddle_shadow_step *s = &t->steps[step];

	if (s->kind == RADDLE_STEP_ADDRESS)
		return 4;
	if (!s->met)
		return 3;
	if (!has_other(t, other, step))
		return 0;
	return s->thread ? 1 : 2;
}

static bool comes_first(const struct sym_trace traces[2], const struct path_branch *a,
			const struct path_branch *b)
{
	const struct sym_trace *s = &traces[a->trace], *t = &traces[b->trace];
	unsigned x = group_of(s, &traces[!a->trace], a->step), y = group_of(t, &traces[!b->trace], b->step);
	size_t i = x >= 3 ? s->step_count - a->step : a->step, k = y >= 3 ? t->step_count - b->step : b->step;

	if (x != y)
		return x < y;
	if (i != k)
		return i < k;
	return a->step != b->step ? a->step < b->step : a->trace < b->trace;
}

static bool can_turn(const struct sym_trace *t, size_t step, uint64_t chosen)
{
	return t->steps[step].kind != RADDLE_STEP_ASSUME && t->nodes[t->steps[step].cond].inputs & chosen;
}

static void test_find(void **state)
{
	size_t groups[5] = {0};

	(void)state;
	for (int round = 0; round < 2000; round++) {
		static struct path paths[2];
		struct sym_trace traces[2];
		uint64_t chosen[2] = {below(4), below(4)};
		struct path_branch *all;
		size_t count, expected = 0;

		for (int k = 0; k < 2; k++)
			some_path(&paths[k], &traces[k]);
		all = branches_find(traces, chosen, &count);
		for (int k = 0; k < 2; k++)
			for (size_t i = 0; i < traces[k].step_count; i++)
				expected += can_turn(&traces[k], i, chosen[k]);
		assert_int_equal(count, expected);
		for (size_t i = 0; i < count; i++) {
			assert_true(can_turn(&traces[all[i].trace], all[i].step, chosen[all[i].trace]));
			groups[group_of(&traces[all[i].trace], &traces[!all[i].trace], all[i].step)]++;
			assert_true(i == 0 || comes_first(traces, &all[i - 1], &all[i]));
		}
		free(all);
	}
	for (int i = 0; i < 5; i++)
		assert_true(groups[i] > 100);
}

/* Only the last step of the query is inverted, and later steps are left out. */
static void test_facts(void **state)
{
	(void)state;
	for (int round = 0; round < 500; round++) {
		static struct path path;
		struct sym_trace t;

		some_path(&path, &t);
		for (size_t step = 0; step < t.step_count; step++) {
			struct sym_fact *facts = branches_facts(&t, step);

			for (size_t i = 0; i <= step; i++) {
				assert_int_equal(facts[i].node, t.steps[i].cond);
				assert_int_equal(facts[i].holds,
						 i == step ? !t.steps[i].taken : t.steps[i].taken);
			}
			free(facts);
		}
	}
}

/* Two pairs of paths have the same hash if the same branches go the same way, whatever their
 * conditions are. */
static void test_hash(void **state)
{
	size_t same = 0;

	(void)state;
	for (int round = 0; round < 5000; round++) {
		static struct path paths[4];
		struct sym_trace one[2], other[2];
		bool equal = true;

		for (int k = 0; k < 2; k++) {
			some_path(&paths[k], &one[k]);
			some_path(&paths[2 + k], &other[k]);
			one[k].step_count %= 3;
			other[k].step_count %= 3;
			for (size_t i = 0; i < STEPS; i++)
				paths[k].steps[i].kind = paths[2 + k].steps[i].kind = RADDLE_STEP_BRANCH;
			equal &= one[k].step_count == other[k].step_count;
			for (size_t i = 0; i < one[k].step_count && equal; i++)
				equal &= one[k].steps[i].site == other[k].steps[i].site &&
					 one[k].steps[i].taken == other[k].steps[i].taken;
		}
		assert_int_equal(branches_hash(one) == branches_hash(other), equal);
		same += equal;
	}
	assert_true(same > 10);
}

/* ---- sentences about the conditions of a path ---- */

static char *described(struct sym_trace *t)
{
	struct rd_buf text = RD_BUF_INIT;

	branches_describe(t, &text);
	return rd_buf_detach(&text);
}

/* Puts the condition "byte `var` of the input equals the number" at node `at` + 2.  Its operands
 * are the two nodes before. */
static void put_condition(struct path *p, uint32_t at, uint32_t var, uint64_t number)
{
	p->nodes[at] = (struct raddle_expr){.op = RADDLE_EXPR_VAR, .bits = 8, .k = var};
	p->nodes[at + 1] = (struct raddle_expr){.op = RADDLE_EXPR_CONST, .bits = 8, .k = number};
	p->nodes[at + 2] = (struct raddle_expr){.op = RADDLE_EXPR_EQ, .bits = 1, .a = at, .b = at + 1};
}

static void test_describe(void **state)
{
	static struct path p;
	struct sym_trace t;
	char *text, *again;

	(void)state;
	some_path(&p, &t);
	t.step_count = 0;
	text = described(&t);
	assert_string_equal(text, "any input\n");
	free(text);

	/* Duplicates are written once.  Conditions on addresses are not shown to the user. */
	t.step_count = 4;
	p.vars[0] = (struct raddle_shadow_var){.sort = RADDLE_VAR_BYTE, .bits = 8};
	p.vars[1] = (struct raddle_shadow_var){.sort = RADDLE_VAR_BYTE, .bits = 8, .offset = 1};
	put_condition(&p, 1, 0, 97);
	put_condition(&p, 4, 1, 98);
	for (uint32_t i = 0; i < 4; i++)
		p.steps[i] = (struct raddle_shadow_step){.cond = i == 1 ? 6 : 3,
							 .taken = 1,
							 .kind = i == 3 ? RADDLE_STEP_ADDRESS
									: RADDLE_STEP_BRANCH};
	text = described(&t);
	assert_int_equal(text[strlen(text) - 1], '\n');
	assert_non_null(strstr(text, " and "));
	assert_null(strstr(text, "not shown"));
	p.steps[2].taken = 0; /* the negated condition is another condition */
	again = described(&t);
	assert_true(strlen(again) > strlen(text));
	assert_memory_equal(again, text, strlen(text) - 1);
	free(again);
	free(text);
}

/* Conditions that cannot be put into words are counted. */
static void test_describe_rest(void **state)
{
	static struct path p;
	struct sym_trace t;
	char *text;

	(void)state;
	some_path(&p, &t);
	p.nodes[1] = (struct raddle_expr){.op = RADDLE_EXPR_VAR, .bits = 8};
	for (uint32_t i = 2; i < NODES; i++) /* too deep to be put into words */
		p.nodes[i] = (struct raddle_expr){.op = RADDLE_EXPR_MUL, .bits = 8, .a = i - 1, .b = i - 1};
	t.step_count = 2;
	p.steps[0] = p.steps[1] = (struct raddle_shadow_step){.cond = NODES - 1, .kind = RADDLE_STEP_BRANCH};
	text = described(&t);
	assert_string_equal(text, "2 conditions that are not shown\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),	      cmocka_unit_test(test_facts),
		cmocka_unit_test(test_hash),	      cmocka_unit_test(test_describe),
		cmocka_unit_test(test_describe_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
