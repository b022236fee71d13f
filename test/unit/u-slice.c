// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of slice/slice.h.  The reference works on single instructions.  An instruction can
 * precede another if the transitive closure of the program's steps contains the pair.
 * Post-dominators are found by removing a block.  Dependences are tested for every pair of
 * instructions.  Distances are relaxed over all pairs until nothing changes.
 */
#include "candidates-fixture.h"

#include "base/error.h"
#include "candidates/path.h"
#include "sketch/gates.h"
#include "slice/slice.h"
#include "slice/depend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 150, FUNCTIONS = 4, BLOCKS = 5, GLOBALS = 3, VALUES = 512 };

/* ---- random programs ---- */

static uint32_t some_operand(struct made *m, uint32_t first)
{
	uint32_t count = (uint32_t)m->f->value_count - first;
	if (count != 0 && below(m, 3) != 0) {
		uint32_t v = first + below(m, count);
		uint32_t kind = m->f->values[v].kind;
		if (kind != FACTS_STORE && kind != FACTS_BRANCH)
			return v;
	}
	return made_constant(m, FACTS_CONSTANT_INTEGER, 0, below(m, 9));
}

static uint32_t some_address(struct made *m, uint32_t first)
{
	if (below(m, 3) == 0)
		return some_operand(m, first);
	return made_constant(m, FACTS_CONSTANT_GLOBAL, below(m, GLOBALS), 4 * below(m, 3));
}

static void put_at(struct made *m, uint32_t value)
{
	m->f->values[value].file = 2;
	m->f->values[value].line = below(m, 9) == 0 ? 0 : 1 + below(m, 40);
}

static void some_instruction(struct made *m, uint32_t first)
{
	uint32_t what = below(m, 6), v;
	if (what < 2) {
		uint32_t address = some_address(m, first);
		v = made_value(m, FACTS_LOAD, 0);
		m->f->values[v].number = 4 + 4 * below(m, 2);
		made_operand(m, address, 0);
	} else if (what < 4) {
		uint32_t stored = some_operand(m, first), address = some_address(m, first);
		v = made_value(m, FACTS_STORE, 0);
		m->f->values[v].number = 4;
		made_operand(m, stored, 0);
		made_operand(m, address, 0);
	} else if (what == 4) {
		uint32_t a = some_operand(m, first), b = some_operand(m, first);
		v = made_value(m, FACTS_COMPUTE, OP_ADD);
		made_operand(m, a, 0);
		made_operand(m, b, 0);
	} else {
		uint32_t argument = some_operand(m, first), callee = below(m, FUNCTIONS);
		uint32_t target = made_constant(m, FACTS_CONSTANT_FUNCTION, callee, 0);
		v = made_value(m, FACTS_CALL, 0);
		made_operand(m, argument, 0);
		made_operand(m, target, 0);
		made_call_edge(m, v, callee, below(m, 4) == 0 ? FACTS_EDGE_START : FACTS_EDGE_CALL);
	}
	put_at(m, v);
}

/* Makes a function.  Each block leads to the next one, and perhaps to another, so every path
 * reaches the end. */
static void some_function(struct made *m, const char *name)
{
	uint32_t first = (uint32_t)m->f->value_count, base = (uint32_t)m->f->block_count;
	uint32_t blocks = 1 + below(m, BLOCKS);
	made_function(m, name, 1, 0);
	for (uint32_t b = 0; b < blocks; b++) {
		made_block(m);
		for (uint32_t i = below(m, 4); i > 0; i--)
			some_instruction(m, first);
		uint32_t condition = some_operand(m, first);
		bool last = b + 1 == blocks;
		uint32_t v = made_value(m, last ? FACTS_RETURN : FACTS_BRANCH, 0);
		made_operand(m, condition, 0);
		put_at(m, v);
		if (last)
			continue;
		facts_add_successor(m->f)->block = base + b + 1;
		facts_add_successor(m->f)->block = base + below(m, blocks);
	}
}

