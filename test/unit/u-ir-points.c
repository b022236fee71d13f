/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of points-to sets, on random problems.  The sets are compared with their definition:
 * the smallest sets that satisfy every constraint.  The test finds these by applying all
 * constraints until nothing changes.  The sets that unification finds must contain these sets.
 */
#include "base/alloc.h"
#include "ir/points.h"
#include "bits-has.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VARIABLES = 14, OBJECTS = 6, FUNCTIONS = 2, OFFSETS = 33, ROUNDS = 6000 };

static uint32_t seed = 99;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

/* A set of places in the slow twin, by object and offset + 1.  Column 0 is the unknown offset
 * (-1). */
typedef bool set[OBJECTS][OFFSETS];

struct twin {
	const struct ir_points_problem *p;
	set variables[VARIABLES], contents[OBJECTS][OFFSETS];
	bool exists[OBJECTS][OFFSETS];
	bool called[8][FUNCTIONS];
	bool changed;
};

static void put(struct twin *t, set s, uint32_t object, int64_t offset)
{
	t->changed |= !s[object][offset + 1];
	t->exists[object][offset + 1] = s[object][offset + 1] = true;
}

static void put_all(struct twin *t, set to, set from)
{
	for (uint32_t o = 0; o < OBJECTS; o++)
		for (int64_t k = 0; k < OFFSETS; k++)
			if (from[o][k])
				put(t, to, o, k - 1);
}

/* A load from an unknown offset reads every place of the object.  Any load also reads what was
 * stored at an unknown offset. */
static void slow_load(struct twin *t, set to, uint32_t object, int64_t offset)
{
	for (int64_t k = 0; k < OFFSETS; k++)
		if (offset == IR_ANYWHERE || k == offset + 1 || (k == 0 && t->exists[object][offset + 1]))
			put_all(t, to, t->contents[object][k]);
}

static void slow_store(struct twin *t, uint32_t object, int64_t offset, set from)
{
	put_all(t, t->contents[object][offset + 1], from);
}

static void slow_constraint(struct twin *t, const struct ir_constraint *c)
{
	int64_t place;
	if (c->kind == IR_ADDRESS) {
		if (ir_object_place(&t->p->objects[c->from], c->offset, &place))
			put(t, t->variables[c->to], c->from, place);
		return;
	}
	if (c->kind == IR_COPY) {
		put_all(t, t->variables[c->to], t->variables[c->from]);
		return;
	}
	uint32_t pointer = c->kind == IR_STORE ? c->to : c->from;
	for (uint32_t o = 0; o < OBJECTS; o++)
		for (int64_t k = 0; k < OFFSETS; k++) {
			if (!t->variables[pointer][o][k])
				continue;
			if (c->kind == IR_LOAD)
				slow_load(t, t->variables[c->to], o, k - 1);
			else if (c->kind == IR_STORE)
				slow_store(t, o, k - 1, t->variables[c->from]);
			else if (ir_object_step(&t->p->objects[o], k - 1, c, &place))
				put(t, t->variables[c->to], o, place);
		}
}

static void slow_call(struct twin *t, uint32_t number)
{
	const struct ir_points_call *c = &t->p->calls[number];
	for (uint32_t o = 0; o < OBJECTS; o++)
		for (int64_t k = 0; k < OFFSETS; k++) {
			uint32_t function = t->p->objects[o].function;
			if (function == IR_NO_VARIABLE || !t->variables[c->callee][o][k] ||
			    !ir_points_fits(c, &t->p->functions[function]))
				continue;
			const struct ir_points_function *f = &t->p->functions[function];
			t->called[number][function] = true;
			for (uint32_t i = 0; i < c->argument_count && i < f->parameter_count; i++)
				put_all(t, t->variables[f->parameters + i],
					t->variables[t->p->arguments[c->arguments + i]]);
			put_all(t, t->variables[c->result], t->variables[f->result]);
		}
}

