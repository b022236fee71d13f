// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of candidates/program.h.  The blocks that control flow reaches: random graphs are
 * compared with a transitive closure.  The functions that run once: random call graphs are compared
 * with an interpreter that takes all paths.  Also tests loops that count.
 */
#include "candidates-fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct opened {
	struct made m;
	struct program p;
	struct candidates out;
};

static void open_program(struct opened *o)
{
	program_init(&o->p, o->m.f, &o->out);
}

static void close_program(struct opened *o)
{
	program_release(&o->p);
	for (size_t i = 0; i < o->out.unsound_count; i++)
		free(o->out.unsound[i]);
	free(o->out.unsound);
	facts_free(o->m.f);
}

/* ---- which blocks control flow reaches ---- */

enum { BLOCKS = 7, PER_BLOCK = 3 };

static void random_flow(struct made *m)
{
	made_function(m, "main", 0, FACTS_FUNCTION_ROOT);
	for (uint32_t b = 0; b < BLOCKS; b++) {
		made_block(m);
		for (uint32_t k = below(m, 3); k > 0; k--)
			facts_add_successor(m->f)->block = below(m, BLOCKS);
		for (uint32_t k = 0; k < PER_BLOCK; k++)
			made_value(m, FACTS_FENCE, 0);
	}
}

/* Sets ways[a][b] if one or more steps lead from a to b without entering the barrier. */
static void close_ways(const struct facts *f, uint32_t barrier, bool ways[BLOCKS][BLOCKS])
{
	memset(ways, 0, sizeof(bool[BLOCKS][BLOCKS]));
	for (uint32_t b = 0; b < BLOCKS; b++) {
		struct facts_run run = facts_successors_of(f, b);
		for (uint32_t s = run.first; s < run.end; s++)
			ways[b][f->successors[s].block] |= f->successors[s].block != barrier;
	}
	for (int k = 0; k < BLOCKS; k++)
		for (int a = 0; a < BLOCKS; a++)
			for (int b = 0; b < BLOCKS; b++)
				ways[a][b] |= ways[a][k] && ways[k][b];
}

static void test_reaches(void **state)
{
	size_t reached = 0, blocked = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct opened o = {0};
		bool ways[BLOCKS][BLOCKS], free_ways[BLOCKS][BLOCKS];
		made_begin(&o.m, seed);
		random_flow(&o.m);
		open_program(&o);
		uint32_t barrier = below(&o.m, 3) == 0 ? FACTS_NONE : below(&o.m, BLOCKS);
		close_ways(o.m.f, barrier, ways);
		close_ways(o.m.f, FACTS_NONE, free_ways);
		for (uint32_t from = 0; from < BLOCKS * PER_BLOCK; from++)
			for (uint32_t to = 0; to < BLOCKS * PER_BLOCK; to++) {
				uint32_t a = from / PER_BLOCK, b = to / PER_BLOCK;
				bool expected = ways[a][b] || (a == b && from < to);
				assert_int_equal(program_reaches(&o.p, 0, from, to, barrier), expected);
				reached += expected;
				blocked += !ways[a][b] && free_ways[a][b];
			}
		for (uint32_t b = 0; b < BLOCKS; b++)
			assert_int_equal(o.p.block_of[b * PER_BLOCK], b);
		close_program(&o);
	}
	assert_true(reached > 1000 && blocked > 1000);
}

/* ---- which functions run once ---- */

enum { FUNCTIONS = 6, MANY = 3 };

/* Makes functions of three blocks in a row.  The middle block may be a loop, and each block may
 * make a call. */
