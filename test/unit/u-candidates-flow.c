// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of candidates/flow-int.h: which locks are certainly held.  Random programs are
 * compared with an interpreter that takes every path.  A lock reported as held must be held on
 * every path.  In programs that call only the library, every lock held on all paths must also be
 * reported.
 */
#include "candidates-fixture.h"

#include "candidates/flow-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LOCKS = 4, MASKS = 1 << LOCKS, FUNCTIONS = 3, BLOCKS = 5, VALUES_MAX = 400, RUNS = 3000 };
/* Numbers of the library's functions, after those of the program. */
enum { LOCK = FUNCTIONS, READ_LOCK, TRY_LOCK, UNLOCK, LIBRARY_END };

struct world {
	struct made m;
	struct program p;
	struct candidates out;
	struct threads threads;
	struct locks l;
	struct flow flow;
	uint32_t address[LOCKS], callee[LIBRARY_END], zero;
	/* The results of the interpreter: which sets of locks, as masks, were seen before each
	 * value. */
	uint32_t seen[VALUES_MAX];
	uint32_t found[VALUES_MAX]; /* the result of flow_run(), as a mask */
	bool visited[VALUES_MAX];
	bool strict; /* a thread that takes a lock it already holds never continues */
};

/* ---- random programs ---- */

static uint32_t add_call(struct world *w, uint32_t function, uint32_t lock)
{
	uint32_t v = made_value(&w->m, FACTS_CALL, 0);

	if (function >= FUNCTIONS)
		made_operand(&w->m, w->address[lock], 0);
	made_operand(&w->m, w->callee[function], 0);
	made_call_edge(&w->m, v, function, FACTS_EDGE_CALL);
	return v;
}

/* Ends a block with a return, a jump, a branch, or a branch on the result of a trylock. */
static void end_block(struct world *w, uint32_t first, uint32_t tried)
{
	struct made *m = &w->m;
	uint32_t successors = tried != FACTS_NONE ? 2 : below(m, 3);

	for (uint32_t i = 0; i < successors; i++)
		facts_add_successor(m->f)->block = first + below(m, BLOCKS);
	if (tried != FACTS_NONE) {
		uint32_t condition = made_value(m, FACTS_COMPARE, below(m, 2) ? IS_EQUAL : IS_NOT_EQUAL);
		made_operand(m, tried, 0);
		made_operand(m, w->zero, 0);
		made_value(m, FACTS_BRANCH, 0);
		made_operand(m, condition, 0);
	} else if (successors == 2) {
		made_value(m, FACTS_BRANCH, 0);
		made_operand(m, w->zero, 0);
	} else {
		made_value(m, successors ? FACTS_JUMP : FACTS_RETURN, 0);
	}
}

static void add_block(struct world *w, uint32_t function, uint32_t first, bool calls)
{
	struct made *m = &w->m;
	uint32_t tried = FACTS_NONE;

	made_block(m);
	for (uint32_t k = below(m, 4); k > 0; k--) {
		uint32_t lock = below(m, LOCKS);
		switch (below(m, calls ? 6 : 4)) {
		case 0: add_call(w, LOCK, lock); break;
		case 1:
			add_call(w, calls ? READ_LOCK : LOCK, lock);
			break; /* two kinds of lock count as two locks */
		case 2: add_call(w, UNLOCK, lock); break;
		case 3: made_value(m, FACTS_FENCE, 0); break;
		default:
			if (function + 1 < FUNCTIONS)
				add_call(w, function + 1 + below(m, FUNCTIONS - function - 1), 0);
			break;
		}
	}
	if (below(m, 4) == 0)
		tried = add_call(w, TRY_LOCK, below(m, LOCKS));
	end_block(w, first, tried);
}

static void add_library(struct world *w, const char *name, enum facts_role role)
{
	uint32_t function = made_function(&w->m, name, 0, FACTS_FUNCTION_EXTERNAL | FACTS_FUNCTION_MODELLED);

	w->m.f->functions[function].role = role;
	w->m.f->functions[function].subject = 0;
}

