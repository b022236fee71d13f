// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of candidates/fresh-int.h: from which point on other threads may know memory that a
 * function allocated.  Some functions have one allocation and one use of its address, in straight
 * code or in a loop.  Random functions are compared with an interpreter that takes all paths.
 */
#include "candidates-fixture.h"

#include "candidates/fresh-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Function 0 is analysed; it calls the others. */
enum { LOOKED_AT, KEEPS, DROPS, HANDS_ON, RETURNS, ALLOCATES, MODELLED, UNKNOWN, CREATES, FUNCTIONS };

struct world {
	struct made m;
	struct program p;
	struct candidates out;
	struct fresh *fresh;
	uint32_t callee[FUNCTIONS], number, global;
	uint32_t root; /* the value that is the address of the memory */
};

static uint32_t add_call(struct world *w, uint32_t function, uint32_t argument)
{
	uint32_t v = made_value(&w->m, FACTS_CALL, 0);

	if (argument != FACTS_NONE)
		made_operand(&w->m, argument, 0);
	made_operand(&w->m, w->callee[function], 0);
	if (function < ALLOCATES)
		made_call_edge(&w->m, v, function, FACTS_EDGE_CALL);
	return v;
}

static void add_store(struct world *w, uint32_t value, uint32_t address)
{
	made_value(&w->m, FACTS_STORE, 0);
	made_operand(&w->m, value, 0);
	made_operand(&w->m, address, 0);
}

static uint32_t begin_callee(struct world *w, const char *name)
{
	uint32_t function = made_function(&w->m, name, 1, 0);

	made_block(&w->m);
	return w->m.f->functions[function].values;
}

static void add_others(struct world *w)
{
	struct made *m = &w->m;
	uint32_t it = begin_callee(w, "keeps");

	add_store(w, it, w->global);
	made_value(m, FACTS_RETURN, 0);
	it = begin_callee(w, "drops");
	add_store(w, w->number, it);
	made_value(m, FACTS_RETURN, 0);
	it = begin_callee(w, "hands-on");
	add_call(w, KEEPS, it);
	made_value(m, FACTS_RETURN, 0);
	it = begin_callee(w, "returns");
	made_value(m, FACTS_RETURN, 0);
	made_operand(m, it, 0);
	made_function(m, "malloc", 0, FACTS_FUNCTION_EXTERNAL | FACTS_FUNCTION_MODELLED);
	m->f->functions[ALLOCATES].role = FACTS_ROLE_ALLOCATE;
	made_function(m, "memset", 0, FACTS_FUNCTION_EXTERNAL | FACTS_FUNCTION_MODELLED);
	made_function(m, "unknown", 0, FACTS_FUNCTION_EXTERNAL);
	made_function(m, "pthread_create", 0, FACTS_FUNCTION_EXTERNAL | FACTS_FUNCTION_MODELLED);
	m->f->functions[CREATES].role = FACTS_ROLE_THREAD_CREATE;
}

static void begin(struct world *w)
{
	struct made *m = &w->m;

	*w = (struct world){0};
	made_begin(m, 1);
	made_global(m, "known", 0);
	w->global = made_constant(m, FACTS_CONSTANT_GLOBAL, 0, 0);
	w->number = made_constant(m, FACTS_CONSTANT_INTEGER, 0, 7);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		w->callee[i] = made_constant(m, FACTS_CONSTANT_FUNCTION, i, 0);
	made_function(m, "looked-at", 0, FACTS_FUNCTION_ROOT);
}

/* Adds the allocation: a call whose result points to its new object, and to nothing else. */
static void add_allocation(struct world *w)
{
	struct facts *f = w->m.f;
	struct facts_object *o = facts_add_object(f);
	uint32_t object = (uint32_t)f->object_count - 1;

	w->root = add_call(w, ALLOCATES, FACTS_NONE);
	o->kind = FACTS_OBJECT_HEAP;
	o->origin = w->root;
	o->through = FACTS_NONE;
	o->size = 16;
	uint32_t place = made_place(&w->m, object, 0);
	uint32_t set = made_set(&w->m, UINT64_C(1) << place);
	f->values[w->root].set = set;
}

static void open_world(struct world *w)
{
	add_others(w);
	program_init(&w->p, w->m.f, &w->out);
	w->fresh = fresh_new(&w->p);
}

static void close_world(struct world *w)
{
	fresh_free(w->fresh);
	program_release(&w->p);
	for (size_t i = 0; i < w->out.unsound_count; i++)
		free(w->out.unsound[i]);
	free(w->out.unsound);
	facts_free(w->m.f);
}

/* ---- functions that do one thing with the address ---- */

