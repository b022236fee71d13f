// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of candidates/path.h.  The reference is a machine: each word of its memory is a
 * function of the word's address, and each root has a value.  The path of an operand must lead to
 * the address that the instructions compute.  After rebasing or appending it must still lead to
 * that address.
 */
#include "candidates-fixture.h"

#include "candidates/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GLOBALS = 3, ARGUMENTS = 4, RUNS = 400, VALUES = 24 };

/* ---- the machine: values of memory, roots and operands ---- */

static uint64_t scramble(uint64_t x)
{
	x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
	x = (x ^ x >> 27) * 0x81dadef4bc2dd44du;
	return x ^ x >> 33;
}

static uint64_t memory_at(uint64_t address)
{
	return scramble(address * 2 + 1);
}

static uint64_t global_at(uint32_t global)
{
	return scramble((uint64_t)global << 40 | 3);
}

static uint64_t operand_value(const struct facts *f, uint32_t operand);

static uint64_t address_value(const struct facts *f, uint32_t value)
{
	struct facts_run run = facts_operands_of(f, value);
	uint64_t at = operand_value(f, f->operands[run.first].operand) + (uint64_t)f->values[value].number;
	for (uint32_t i = run.first + 1; i < run.end; i++)
		at += operand_value(f, f->operands[i].operand) * f->operands[i].with;
	return at;
}

static uint64_t operand_value(const struct facts *f, uint32_t operand)
{
	if (operand & FACTS_CONSTANT) {
		const struct facts_constant *c = &f->constants[operand & ~FACTS_CONSTANT];
		return (c->kind == FACTS_CONSTANT_GLOBAL ? global_at(c->target) : 0) + (uint64_t)c->number;
	}
	const struct facts_value *v = &f->values[operand];
	uint32_t first = facts_operands_of(f, operand).first;
	switch (v->kind) {
	case FACTS_ADDRESS: return address_value(f, operand);
	case FACTS_LOAD: return memory_at(operand_value(f, f->operands[first].operand));
	case FACTS_CAST: return operand_value(f, f->operands[first].operand);
	default: return scramble((uint64_t)operand << 20 | 1);
	}
}

static uint64_t root_value(const struct facts *f, const struct path *p, uint64_t stand_in)
{
	if (p->kind == PATH_GLOBAL)
		return global_at(p->root);
	return p->kind == PATH_OBJECT ? stand_in : operand_value(f, p->root);
}

/* Returns the address that a path leads to.  A root of the kind PATH_OBJECT has the address
 * `stand_in`. */
static uint64_t path_value(const struct facts *f, const struct path *p, uint64_t stand_in)
{
	uint64_t at = root_value(f, p, stand_in);
	for (uint32_t i = 0; i <= p->loads; i++) {
		at += (uint64_t)p->offsets[i];
		if (p->index != FACTS_NONE && p->index_at == i)
			at += operand_value(f, p->index) * (uint64_t)p->stride;
		if (i < p->loads)
			at = memory_at(at);
	}
	return at;
}

/* ---- random functions ---- */

static uint32_t any_pointer(struct made *m)
{
	if (below(m, 4) == 0)
		return below(m, (uint32_t)m->f->constant_count) | FACTS_CONSTANT;
	return below(m, (uint32_t)m->f->value_count);
}

static void add_pointer(struct made *m)
{
	uint32_t base = any_pointer(m), index = below(m, ARGUMENTS);
	switch (below(m, 6)) {
	case 0:
	case 1:
		made_value(m, FACTS_LOAD, 0);
		made_operand(m, base, 0);
		break;
	case 2:
		made_value(m, FACTS_CAST, OP_BIT_CAST);
		made_operand(m, base, 0);
		break;
	default: {
		bool indexed = below(m, 3) == 0;
		uint32_t v = made_value(m, FACTS_ADDRESS, 0);
		m->f->values[v].number = (int64_t)below(m, 5) * 8 - 16;
		made_operand(m, base, 0);
		if (indexed)
			made_operand(m, index, 8u << below(m, 3));
		break;
	}
	}
}