static void random_calls(struct made *m)
{
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		made_constant(m, FACTS_CONSTANT_FUNCTION, i, 0);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		bool loop = below(m, 3) == 0;
		made_function(m, "f", 0, i == 0 ? FACTS_FUNCTION_ROOT : 0);
		for (uint32_t b = 0; b < 3; b++) {
			uint32_t block = made_block(m);
			if (b == 1 && loop)
				facts_add_successor(m->f)->block = block;
			if (b < 2)
				facts_add_successor(m->f)->block = block + 1;
			if (below(m, 5) < 2) {
				/* Most calls are of later functions, so that few functions are
				 * recursive. */
				uint32_t callee =
					below(m, 8) == 0 ? below(m, FUNCTIONS) : i + 1 + below(m, FUNCTIONS);
				enum facts_edge_kind kind = below(m, 6) == 0   ? FACTS_EDGE_CALLBACK
							    : below(m, 5) == 0 ? FACTS_EDGE_START
									       : FACTS_EDGE_CALL;
				if (callee < FUNCTIONS) {
					uint32_t v = made_value(m, FACTS_CALL, 0);
					made_operand(m, callee | FACTS_CONSTANT, 0);
					made_call_edge(m, v, callee, kind);
				}
			}
			made_value(m, b < 2 ? FACTS_JUMP : FACTS_RETURN, 0);
		}
	}
}

/* Counts how often each function runs at most, if everything that may happen does.  Every call is
 * made, every loop body runs twice, and every callback is called twice.  Counting stops at MANY.
 * The depth limit exceeds what recursion needs. */
static void run_function(const struct opened *o, uint32_t function, int depth, uint32_t runs[FUNCTIONS])
{
	const struct facts *f = o->m.f;

	if (runs[function] < MANY)
		runs[function]++;
	else
		return;
	if (depth > FUNCTIONS + 2)
		return;
	for (uint32_t b = 0; b < 3; b++) {
		uint32_t block = f->functions[function].blocks + b;
		struct facts_run next = facts_successors_of(f, block);
		bool loop = false;
		for (uint32_t s = next.first; s < next.end; s++)
			loop |= f->successors[s].block == block;
		struct facts_run values = facts_block_values(f, function, block);
		for (uint32_t v = values.first; v < values.end; v++) {
			struct facts_run calls = facts_calls_of(f, v);
			for (uint32_t c = calls.first; c < calls.end; c++) {
				int times =
					(loop ? 2 : 1) * (f->calls[c].kind == FACTS_EDGE_CALLBACK ? 2 : 1);
				for (; times > 0; times--)
					run_function(o, f->calls[c].function, depth + 1, runs);
			}
		}
	}
}

static void test_once(void **state)
{
	size_t once = 0, often = 0, never = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct opened o = {0};
		uint32_t runs[FUNCTIONS] = {0};
		made_begin(&o.m, seed * 31);
		random_calls(&o.m);
		open_program(&o);
		run_function(&o, 0, 0, runs);
		for (uint32_t i = 0; i < FUNCTIONS; i++) {
			assert_int_equal(o.p.functions[i].reached, runs[i] != 0);
			/* A function reported to run once does so.  One that does so is reported,
			 * unless nothing calls it. */
			if (o.p.functions[i].once)
				assert_true(runs[i] <= 1);
			if (runs[i] == 1)
				assert_true(o.p.functions[i].once);
			once += runs[i] == 1;
			often += runs[i] > 1;
			never += runs[i] == 0;
		}
		close_program(&o);
	}
	assert_true(once > 500 && often > 500 && never > 500);
}

/* ---- objects that exist only once ---- */

static uint32_t add_heap(struct made *m, uint32_t value, uint32_t flags)
{
	struct facts_object *o = facts_add_object(m->f);
	o->kind = FACTS_OBJECT_HEAP;
	o->flags = flags;
	o->origin = value;
	o->through = FACTS_NONE;
	o->size = 16;
	return (uint32_t)m->f->object_count - 1;
}

static uint32_t object_of(struct made *m, const char *name, uint32_t flags)
{
	uint32_t global = made_global(m, name, flags);
	return m->f->globals[global].object;
}