enum deed {
	STORES_INTO,	  /* stores something into the memory */
	STORES_ADDRESS,	  /* stores the address in a global variable */
	STORES_DERIVED,	  /* stores the address of a member */
	LOADS,		  /* loads from the memory */
	COMPARES,	  /* compares the address with something */
	CASTS,		  /* casts the address to a number */
	STORES_NUMBER,	  /* stores that number, as atomic operations do */
	COMPUTES,	  /* computes another number from that number */
	CALLS_KEEPING,	  /* calls a function that stores the address */
	CALLS_DROPPING,	  /* calls a function that only writes to the memory */
	CALLS_HANDING_ON, /* calls a function that passes it to one that stores it */
	CALLS_RETURNING,  /* calls one that returns it; the result is not followed */
	CALLS_MODELLED,
	CALLS_UNKNOWN,
	STARTS_A_THREAD,
	DEEDS
};

static const bool tells[DEEDS] = {
	[STORES_ADDRESS] = true,  [STORES_DERIVED] = true, [COMPUTES] = true,
	[CALLS_KEEPING] = true,	  [STORES_NUMBER] = true,  [CALLS_HANDING_ON] = true,
	[CALLS_RETURNING] = true, [CALLS_UNKNOWN] = true,  [STARTS_A_THREAD] = true,
};

static uint32_t add_number(struct world *w, uint32_t pointer)
{
	uint32_t number = made_value(&w->m, FACTS_CAST, OP_PTR_TO_INT);

	made_operand(&w->m, pointer, 0);
	return number;
}

static void do_deed(struct world *w, enum deed deed, uint32_t pointer)
{
	struct made *m = &w->m;
	uint32_t member;

	switch (deed) {
	case STORES_INTO: add_store(w, w->number, pointer); break;
	case STORES_ADDRESS: add_store(w, pointer, w->global); break;
	case STORES_DERIVED:
		member = made_value(m, FACTS_ADDRESS, 0);
		m->f->values[member].number = 8;
		made_operand(m, pointer, 0);
		add_store(w, member, w->global);
		break;
	case LOADS:
		made_value(m, FACTS_LOAD, 0);
		made_operand(m, pointer, 0);
		break;
	case COMPARES:
		made_value(m, FACTS_COMPARE, IS_EQUAL);
		made_operand(m, pointer, 0);
		made_operand(m, w->global, 0);
		break;
	case CASTS: add_number(w, pointer); break;
	case STORES_NUMBER: add_store(w, add_number(w, pointer), w->global); break;
	case COMPUTES:
		member = add_number(w, pointer);
		made_value(m, FACTS_COMPUTE, 0);
		made_operand(m, member, 0);
		break;
	case CALLS_KEEPING: add_call(w, KEEPS, pointer); break;
	case CALLS_DROPPING: add_call(w, DROPS, pointer); break;
	case CALLS_HANDING_ON: add_call(w, HANDS_ON, pointer); break;
	case CALLS_RETURNING: add_call(w, RETURNS, pointer); break;
	case CALLS_MODELLED: add_call(w, MODELLED, pointer); break;
	case CALLS_UNKNOWN: add_call(w, UNKNOWN, pointer); break;
	case STARTS_A_THREAD: add_call(w, CREATES, pointer); break;
	default: fail();
	}
}

static void test_deeds(void **state)
{
	(void)state;
	for (int deed = 0; deed < DEEDS; deed++) {
		struct world w;
		uint32_t before, behind, later;
		begin(&w);
		made_block(&w.m);
		facts_add_successor(w.m.f)->block = 1;
		add_allocation(&w);
		before = made_value(&w.m, FACTS_FENCE, 0);
		do_deed(&w, (enum deed)deed, w.root);
		behind = made_value(&w.m, FACTS_FENCE, 0);
		made_value(&w.m, FACTS_JUMP, 0);
		made_block(&w.m);
		later = made_value(&w.m, FACTS_FENCE, 0);
		made_value(&w.m, FACTS_RETURN, 0);
		open_world(&w);
		assert_true(fresh_is_made(&w.p, w.root));
		assert_false(fresh_is_made(&w.p, before));
		assert_false(fresh_is_known(w.fresh, w.root, before));
		assert_int_equal(fresh_is_known(w.fresh, w.root, behind), tells[deed]);
		assert_int_equal(fresh_is_known(w.fresh, w.root, later), tells[deed]);
		close_world(&w);
	}
}

/* A relaxed store orders nothing.  A thread that sees the address may see the memory as it was
 * before earlier stores. */