static void make_function(struct made *m)
{
	for (uint32_t i = 0; i < GLOBALS; i++)
		made_global(m, "global", 0);
	for (uint32_t i = 0; i < GLOBALS; i++) {
		made_constant(m, FACTS_CONSTANT_GLOBAL, i, 0);
		made_constant(m, FACTS_CONSTANT_GLOBAL, i, 16);
	}
	made_function(m, "f", ARGUMENTS, FACTS_FUNCTION_ROOT);
	made_block(m);
	for (int i = 0; i < VALUES; i++)
		add_pointer(m);
	made_value(m, FACTS_RETURN, 0);
}

static uint32_t operand_count(const struct facts *f)
{
	return (uint32_t)(f->value_count - 1 + f->constant_count);
}

static uint32_t operand_at(const struct facts *f, uint32_t n)
{
	return n < f->value_count - 1 ? n : (uint32_t)(n - (f->value_count - 1)) | FACTS_CONSTANT;
}

/* ---- comparison of paths with the machine ---- */

static void test_path_leads_there(void **state)
{
	size_t loads[PATH_LOADS + 1] = {0}, indexed = 0, values = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct made m;
		made_begin(&m, seed);
		make_function(&m);
		for (uint32_t i = 0; i < operand_count(m.f); i++) {
			uint32_t operand = operand_at(m.f, i);
			struct path p = path_of(m.f, operand);
			assert_int_not_equal(p.kind, PATH_NONE);
			assert_true(p.loads <= PATH_LOADS);
			assert_true(path_value(m.f, &p, 0) == operand_value(m.f, operand));
			loads[p.loads]++;
			indexed += p.index != FACTS_NONE;
			values += p.kind == PATH_VALUE;
		}
		facts_free(m.f);
	}
	/* Every form of path occurred. */
	for (int i = 0; i <= PATH_LOADS; i++)
		assert_true(loads[i] > 100);
	assert_true(indexed > 100 && values > 100);
}

/* Equal paths lead to the same address.  Two paths have equal numbers exactly if they are equal. */
static void test_equal(void **state)
{
	size_t equal = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= RUNS / 4; seed++) {
		struct made m;
		made_begin(&m, seed * 7919);
		make_function(&m);
		for (uint32_t i = 0; i < operand_count(m.f); i++)
			for (uint32_t k = 0; k < operand_count(m.f); k++) {
				struct path a = path_of(m.f, operand_at(m.f, i));
				struct path b = path_of(m.f, operand_at(m.f, k));
				uint32_t x[PATH_NUMBERS], y[PATH_NUMBERS];
				size_t xs = path_numbers(&a, x), ys = path_numbers(&b, y);
				bool same = path_equal(&a, &b);
				assert_true(xs <= PATH_NUMBERS && ys <= PATH_NUMBERS);
				assert_int_equal(same, xs == ys && memcmp(x, y, xs * sizeof *x) == 0);
				if (same)
					assert_true(path_value(m.f, &a, 0) == path_value(m.f, &b, 0));
				equal += same && i != k;
			}
		facts_free(m.f);
	}
	assert_true(equal > 100);
}

/* If an address lies on a path, the rest of the path leads from that address to the same place. */
static void test_rebase(void **state)
{
	size_t rebased = 0, with_index = 0, refused = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct made m;
		made_begin(&m, seed * 104729);
		make_function(&m);
		for (uint32_t i = 0; i < operand_count(m.f); i++)
			for (uint32_t k = 0; k < operand_count(m.f); k++) {
				struct path p = path_of(m.f, operand_at(m.f, i)), rest;
				struct path base = path_of(m.f, operand_at(m.f, k));
				if (!path_rebase(&p, &base, PATH_OBJECT, 5, &rest)) {
					/* Every path can be rebased on itself. */
					assert_int_not_equal(i, k);
					refused++;
					continue;
				}
				assert_int_equal(rest.kind, PATH_OBJECT);
				assert_int_equal(rest.root, 5);
				assert_true(path_value(m.f, &rest, path_value(m.f, &base, 0)) ==
					    path_value(m.f, &p, 0));
				rebased++;
				with_index += rest.index != FACTS_NONE;
			}
		facts_free(m.f);
	}
	assert_true(rebased > 1000 && refused > 1000 && with_index > 100);
}