static void test_once_objects(void **state)
{
	struct opened o = {0};
	struct made *m = &o.m;
	uint32_t plain, local, array, first, looped, elements;

	(void)state;
	made_begin(m, 1);
	plain = object_of(m, "plain", 0);
	local = object_of(m, "local", FACTS_OBJECT_THREAD_LOCAL);
	array = object_of(m, "array", FACTS_OBJECT_ARRAY);
	made_function(m, "main", 0, FACTS_FUNCTION_ROOT);
	made_block(m);
	facts_add_successor(m->f)->block = 1;
	first = made_value(m, FACTS_CALL, 0);
	made_operand(m, made_constant(m, FACTS_CONSTANT_OTHER, 0, 0), 0);
	elements = made_value(m, FACTS_CALL, 0);
	made_operand(m, FACTS_CONSTANT, 0);
	made_value(m, FACTS_JUMP, 0);
	made_block(m);
	facts_add_successor(m->f)->block = 1;
	looped = made_value(m, FACTS_CALL, 0);
	made_operand(m, FACTS_CONSTANT, 0);
	made_value(m, FACTS_JUMP, 0);
	first = add_heap(m, first, 0);
	looped = add_heap(m, looped, FACTS_OBJECT_MANY);
	elements = add_heap(m, elements, FACTS_OBJECT_ARRAY);
	open_program(&o);
	assert_true(o.p.once_object[plain]);
	assert_false(o.p.once_object[local]);
	assert_false(o.p.once_object[array]);
	assert_true(o.p.once_object[first]);
	assert_false(o.p.once_object[looped]);
	assert_false(o.p.once_object[elements]);
	close_program(&o);
}

/* ---- loops with a counter ---- */

struct loop_form {
	int64_t step; /* the number that is added or subtracted */
	uint32_t operation;
	bool other_way; /* the step is added to something other than the variable */
	bool swapped;	/* the operands of the comparison are swapped */
	bool cast;	/* the variable is compared through a cast */
	bool counts;
};

static const struct loop_form forms[] = {
	{1, OP_ADD, false, false, false, true},	 {4, OP_ADD, false, false, false, true},
	{1, OP_SUB, false, false, false, true},	 {1, OP_ADD, false, false, true, true},
	{0, OP_ADD, false, false, false, false}, {1, OP_ADD, true, false, false, false},
	{1, OP_ADD, false, true, false, false},	 {2, OP_TRUNC, false, false, false, false},
};

/* for (i = 5; i < bound; i = i + step) */
static void make_loop(struct made *m, const struct loop_form *form)
{
	uint32_t first = made_constant(m, FACTS_CONSTANT_INTEGER, 0, 5);
	uint32_t step = made_constant(m, FACTS_CONSTANT_INTEGER, 0, form->step);
	uint32_t phi, compared, condition;

	made_function(m, "main", 1, FACTS_FUNCTION_ROOT); /* value 0 is the bound */
	made_block(m);
	facts_add_successor(m->f)->block = 1;
	made_value(m, FACTS_JUMP, 0); /* this is value 1 */
	made_block(m);
	facts_add_successor(m->f)->block = 2;
	facts_add_successor(m->f)->block = 3;
	phi = made_value(m, FACTS_PHI, 0);
	made_operand(m, first, 0);
	made_operand(m, phi + (form->cast ? 4 : 3), 2); /* the sum, which the loop body computes */
	compared = phi;
	if (form->cast) {
		compared = made_value(m, FACTS_CAST, OP_SEXT);
		made_operand(m, phi, 0);
	}
	condition = made_value(m, FACTS_COMPARE, 36);
	made_operand(m, form->swapped ? 0 : compared, 0);
	made_operand(m, form->swapped ? compared : 0, 0);
	made_value(m, FACTS_BRANCH, 0);
	made_operand(m, condition, 0);
	made_block(m);
	facts_add_successor(m->f)->block = 1;
	made_value(m, FACTS_COMPUTE, form->operation);
	made_operand(m, form->other_way ? 0 : phi, 0);
	made_operand(m, step, 0);
	made_value(m, FACTS_JUMP, 0);
	made_block(m);
	made_value(m, FACTS_RETURN, 0);
}