static void test_relaxed(void **state)
{
	(void)state;
	for (int relaxed = 0; relaxed < 2; relaxed++) {
		struct world w;
		uint32_t before;
		begin(&w);
		made_block(&w.m);
		add_allocation(&w);
		before = made_value(&w.m, FACTS_FENCE, 0);
		add_store(&w, w.root, w.global);
		w.m.f->values[w.m.f->value_count - 1].flags =
			FACTS_VALUE_ATOMIC | (relaxed ? FACTS_VALUE_RELAXED : 0);
		made_value(&w.m, FACTS_RETURN, 0);
		open_world(&w);
		assert_int_equal(fresh_is_known(w.fresh, w.root, before), relaxed);
		close_world(&w);
	}
}

/* A loop allocates memory in each round.  An address published in the previous round is not that of
 * this round's memory. */
static void test_loop(void **state)
{
	struct world w;
	uint32_t before, behind, end;

	(void)state;
	begin(&w);
	made_block(&w.m);
	facts_add_successor(w.m.f)->block = 1;
	made_value(&w.m, FACTS_JUMP, 0);
	made_block(&w.m);
	facts_add_successor(w.m.f)->block = 1;
	facts_add_successor(w.m.f)->block = 2;
	add_allocation(&w);
	before = made_value(&w.m, FACTS_FENCE, 0);
	do_deed(&w, STORES_ADDRESS, w.root);
	behind = made_value(&w.m, FACTS_FENCE, 0);
	made_value(&w.m, FACTS_BRANCH, 0);
	made_operand(&w.m, w.number, 0);
	made_block(&w.m);
	end = made_value(&w.m, FACTS_FENCE, 0);
	made_value(&w.m, FACTS_RETURN, 0);
	open_world(&w);
	assert_false(fresh_is_known(w.fresh, w.root, before));
	assert_true(fresh_is_known(w.fresh, w.root, behind));
	assert_true(fresh_is_known(w.fresh, w.root, end));
	close_world(&w);
}

/* ---- random control flow ---- */

enum { BLOCKS = 6, PER_BLOCK = 4, RUNS = 1500 };

/* Block 0 allocates the memory and is never entered again.  Other instructions may publish its
 * address; told[] says which. */
static void random_function(struct world *w, bool told[BLOCKS * PER_BLOCK], uint32_t first[BLOCKS])
{
	struct made *m = &w->m;

	for (uint32_t b = 0; b < BLOCKS; b++) {
		uint32_t successors = b == 0 ? 1 + below(m, 2) : below(m, 3);
		made_block(m);
		for (uint32_t i = 0; i < successors; i++)
			facts_add_successor(m->f)->block = 1 + below(m, BLOCKS - 1);
		if (b == 0)
			add_allocation(w);
		first[b] = (uint32_t)m->f->value_count;
		for (uint32_t k = 0; k < PER_BLOCK; k++) {
			told[b * PER_BLOCK + k] = below(m, 10) == 0;
			if (told[b * PER_BLOCK + k])
				do_deed(w, STORES_ADDRESS, w->root);
			else
				made_value(m, FACTS_FENCE, 0);
		}
		made_value(m,
			   successors == 0   ? FACTS_RETURN
			   : successors == 1 ? FACTS_JUMP
					     : FACTS_SWITCH,
			   0);
		if (successors == 2)
			made_operand(m, w->number, 0);
	}
}

/* Sets known[b] if, on some path, the address was published before block b begins. */
static void find_ways(const struct facts *f, const bool told[BLOCKS * PER_BLOCK], bool known[BLOCKS])
{
	bool tells_in[BLOCKS] = {0};

	memset(known, 0, BLOCKS * sizeof *known);
	for (int i = 0; i < BLOCKS * PER_BLOCK; i++)
		tells_in[i / PER_BLOCK] |= told[i];
	for (int round = 0; round < BLOCKS; round++)
		for (uint32_t b = 0; b < BLOCKS; b++) {
			struct facts_run next = facts_successors_of(f, b);
			for (uint32_t s = next.first; s < next.end; s++)
				known[f->successors[s].block] |= known[b] || tells_in[b];
		}
}

static void test_ways(void **state)
{
	size_t yes = 0, no = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		bool told[BLOCKS * PER_BLOCK], known[BLOCKS];
		uint32_t first[BLOCKS];
		struct world w;
		begin(&w);
		w.m.random = seed * 65537;
		random_function(&w, told, first);
		open_world(&w);
		find_ways(w.m.f, told, known);
		for (uint32_t b = 0; b < BLOCKS; b++) {
			bool expected = known[b];
			for (uint32_t k = 0; k < PER_BLOCK; k++) {
				assert_int_equal(fresh_is_known(w.fresh, w.root, first[b] + k), expected);
				yes += expected;
				no += !expected;
				expected |= told[b * PER_BLOCK + k];
			}
		}
		close_world(&w);
	}
	assert_true(yes > 1000 && no > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deeds),
		cmocka_unit_test(test_relaxed),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_ways),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