static void some_program(struct made *m, uint64_t seed)
{
	static const char *const names[FUNCTIONS] = {"main", "f", "g", "h"};
	made_begin(m, seed);
	facts_add_string(m->f, "a.c"); /* string number 2 */
	for (uint32_t i = 0; i < GLOBALS; i++)
		made_global(m, "x", 0);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		some_function(m, names[i]);
}

/* ---- the twin, which works on single instructions ---- */

struct twin {
	const struct facts *f;
	uint32_t n;
	bool before[VALUES][VALUES]; /* the first can be executed, and the second after it */
	bool step[VALUES][VALUES];
};

static uint32_t block_at(const struct facts *f, uint32_t value)
{
	uint32_t function = facts_function_at(f, value);
	struct facts_run blocks = facts_blocks_of(f, function);
	for (uint32_t b = blocks.first; b < blocks.end; b++) {
		struct facts_run run = facts_block_values(f, function, b);
		if (value >= run.first && value < run.end)
			return b;
	}
	return FACTS_NONE;
}

static uint32_t first_of(const struct facts *f, uint32_t function)
{
	return facts_block_values(f, function, facts_blocks_of(f, function).first).first;
}

static void twin_steps(struct twin *t, uint32_t v)
{
	const struct facts *f = t->f;
	uint32_t block = block_at(f, v), function = facts_function_at(f, v);
	if (block == FACTS_NONE)
		return;
	struct facts_run run = facts_block_values(f, function, block), to = facts_successors_of(f, block);
	if (v + 1 < run.end)
		t->step[v][v + 1] = true;
	for (uint32_t s = to.first; v + 1 == run.end && s < to.end; s++)
		t->step[v][facts_block_values(f, function, f->successors[s].block).first] = true;
	for (uint32_t c = 0; c < f->call_count; c++) {
		if (f->calls[c].value != v)
			continue;
		t->step[v][first_of(f, f->calls[c].function)] = true;
		for (uint32_t r = 0; r < t->n && f->calls[c].kind != FACTS_EDGE_START; r++)
			if (f->values[r].kind == FACTS_RETURN &&
			    facts_function_at(f, r) == f->calls[c].function)
				t->step[r][v + 1] = true;
	}
}

/* Whether a function calls another in the same thread, directly or indirectly. */
static bool calls(const struct facts *f, uint32_t from, uint32_t to, uint32_t depth)
{
	if (from == to || depth == 0)
		return from == to;
	for (uint32_t c = 0; c < f->call_count; c++)
		if (facts_function_at(f, f->calls[c].value) == from && f->calls[c].kind != FACTS_EDGE_START &&
		    calls(f, f->calls[c].function, to, depth - 1))
			return true;
	return false;
}

static bool twin_before(const struct twin *t, uint32_t a, uint32_t b)
{
	const struct facts *f = t->f;
	if (t->before[a][b])
		return true;
	for (uint32_t c = 0; c < f->call_count; c++) {
		uint32_t next = f->calls[c].value + 1;
		if (f->calls[c].kind != FACTS_EDGE_START)
			continue;
		bool thread_a = calls(f, f->calls[c].function, facts_function_at(f, a), FUNCTIONS);
		bool thread_b = calls(f, f->calls[c].function, facts_function_at(f, b), FUNCTIONS);
		bool behind_a = a == next || t->before[next][a], behind_b = b == next || t->before[next][b];
		if ((thread_a && behind_b) || (thread_b && behind_a))
			return true;
	}
	return false;
}

static void twin_init(struct twin *t, const struct facts *f)
{
	memset(t, 0, sizeof *t);
	t->f = f;
	t->n = (uint32_t)f->value_count;
	assert_true(t->n < VALUES);
	for (uint32_t v = 0; v < t->n; v++)
		twin_steps(t, v);
	memcpy(t->before, t->step, sizeof t->before);
	for (uint32_t k = 0; k < t->n; k++)
		for (uint32_t i = 0; i < t->n; i++)
			for (uint32_t j = 0; t->before[i][k] && j < t->n; j++)
				t->before[i][j] |= t->before[k][j];
}