/* If a path can be rebased and appended again, the result is the original path. */
static void test_append(void **state)
{
	size_t appended = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= RUNS / 2; seed++) {
		struct made m;
		made_begin(&m, seed * 15485863);
		make_function(&m);
		for (uint32_t i = 0; i < operand_count(m.f); i++)
			for (uint32_t k = 0; k < operand_count(m.f); k++) {
				struct path p = path_of(m.f, operand_at(m.f, i)), rest, whole;
				struct path base = path_of(m.f, operand_at(m.f, k));
				if (!path_rebase(&p, &base, PATH_OBJECT, 5, &rest))
					continue;
				assert_true(path_append(&base, &rest, &whole));
				assert_true(path_equal(&whole, &p));
				/* The result may overwrite the argument. */
				whole = p;
				assert_true(path_rebase(&whole, &base, PATH_OBJECT, 5, &whole));
				assert_true(path_equal(&whole, &rest));
				assert_true(path_append(&base, &whole, &whole));
				assert_true(path_equal(&whole, &p));
				appended++;
			}
		facts_free(m.f);
	}
	assert_true(appended > 1000);
}

/* The result of appending would have too many loads, two indices, or no root. */
static void test_append_refuses(void **state)
{
	struct path base = {.kind = PATH_VALUE, .loads = PATH_LOADS, .index = FACTS_NONE};
	struct path rest = {.kind = PATH_OBJECT, .loads = 1, .index = FACTS_NONE}, out;
	struct path nowhere = {.kind = PATH_NONE, .index = FACTS_NONE};

	(void)state;
	assert_false(path_append(&base, &rest, &out));
	base.loads--;
	assert_true(path_append(&base, &rest, &out));
	assert_int_equal(out.loads, PATH_LOADS);
	base.index = rest.index = 1;
	assert_false(path_append(&base, &rest, &out));
	rest.index = FACTS_NONE;
	assert_true(path_append(&base, &rest, &out));
	assert_int_equal(out.index, 1);
	assert_false(path_append(&nowhere, &rest, &out));
	assert_false(path_append(&base, &nowhere, &out));
	assert_false(path_equal(&nowhere, &nowhere));
	assert_false(path_rebase(&nowhere, &nowhere, PATH_OBJECT, 1, &out));
}

/* Unreachable code may compute an address from itself.  A constant that is not an address has no
 * path. */
static void test_strange(void **state)
{
	struct made m;
	uint32_t v, number;
	struct path p;

	(void)state;
	made_begin(&m, 1);
	made_function(&m, "f", 0, 0);
	made_block(&m);
	v = made_value(&m, FACTS_ADDRESS, 0);
	m.f->values[v].number = 8;
	made_operand(&m, v, 0);
	number = made_constant(&m, FACTS_CONSTANT_INTEGER, 0, 4096);
	made_value(&m, FACTS_RETURN, 0);
	p = path_of(m.f, v);
	assert_int_equal(p.kind, PATH_VALUE);
	assert_int_equal(p.root, v);
	p = path_of(m.f, number);
	assert_int_equal(p.kind, PATH_NONE);
	facts_free(m.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path_leads_there), cmocka_unit_test(test_equal),
		cmocka_unit_test(test_rebase),		 cmocka_unit_test(test_append),
		cmocka_unit_test(test_append_refuses),	 cmocka_unit_test(test_strange),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