static void begin(struct world *w, uint64_t seed, bool calls)
{
	struct made *m = &w->m;

	*w = (struct world){0};
	made_begin(m, seed);
	for (uint32_t i = 0; i < LOCKS; i++) {
		made_global(m, "lock", 0);
		made_place(m, i, 0);
	}
	for (uint32_t i = 0; i < LOCKS; i++) {
		uint32_t set = made_set(m, UINT64_C(1) << i);
		w->address[i] = made_constant(m, FACTS_CONSTANT_GLOBAL, i, 0);
		m->f->constants[w->address[i] & ~FACTS_CONSTANT].set = set;
	}
	for (uint32_t i = 0; i < LIBRARY_END; i++)
		w->callee[i] = made_constant(m, FACTS_CONSTANT_FUNCTION, i, 0);
	w->zero = made_constant(m, FACTS_CONSTANT_INTEGER, 0, 0);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		uint32_t first = (uint32_t)m->f->block_count;
		made_function(m, i == 0 ? "main" : "f", 0, i == 0 ? FACTS_FUNCTION_ROOT : 0);
		for (uint32_t b = 0; b < BLOCKS; b++)
			add_block(w, i, first, calls);
	}
	add_library(w, "lock", FACTS_ROLE_LOCK);
	add_library(w, "rdlock", FACTS_ROLE_READ_LOCK);
	add_library(w, "trylock", FACTS_ROLE_TRY_LOCK);
	add_library(w, "unlock", FACTS_ROLE_UNLOCK);
	w->strict = calls;
	assert_true(m->f->value_count <= VALUES_MAX);
	program_init(&w->p, m->f, &w->out);
	threads_init(&w->threads, &w->p);
	locks_init(&w->l, &w->p);
	flow_init(&w->flow, &w->p, &w->threads, &w->l);
	flow_effects(&w->flow);
}

static void end(struct world *w)
{
	flow_release(&w->flow);
	locks_release(&w->l);
	threads_release(&w->threads);
	program_release(&w->p);
	for (size_t i = 0; i < w->out.unsound_count; i++)
		free(w->out.unsound[i]);
	free(w->out.unsound);
	facts_free(w->m.f);
}

/* ---- the interpreter, which takes every path ---- */

static uint32_t lock_of(const struct world *w, uint32_t call)
{
	uint32_t operand = w->m.f->operands[w->m.f->values[call].operands].operand;

	for (uint32_t i = 0; i < LOCKS; i++)
		if (w->address[i] == operand)
			return i;
	fail();
	return 0;
}

static uint32_t taken(const struct world *w, uint32_t mask, uint32_t lock)
{
	return w->strict && mask >> lock & 1 ? 0 : 1u << (mask | 1u << lock);
}

static uint32_t run_function(struct world *w, uint32_t function, uint32_t mask);

/* Returns the sets of locks after a value, as bits indexed by mask.  `masks` has the sets before
 * it. */
static uint32_t step(struct world *w, uint32_t v, uint32_t masks)
{
	const struct facts *f = w->m.f;
	struct facts_run calls = facts_calls_of(f, v);
	uint32_t behind = 0, function = calls.first < calls.end ? f->calls[calls.first].function : FACTS_NONE;

	w->seen[v] |= masks;
	if (f->values[v].kind != FACTS_CALL || function == TRY_LOCK)
		return masks;
	for (uint32_t mask = 0; mask < MASKS; mask++) {
		if (!(masks >> mask & 1))
			continue;
		if (function < FUNCTIONS)
			behind |= run_function(w, function, mask);
		else if (function == UNLOCK)
			behind |= 1u << (mask & ~(1u << lock_of(w, v)));
		else
			behind |= taken(w, mask, lock_of(w, v));
	}
	return behind;
}

