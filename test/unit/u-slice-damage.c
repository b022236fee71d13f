// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of slices of facts that the checker of facts/ accepts but no compiler makes.  They
 * have blocks without instructions, calls at the end of a block, thread starts at the end of the
 * program, phis of other functions, and arguments of another kind.  Slicing must end and name only
 * existing instructions.
 */
#include "candidates-fixture.h"

#include "base/alloc.h"
#include "base/error.h"
#include "facts/facts-int.h"
#include "slice/depend.h"
#include "slice/slice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 1500, FUNCTIONS = 3, BLOCKS = 4 };

static const enum facts_kind kinds[] = {FACTS_LOAD, FACTS_STORE,  FACTS_COMPUTE, FACTS_CALL,  FACTS_PHI,
					FACTS_JUMP, FACTS_BRANCH, FACTS_RETURN,	 FACTS_SWITCH};

static void some_value(struct made *m, uint32_t first)
{
	enum facts_kind kind = kinds[below(m, sizeof kinds / sizeof *kinds)];
	uint32_t number = made_constant(m, FACTS_CONSTANT_INTEGER, 0, 1),
		 global = made_constant(m, FACTS_CONSTANT_GLOBAL, 0, 0), v;

	v = made_value(m, kind, below(m, 8));
	m->f->values[v].file = 2;
	m->f->values[v].line = below(m, 12);
	m->f->values[v].number = 4;
	for (int i = 0; i < 2; i++) /* two operands, which is as many as any kind needs */
		made_operand(m,
			     kind == FACTS_LOAD || i	? global
			     : v > first && below(m, 2) ? first + below(m, v - first)
							: number,
			     below(m, FUNCTIONS * BLOCKS));
	if (kind == FACTS_CALL)
		made_call_edge(m, v, below(m, FUNCTIONS), below(m, 2) ? FACTS_EDGE_START : FACTS_EDGE_CALL);
}

/* Makes a function with any number of blocks.  Each may be empty or end with any instruction. */
static void some_function(struct made *m, const char *name)
{
	uint32_t first = (uint32_t)m->f->value_count, base = (uint32_t)m->f->block_count,
		 blocks = below(m, BLOCKS), arguments = below(m, 2);

	made_function(m, name, arguments, blocks ? 0 : FACTS_FUNCTION_EXTERNAL);
	for (uint32_t b = 0; b < blocks; b++) {
		made_block(m);
		for (uint32_t n = below(m, 4); n > 0; n--)
			some_value(m, first);
		for (uint32_t n = below(m, 3); n > 0; n--)
			facts_add_successor(m->f)->block = base + below(m, blocks);
	}
	if (blocks && arguments && below(m, 2))
		m->f->values[first].kind = kinds[below(m, 2)]; /* an argument whose kind is wrong */
	if (blocks && arguments && m->f->values[first].kind != FACTS_ARGUMENT)
		m->f->values[first].line = 1 + below(m, 11);
}

static void count(uint32_t on, void *context)
{
	const struct facts *f = context;

	assert_true(on < f->value_count);
}

static void check_slice(struct facts *f, uint32_t line)
{
	struct slice_place at = {.file = 2, .line = line};
	struct slice s;

	for (uint32_t v = 0; v < f->value_count; v++)
		if (f->values[v].line == line) {
			RD_GROW(at.values, at.capacity, at.count + 1);
			at.values[at.count++] = v;
		}
	if (at.count) {
		slice_make(&s, f, &at);
		for (size_t i = 0; i < s.count; i++) {
			assert_true(s.items[i].value < f->value_count);
			assert_true(s.items[i].statement < s.statements);
			assert_true(slice_statement_at(&s, i).line != 0);
		}
		slice_release(&s);
	}
	slice_place_release(&at);
}

static void test_damaged(void **state)
{
	size_t accepted = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		static const char *const names[FUNCTIONS] = {"main", "f", "g"};
		struct depend d;
		struct made m;

		made_begin(&m, seed);
		facts_add_string(m.f, "a.c"); /* string number 2 */
		made_global(&m, "x", 0);
		for (int i = 0; i < FUNCTIONS; i++)
			some_function(&m, names[i]);
		rd_log_set(rd_log_discard, NULL);
		if (facts_check(m.f, "facts") == 0) {
			accepted++;
			depend_init(&d, m.f);
			for (uint32_t v = 0; v < m.f->value_count; v++) {
				depend_each(&d, v, v % 2, count, m.f);
				depend_control(&d, v, count, m.f);
			}
			depend_release(&d);
			for (uint32_t line = 1; line < 12; line++)
				check_slice(m.f, line);
		}
		rd_log_set(NULL, NULL);
		facts_free(m.f);
	}
	assert_true(accepted > ROUNDS / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_damaged)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