/* Whether the end of the function can be reached from `block` without passing `without`. */
static bool ends_without(const struct facts *f, uint32_t block, uint32_t without, uint8_t *seen)
{
	struct facts_run to = facts_successors_of(f, block);
	if (block == without || seen[block])
		return false;
	seen[block] = 1;
	if (to.first == to.end)
		return true;
	for (uint32_t s = to.first; s < to.end; s++)
		if (ends_without(f, f->successors[s].block, without, seen))
			return true;
	return false;
}

static bool comes_anyway(const struct facts *f, uint32_t block, uint32_t after)
{
	uint8_t seen[FUNCTIONS * BLOCKS] = {0};
	return !ends_without(f, after, block, seen);
}

/* Whether the branch at the end of `at` decides about `block`. */
static bool decides(const struct facts *f, uint32_t at, uint32_t block)
{
	struct facts_run to = facts_successors_of(f, at);
	bool some = false;
	for (uint32_t s = to.first; s < to.end; s++)
		some |= comes_anyway(f, block, f->successors[s].block);
	return to.end - to.first > 1 && some && (block == at || !comes_anyway(f, block, at));
}

static bool is_caller(const struct facts *f, uint32_t on, uint32_t function)
{
	for (uint32_t c = 0; c < f->call_count; c++)
		if (f->calls[c].value == on && f->calls[c].function == function)
			return true;
	return false;
}

static bool controls(const struct facts *f, uint32_t on, uint32_t value)
{
	uint32_t function = facts_function_at(f, value), block = block_at(f, value);
	struct facts_run blocks = facts_blocks_of(f, function);
	bool any = false;
	for (uint32_t b = blocks.first; b < blocks.end; b++)
		any |= decides(f, b, block);
	if (!any)
		return is_caller(f, on, function);
	return f->values[on].kind == FACTS_BRANCH && facts_function_at(f, on) == function &&
	       decides(f, block_at(f, on), block);
}

static bool is_operand(const struct facts *f, uint32_t on, uint32_t value)
{
	struct facts_run run = facts_operands_of(f, value);
	for (uint32_t i = run.first; i < run.end; i++)
		if (f->operands[i].operand == on)
			return true;
	return false;
}

static bool writes(const struct twin *t, uint32_t on, uint32_t value)
{
	const struct facts *f = t->f;
	if (f->values[on].kind != FACTS_STORE || f->values[value].kind != FACTS_LOAD)
		return false;
	struct path p = path_of(f, f->operands[f->values[value].operands].operand);
	struct path q = path_of(f, f->operands[f->values[on].operands + 1].operand);
	int64_t x = p.offsets[p.loads], y = q.offsets[q.loads];
	p.offsets[p.loads] = q.offsets[q.loads] = 0;
	return path_equal(&p, &q) && x < y + f->values[on].number && y < x + f->values[value].number &&
	       twin_before(t, on, value);
}

static bool depends(const struct twin *t, uint32_t on, uint32_t value, bool whole)
{
	const struct facts *f = t->f;
	uint32_t function = facts_function_at(f, value), kind = f->values[value].kind;
	if (kind == FACTS_ARGUMENT) {
		if (is_caller(f, on, function))
			return true;
		for (uint32_t c = 0; c < f->call_count; c++)
			if (f->calls[c].function == function &&
			    f->operands[f->values[f->calls[c].value].operands].operand == on)
				return true;
		return false;
	}
	if (kind == FACTS_CALL) {
		for (uint32_t c = 0; c < f->call_count; c++)
			if (f->calls[c].value == value && f->calls[c].kind == FACTS_EDGE_CALL &&
			    f->values[on].kind == FACTS_RETURN &&
			    facts_function_at(f, on) == f->calls[c].function)
				return true;
		if (whole && is_operand(f, on, value))
			return true;
	} else if (is_operand(f, on, value) || writes(t, on, value)) {
		return true;
	}
	return (kind != FACTS_COMPUTE || whole) && controls(f, on, value);
}

static bool one_line(const struct facts *f, uint32_t a, uint32_t b)
{
	uint32_t x = f->values[a].line, y = f->values[b].line;
	return x == 0 || y == 0 || (x == y && facts_function_at(f, a) == facts_function_at(f, b));
}