/* Adds the lock of a trylock to the sets, on the branch that is taken if it succeeded. */
static uint32_t along(const struct world *w, uint32_t block_end, uint32_t successor, uint32_t masks)
{
	const struct facts *f = w->m.f;
	uint32_t condition = f->values[block_end].kind == FACTS_BRANCH
				     ? f->operands[f->values[block_end].operands].operand
				     : FACTS_CONSTANT;
	uint32_t result = 0;

	if (condition & FACTS_CONSTANT)
		return masks;
	uint32_t tried = f->operands[f->values[condition].operands].operand;
	if (successor != (f->values[condition].detail == IS_EQUAL ? 0 : 1))
		return masks;
	for (uint32_t mask = 0; mask < MASKS; mask++)
		if (masks >> mask & 1)
			result |= taken(w, mask, lock_of(w, tried));
	return result;
}

/* Returns all sets of locks with which the function may return. */
static uint32_t run_function(struct world *w, uint32_t function, uint32_t mask)
{
	const struct facts *f = w->m.f;
	struct facts_run blocks = facts_blocks_of(f, function);
	uint32_t in[BLOCKS] = {1u << mask}, done[BLOCKS] = {0}, result = 0;

	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t b = 0; b < BLOCKS; b++) {
			uint32_t masks = in[b];
			if (masks == done[b])
				continue;
			done[b] = masks;
			changed = true;
			struct facts_run values = facts_block_values(f, function, blocks.first + b);
			for (uint32_t v = values.first; v < values.end; v++)
				masks = step(w, v, masks);
			struct facts_run next = facts_successors_of(f, blocks.first + b);
			for (uint32_t s = next.first; s < next.end; s++)
				in[f->successors[s].block - blocks.first] |=
					along(w, values.end - 1, s - next.first, masks);
			if (f->values[values.end - 1].kind == FACTS_RETURN)
				result |= masks;
		}
	}
	return result;
}

static uint32_t held_always(uint32_t masks)
{
	uint32_t held = MASKS - 1;

	for (uint32_t mask = 0; mask < MASKS; mask++)
		if (masks >> mask & 1)
			held &= mask;
	return held;
}

/* ---- comparison of flow_run() with the interpreter ---- */

static void see(void *data, uint32_t value, const struct flow_state *s)
{
	struct world *w = data;
	uint32_t items[LOCKS_MAX], mask = 0;
	size_t count = lockset_copy(&w->l, s->held, items);

	for (size_t i = 0; i < count; i++) {
		const struct path *path = &w->l.items[items[i]].path;
		assert_int_equal(path->kind, PATH_OBJECT);
		mask |= 1u << path->root;
	}
	w->found[value] = mask;
	w->visited[value] = true;
}

static void run_both(struct world *w)
{
	struct flow_state entry = {.nothing = FACTS_NONE};

	run_function(w, 0, 0);
	flow_run(&w->flow, 0, &entry, &flow_unbound, see, w);
}

/* Without calls of the program's own functions, the result is exact. */
static void test_exact(void **state)
{
	size_t held = 0, free_of = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		static struct world w;
		begin(&w, seed * 977, false);
		run_both(&w);
		struct facts_run values = facts_values_of(w.m.f, 0);
		for (uint32_t v = values.first; v < values.end; v++) {
			assert_int_equal(w.visited[v], w.seen[v] != 0);
			if (!w.visited[v])
				continue;
			assert_int_equal(w.found[v], held_always(w.seen[v]));
			held += w.found[v] != 0;
			free_of += w.found[v] == 0;
		}
		end(&w);
	}
	assert_true(held > 1000 && free_of > 1000);
}

/* With calls of the program's own functions, no lock is reported as held that may not be held. */
static void test_never_too_much(void **state)
{
	size_t exact = 0, less = 0, held = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		static struct world w;
		begin(&w, seed * 7727, true);
		run_both(&w);
		struct facts_run values = facts_values_of(w.m.f, 0);
		for (uint32_t v = values.first; v < values.end; v++) {
			/* The analysis does not know that a function never returns: flow continues
			 * after its call. */
			if (w.seen[v] == 0 || !w.visited[v])
				continue;
			uint32_t truth = held_always(w.seen[v]);
			assert_int_equal(w.found[v] & ~truth, 0);
			exact += w.found[v] == truth;
			less += w.found[v] != truth;
			held += w.found[v] != 0;
		}
		end(&w);
	}
	/* The result is usually exact. */
	assert_true(held > 1000 && exact > 10 * less);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_never_too_much),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