static void slow_solve(struct twin *t, const struct ir_points_problem *p)
{
	memset(t, 0, sizeof *t);
	t->p = p;
	for (t->changed = true; t->changed;) {
		t->changed = false;
		for (size_t i = 0; i < p->constraint_count; i++)
			slow_constraint(t, &p->constraints[i]);
		for (uint32_t i = 0; i < p->call_count; i++)
			slow_call(t, i);
	}
}

/* ------------------------------------------------------- random problems --- */

static void add_object(struct ir_points_problem *p, uint32_t number)
{
	static const struct ir_range arrays[][2] = {
		{{0, 32, 8}, {0, 8, 4}}, {{8, 24, 4}, {24, 32, 2}}, {{0, 32, 1}, {0, 1, 1}}};
	struct ir_points_object o = {.size = 32, .function = IR_NO_VARIABLE};
	if (number < FUNCTIONS) {
		o.function = number;
		o.size = 1;
	} else if (random_below(2)) {
		o.ranges = rd_xcalloc(2, sizeof *o.ranges);
		o.range_count = 2;
		memcpy(o.ranges, arrays[random_below(3)], 2 * sizeof *o.ranges);
	}
	RD_GROW(p->objects, p->object_capacity, p->object_count + 1);
	p->objects[p->object_count++] = o;
}

static void add_constraint(struct ir_points_problem *p)
{
	static const int64_t strides[] = {0, 0, 0, 4, 8, 12, 1, IR_ANYWHERE};
	struct ir_constraint c = {.kind = random_below(5), .to = random_below(VARIABLES)};
	c.from = random_below(c.kind == IR_ADDRESS ? OBJECTS : VARIABLES);
	if (c.kind == IR_ADDRESS)
		c.offset = random_below(3) ? 0 : 4 * random_below(9);
	if (c.kind == IR_STEP) {
		c.offset = 4 * ((int64_t)random_below(7) - 2);
		c.stride = strides[random_below(8)];
	}
	RD_GROW(p->constraints, p->constraint_capacity, p->constraint_count + 1);
	p->constraints[p->constraint_count++] = c;
}

static void add_call(struct ir_points_problem *p)
{
	struct ir_points_call c = {.callee = random_below(VARIABLES),
				   .arguments = (uint32_t)p->argument_count,
				   .argument_count = random_below(3),
				   .result = random_below(VARIABLES),
				   .signature = random_below(3)};
	RD_GROW(p->arguments, p->argument_capacity, p->argument_count + c.argument_count + 1);
	for (uint32_t i = 0; i < c.argument_count; i++)
		p->arguments[p->argument_count++] = random_below(VARIABLES);
	RD_GROW(p->calls, p->call_capacity, p->call_count + 1);
	p->calls[p->call_count++] = c;
}

static void make_problem(struct ir_points_problem *p)
{
	memset(p, 0, sizeof *p);
	p->variables = VARIABLES;
	for (uint32_t i = 0; i < OBJECTS; i++)
		add_object(p, i);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		RD_GROW(p->functions, p->function_capacity, i + 1);
		p->functions[p->function_count++] =
			(struct ir_points_function){.parameters = random_below(VARIABLES - 1),
						    .parameter_count = random_below(3),
						    .result = random_below(VARIABLES),
						    .signature = random_below(3)};
	}
	for (uint32_t i = 4 + random_below(24); i > 0; i--)
		add_constraint(p);
	for (uint32_t i = random_below(4); i > 0; i--)
		add_call(p);
}

/* ------------------------------------------- comparison with the definition --- */

static void same_set(const struct ir_solution *s, const struct ir_bits *got, set expected)
{
	struct ir_bits_iterator i = {0};
	size_t count = 0;
	for (uint32_t n; ir_bits_next(got, &i, &n);)
		assert_true(expected[s->places[n].object][s->places[n].offset + 1]);
	for (uint32_t o = 0; o < OBJECTS; o++)
		for (int64_t k = 0; k < OFFSETS; k++)
			count += expected[o][k];
	assert_int_equal(ir_bits_size(got), count);
}