static void twin_depths(const struct twin *t, uint32_t line, uint32_t *depth)
{
	for (uint32_t v = 0; v < t->n; v++)
		depth[v] = t->f->values[v].line == line ? 0 : FACTS_NONE;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t v = 0; v < t->n; v++)
			for (uint32_t on = 0; depth[v] != FACTS_NONE && on < t->n; on++) {
				uint32_t d = depth[v] + !one_line(t->f, v, on);
				if (d < depth[on] && depends(t, on, v, depth[v] == 0)) {
					depth[on] = d;
					changed = true;
				}
			}
	}
}

/* ---- comparison of slices with the twin ---- */

static void test_order(void **state)
{
	(void)state;
	static struct twin t;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct made m;
		struct tflow w;
		some_program(&m, seed);
		twin_init(&t, m.f);
		tflow_init(&w, m.f);
		for (uint32_t a = 0; a < t.n; a++)
			for (uint32_t b = 0; b < t.n; b++)
				if (block_at(m.f, a) != FACTS_NONE && block_at(m.f, b) != FACTS_NONE)
					assert_int_equal(tflow_comes_before(&w, a, b), twin_before(&t, a, b));
		tflow_release(&w);
		facts_free(m.f);
	}
}

static void check_slice(struct made *m, const struct twin *t, uint32_t line)
{
	struct slice_place at;
	struct slice s;
	uint32_t depth[VALUES];
	size_t items = 0;
	assert_int_equal(slice_find(&at, m->f, "a.c", line), 0);
	assert_true(at.moved == (at.line > line ? at.line - line : line - at.line));
	slice_make(&s, m->f, &at);
	twin_depths(t, at.line, depth);
	for (size_t i = 0; i < s.count; i++) {
		assert_int_equal(s.items[i].depth, depth[s.items[i].value]);
		assert_true(i == 0 || s.items[i].statement == s.items[i - 1].statement ||
			    s.items[i].statement == s.items[i - 1].statement + 1);
	}
	for (uint32_t v = 0; v < t->n; v++) {
		enum slice_kind kind;
		items += depth[v] != FACTS_NONE && slice_kind_of(m->f, v, &kind);
	}
	assert_int_equal(items, s.count);
	slice_release(&s);
	slice_place_release(&at);
}

/* A file with exactly the given name is found among others that end with it, in any order. */
static void test_exact_file(void **state)
{
	static const char *const files[] = {"lib/a.c", "test/a.c", "a.c"};
	struct slice_place at;

	(void)state;
	for (uint32_t last = 0; last < 3; last++) {
		struct made m;
		made_begin(&m, 1);
		made_function(&m, "main", 0, 0);
		made_block(&m);
		for (uint32_t i = 1; i <= 3; i++) {
			uint32_t v = made_value(&m, FACTS_COMPUTE, OP_ADD),
				 name = facts_add_string(m.f, files[(last + i) % 3]);
			m.f->values[v].file = name;
			m.f->values[v].line = 7;
		}
		made_value(&m, FACTS_RETURN, 0);
		assert_int_equal(slice_find(&at, m.f, "a.c", 7), 0);
		assert_string_equal(facts_string(m.f, at.file), "a.c");
		slice_place_release(&at);
		assert_int_equal(slice_find(&at, m.f, "./test/a.c", 7), 0);
		assert_string_equal(facts_string(m.f, at.file), "test/a.c");
		slice_place_release(&at);
		facts_free(m.f);
	}
}

static void test_ambiguous_file(void **state)
{
	struct slice_place at;
	struct made m;

	(void)state;
	made_begin(&m, 1);
	made_function(&m, "main", 0, 0);
	made_block(&m);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t v = made_value(&m, FACTS_COMPUTE, OP_ADD);
		m.f->values[v].file = facts_add_string(m.f, i ? "lib/a.c" : "test/a.c");
		m.f->values[v].line = 7;
	}
	made_value(&m, FACTS_RETURN, 0);
	assert_int_equal(slice_find(&at, m.f, "a.c", 7), RD_EUSAGE);
	slice_place_release(&at);
	facts_free(m.f);
}