static void test_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct opened o = {0};
		const struct facts_loop *loop;
		struct counting c;
		made_begin(&o.m, 1);
		make_loop(&o.m, &forms[i]);
		open_program(&o);
		loop = program_loop(&o.p, 0, 2);
		assert_non_null(loop);
		assert_int_equal(loop->header, 1);
		assert_null(program_loop(&o.p, 0, 0));
		assert_null(program_loop(&o.p, 0, 3));
		assert_int_equal(program_counts(&o.p, 0, loop, &c), forms[i].counts);
		if (forms[i].counts) {
			assert_int_equal(c.variable, 2);
			assert_int_equal(c.step,
					 forms[i].operation == OP_SUB ? -forms[i].step : forms[i].step);
			assert_int_equal(c.bound, 0);
			assert_int_equal(c.predicate, 36);
			assert_int_equal(o.m.f->constants[c.first & ~FACTS_CONSTANT].number, 5);
		}
		close_program(&o);
	}
}

/* ---- operands: arguments, casts, library functions ---- */

static void test_operands(void **state)
{
	struct opened o = {0};
	struct made *m = &o.m;
	uint32_t own, library, number, call, narrow, wide, rounded;

	(void)state;
	made_begin(m, 1);
	own = made_constant(m, FACTS_CONSTANT_FUNCTION, 0, 0);
	library = made_constant(m, FACTS_CONSTANT_FUNCTION, 1, 0);
	number = made_constant(m, FACTS_CONSTANT_INTEGER, 0, 7);
	made_function(m, "main", 1, FACTS_FUNCTION_ROOT);
	made_block(m);
	narrow = made_value(m, FACTS_CAST, OP_TRUNC);
	made_operand(m, 0, 0);
	wide = made_value(m, FACTS_CAST, OP_ZEXT);
	made_operand(m, narrow, 0);
	rounded = made_value(m, FACTS_CAST, 36); /* a conversion from floating point to integer */
	made_operand(m, wide, 0);
	call = made_value(m, FACTS_CALL, 0);
	made_operand(m, number, 0);
	made_operand(m, wide, 0);
	made_operand(m, library, 0);
	made_value(m, FACTS_CALL, 0);
	made_operand(m, own, 0);
	made_value(m, FACTS_RETURN, 0);
	made_function(m, "strlen", 0, FACTS_FUNCTION_EXTERNAL);
	open_program(&o);
	assert_int_equal(program_argument(m->f, call, 0), number);
	assert_int_equal(program_argument(m->f, call, 1), wide);
	/* the called function is not an argument */
	assert_int_equal(program_argument(m->f, call, 2), FACTS_NONE);
	assert_int_equal(program_argument(m->f, call, FACTS_NONE), FACTS_NONE);
	assert_int_equal(program_constant_function(m->f, own), 0);
	assert_int_equal(program_constant_function(m->f, number), FACTS_NONE);
	assert_int_equal(program_constant_function(m->f, wide), FACTS_NONE);
	assert_int_equal(program_constant_function(m->f, FACTS_NONE), FACTS_NONE);
	assert_int_equal(program_strip(m->f, wide), 0);
	assert_int_equal(program_strip(m->f, rounded), rounded);
	assert_int_equal(program_strip(m->f, number), number);
	assert_ptr_equal(program_library(&o.p, call), &m->f->functions[1]);
	assert_null(program_library(&o.p, call + 1)); /* a call of the program's own function */
	assert_null(program_library(&o.p, wide));
	program_unsound(&o.p, "%d of %s", 3, "these");
	assert_int_equal(o.out.unsound_count, 1);
	assert_string_equal(o.out.unsound[0], "3 of these");
	close_program(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reaches),	     cmocka_unit_test(test_once),
		cmocka_unit_test(test_once_objects), cmocka_unit_test(test_counts),
		cmocka_unit_test(test_operands),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