static void same_edges(const struct ir_solution *s, struct twin *t, bool exactly)
{
	bool got[8][FUNCTIONS] = {0};
	for (size_t i = 0; i < s->edge_count; i++)
		got[s->edges[i].call][s->edges[i].function] = true;
	for (uint32_t c = 0; c < t->p->call_count; c++)
		for (uint32_t f = 0; f < FUNCTIONS; f++)
			assert_true(exactly ? got[c][f] == t->called[c][f] : got[c][f] >= t->called[c][f]);
}

static void same_contents(const struct ir_solution *s, struct twin *t)
{
	for (size_t i = 0; i < s->place_count; i++) {
		set expected = {0};
		slow_load(t, expected, s->places[i].object, s->places[i].offset);
		same_set(s, &s->places[i].contents, expected);
	}
}

static void test_inclusion(void **state)
{
	static struct twin t;
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct ir_points_problem p;
		struct ir_solution s;
		make_problem(&p);
		slow_solve(&t, &p);
		assert_true(ir_points_solve(&p, 0, &s));
		for (uint32_t i = 0; i < VARIABLES; i++)
			same_set(&s, ir_solution_set(&s, i), t.variables[i]);
		same_contents(&s, &t);
		same_edges(&s, &t, true);
		ir_solution_release(&s);
		ir_points_problem_release(&p);
	}
}

static void test_unification(void **state)
{
	static struct twin t;
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct ir_points_problem p;
		struct ir_solution s;
		make_problem(&p);
		slow_solve(&t, &p);
		ir_points_unify(&p, &s);
		for (uint32_t i = 0; i < VARIABLES; i++)
			for (uint32_t o = 0; o < OBJECTS; o++)
				for (int64_t k = 0; k < OFFSETS; k++)
					if (t.variables[i][o][k])
						assert_true(ir_bits_has(ir_solution_set(&s, i), o));
		same_edges(&s, &t, false);
		ir_solution_release(&s);
		ir_points_problem_release(&p);
	}
}

static void test_budget(void **state)
{
	struct ir_points_problem p;
	struct ir_solution s;
	(void)state;
	do {
		make_problem(&p);
		if (p.constraint_count > 20)
			break;
		ir_points_problem_release(&p);
	} while (true);
	assert_false(ir_points_solve(&p, 1, &s));
	assert_int_equal(s.variables, 0);
	ir_points_problem_release(&p);
}

/* Compares sets of numbers with arrays of bool. */
static void test_bits(void **state)
{
	enum { SIZE = 400 };
	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct ir_bits s[3] = {{0}};
		bool slow[3][SIZE] = {{0}};
		for (int k = 0; k < 2; k++)
			for (uint32_t i = random_below(40); i > 0; i--) {
				uint32_t n = random_below(SIZE);
				assert_int_equal(ir_bits_add(&s[k], n), !slow[k][n]);
				slow[k][n] = true;
			}
		ir_bits_subtract(&s[2], &s[0], &s[1]);
		bool grew = false, both = round % 2;
		for (uint32_t n = 0; n < SIZE; n++) {
			slow[2][n] = slow[0][n] && !slow[1][n];
			grew |= slow[1][n] && !slow[0][n];
			slow[0][n] = both ? slow[0][n] && slow[1][n] : slow[0][n] || slow[1][n];
		}
		if (both)
			ir_bits_intersect(&s[0], &s[1]);
		else
			assert_int_equal(ir_bits_unite(&s[0], &s[1]), grew);
		for (int k = 0; k < 3; k++) {
			struct ir_bits_iterator i = {0};
			uint32_t last = 0, count = 0;
			for (uint32_t n; ir_bits_next(&s[k], &i, &n); last = n, count++)
				assert_true(slow[k][n] && (count == 0 || n > last));
			for (uint32_t n = 0; n < SIZE; n++)
				assert_int_equal(ir_bits_has(&s[k], n), slow[k][n]);
			assert_int_equal(count, ir_bits_size(&s[k]));
			ir_bits_release(&s[k]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bits),
		cmocka_unit_test(test_inclusion),
		cmocka_unit_test(test_unification),
		cmocka_unit_test(test_budget),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