static void test_slice(void **state)
{
	(void)state;
	static struct twin t;
	size_t checked = 0;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct made m;
		some_program(&m, seed * 77);
		twin_init(&t, m.f);
		for (uint32_t v = 0; v < t.n; v++)
			if (m.f->values[v].line != 0 && v % 5 == seed % 5) {
				check_slice(&m, &t, m.f->values[v].line);
				checked++;
			}
		facts_free(m.f);
	}
	assert_true(checked > RUNS);
}

/* ---- gates for the statements of a slice ---- */

enum { OBJECTS = 4, PLACES = 20, LOADS = 24, ITEMS = 6 };

/* Makes reads of memory, whose addresses point to random sets of places. */
static void some_reads(struct made *m, uint64_t seed)
{
	made_begin(m, seed);
	facts_add_string(m->f, "a.c");
	for (uint32_t i = 0; i < OBJECTS; i++)
		made_global(m, "x", 0);
	for (uint32_t i = 0; i < PLACES; i++)
		made_place(m, i * OBJECTS / PLACES,
			   i % (PLACES / OBJECTS) == 0 && below(m, 2) == 0 ? (int64_t)FACTS_ANYWHERE
									   : 4 * (i % 5));
	made_function(m, "main", 0, 0);
	made_block(m);
	for (uint32_t i = 0; i < LOADS; i++) {
		uint32_t address = made_constant(m, FACTS_CONSTANT_OTHER, 0, 0),
			 v = made_value(m, FACTS_LOAD, 0);
		m->f->constants[address & ~FACTS_CONSTANT].set =
			made_set(m, 1ull << below(m, PLACES) | 1ull << below(m, PLACES));
		m->f->values[v].number = 1 << below(m, 4);
		m->f->values[v].file = 2;
		m->f->values[v].line = i + 1;
		made_operand(m, address, 0);
	}
}

static uint32_t set_of(const struct facts *f, uint32_t value)
{
	return facts_operand_set(f, f->operands[f->values[value].operands].operand);
}

static bool share_object(const struct facts *f, uint32_t a, uint32_t b)
{
	return facts_sets_overlap(f, set_of(f, a), 0, set_of(f, b), 0) ||
	       facts_sets_overlap(f, set_of(f, b), 0, set_of(f, a), 0);
}

static const struct sketch_gate *gate_at(const struct sketch_gates *g, uint32_t value)
{
	for (size_t i = 0; i < g->count; i++)
		if (g->items[i].value == value)
			return &g->items[i];
	return NULL;
}

/* Every access that may overlap a statement's memory has a gate for it.  Accesses that share no
 * object with it have none. */
static void test_gates(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct made m;
		struct slice s = {.count = ITEMS, .statements = ITEMS};
		struct slice_item items[ITEMS];
		struct sketch_gates g;
		some_reads(&m, seed);
		for (uint32_t i = 0; i < ITEMS; i++)
			items[i] = (struct slice_item){.value = i * 4, .statement = i, .kind = SLICE_READ};
		s.facts = m.f;
		s.items = items;
		uint32_t sigma = below(&m, ITEMS + 1);
		sketch_gates_find(&g, &s, sigma, LOADS);
		for (uint32_t v = 0; v < LOADS; v++) {
			uint32_t near = FACTS_NONE;
			bool any = false;
			for (uint32_t i = ITEMS; i-- > 0;) {
				bool tracked = sigma == 0 || i < sigma;
				any |= tracked &&
				       (items[i].value == v || share_object(m.f, v, items[i].value));
				if (tracked && facts_sets_overlap(m.f, set_of(m.f, v), m.f->values[v].number,
								  set_of(m.f, items[i].value),
								  m.f->values[items[i].value].number))
					near = i;
			}
			const struct sketch_gate *gate = gate_at(&g, v);
			assert_true(near == FACTS_NONE || (gate != NULL && gate->near <= near));
			assert_true(gate == NULL || any);
			assert_true(gate == NULL ||
				    (gate->statement == FACTS_NONE) == (v % 4 != 0 || v / 4 >= ITEMS));
		}
		sketch_gates_release(&g);
		facts_free(m.f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_slice),
					   cmocka_unit_test(test_gates), cmocka_unit_test(test_exact_file),
					   cmocka_unit_test(test_ambiguous_file)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
