/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of the encoding of facts (tables about a program).  Random tables must be read back
 * unchanged.  A reference to a missing row, and a change of any byte, must be errors.  The overlap
 * of sets is compared with its definition.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "facts/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t seed = 7;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

static void discard(void *context, enum rd_level level, const char *message)
{
	(void)context;
	(void)level;
	(void)message;
}

enum { OBJECTS = 3, PLACES = 4 * OBJECTS, SETS = 6 };

static void add_sets(struct facts *f)
{
	for (uint32_t o = 0; o < OBJECTS; o++) {
		struct facts_object *object = facts_add_object(f);
		object->kind = FACTS_OBJECT_LIBRARY;
		object->origin = object->through = FACTS_NONE;
		object->size = random_below(2) ? -1 : 32;
		for (int64_t k = 0; k < 4; k++) {
			struct facts_place *p = facts_add_place(f);
			p->object = o;
			p->offset = k == 0 ? FACTS_ANYWHERE : k * 4;
			p->contents = random_below(SETS);
		}
	}
	facts_add_set(f);
	for (int s = 1; s < SETS; s++) {
		facts_add_set(f)->members = (uint32_t)f->member_count;
		for (uint32_t p = 0; p < PLACES; p++)
			if (random_below(4) == 0)
				facts_add_member(f)->place = p;
	}
}

static void add_instructions(struct facts *f, uint32_t blocks)
{
	uint32_t first = (uint32_t)f->block_count;
	for (uint32_t b = 0; b < blocks; b++) {
		struct facts_block *block = facts_add_block(f);
		block->values = (uint32_t)f->value_count;
		block->successors = (uint32_t)f->successor_count;
		for (uint32_t k = random_below(3); k > 0; k--)
			facts_add_successor(f)->block = first + random_below(blocks);
		for (uint32_t k = 1 + random_below(4); k > 0; k--) {
			struct facts_value *v = facts_add_value(f);
			v->kind = random_below(FACTS_KINDS);
			v->line = random_below(100000);
			v->operands = (uint32_t)f->operand_count;
			v->set = random_below(SETS);
			v->number = (int64_t)random_below(1000) - 500;
			facts_add_operand(f)->operand = random_below((uint32_t)f->value_count);
			facts_add_operand(f)->operand = FACTS_CONSTANT;
		}
	}
}

static struct facts *random_facts(void)
{
	struct facts *f = facts_new();
	facts_add_program(f)->name = facts_add_string(f, "program");
	facts_add_string(f, "f\t\xc3\xb6");
	facts_add_constant(f)->number = INT64_MIN;
	add_sets(f);
	for (uint32_t i = 0; i < 4; i++) {
		struct facts_function *function = facts_add_function(f);
		function->name = 2;
		function->values = (uint32_t)f->value_count;
		function->blocks = (uint32_t)f->block_count;
		function->arguments = random_below(3);
		function->subject = FACTS_NONE;
		for (uint32_t k = 0; k < f->functions[i].arguments; k++)
			facts_add_value(f)->operands = (uint32_t)f->operand_count;
		add_instructions(f, random_below(4));
	}
	facts_add_global(f)->object = FACTS_NONE;
	facts_add_note(f)->value = FACTS_NONE;
	for (uint32_t v = 0; v < f->value_count; v++) {
		if (facts_operands_of(f, v).first == facts_operands_of(f, v).end || random_below(2))
			continue;
		facts_add_access(f)->value = v;
		facts_add_call(f)->value = v;
	}
	return f;
}

static struct facts *read_back(const struct facts *f)
{
	struct rd_buf b = RD_BUF_INIT;
	struct facts *back;
	facts_encode(f, &b);
	int err = facts_decode(&back, b.data, b.length, "test");
	rd_buf_release(&b);
	return err ? NULL : back;
}

static void test_round_trip(void **state)
{
	(void)state;
	for (int round = 0; round < 300; round++) {
		struct facts *f = random_facts(), *back = read_back(f);
		assert_non_null(back);
		assert_int_equal(back->string_count, 3);
		assert_string_equal(facts_string(back, 2), "f\t\xc3\xb6");
		for (unsigned t = 0; t < FACTS_TABLE_COUNT; t++) {
			assert_int_equal(facts_count(f, t), facts_count(back, t));
			if (facts_count(f, t) != 0)
				assert_memory_equal(facts_rows(f, t), facts_rows(back, t),
						    facts_count(f, t) * facts_layout(t)->row);
		}
		facts_free(f);
		facts_free(back);
	}
}

/* For each column that refers to rows, changes the entry of a random row to the number of a row
 * that does not exist. */
static void test_wrong_numbers(void **state)
{
	(void)state;
	rd_log_set(discard, NULL);
	for (int round = 0; round < 20; round++)
		for (unsigned t = 0; t < FACTS_TABLE_COUNT; t++)
			for (size_t k = 0; k < facts_layout(t)->field_count; k++) {
				const struct facts_field *field = &facts_layout(t)->fields[k];
				struct facts *f = random_facts();
				size_t count = facts_count(f, t);
				if (field->use != FACTS_USE_NUMBER && count != 0) {
					char *row = (char *)facts_rows(f, t) +
						    random_below((uint32_t)count) * facts_layout(t)->row;
					*(uint32_t *)(row + field->offset) = 0x7ffffff0;
					assert_null(read_back(f));
				}
				facts_free(f);
			}
	rd_log_set(NULL, NULL);
}

static void test_changed_bytes(void **state)
{
	struct facts *f = random_facts(), *back;
	struct rd_buf b = RD_BUF_INIT;
	(void)state;
	rd_log_set(discard, NULL);
	facts_encode(f, &b);
	for (size_t i = 0; i < b.length; i++) {
		b.data[i] ^= 1;
		assert_true(facts_decode(&back, b.data, b.length, "test") < 0);
		b.data[i] ^= 1;
		assert_true(facts_decode(&back, b.data, i, "test") < 0);
	}
	rd_log_set(NULL, NULL);
	rd_buf_release(&b);
	facts_free(f);
}

static bool slow_overlap(const struct facts *f, uint32_t a, int64_t a_size, uint32_t b, int64_t b_size)
{
	struct facts_run x = facts_members_of(f, a), y = facts_members_of(f, b);
	for (uint32_t i = x.first; i < x.end; i++)
		for (uint32_t k = y.first; k < y.end; k++) {
			const struct facts_place *p = &f->places[f->members[i].place];
			const struct facts_place *q = &f->places[f->members[k].place];
			if (p->object != q->object)
				continue;
			if (p->offset == FACTS_ANYWHERE || q->offset == FACTS_ANYWHERE)
				return true;
			for (int64_t m = p->offset; m < p->offset + (a_size ? a_size : 100); m++)
				if (m >= q->offset && m < q->offset + (b_size ? b_size : 100))
					return true;
		}
	return false;
}

static void test_overlap(void **state)
{
	unsigned yes = 0, no = 0;
	(void)state;
	for (int round = 0; round < 200; round++) {
		struct facts *f = random_facts();
		for (uint32_t a = 0; a < SETS; a++)
			for (uint32_t b = 0; b < SETS; b++) {
				int64_t x = random_below(9), y = random_below(9);
				bool expected = slow_overlap(f, a, x, b, y);
				yes += expected;
				no += !expected;
				assert_int_equal(facts_sets_overlap(f, a, x, b, y), expected);
			}
		facts_free(f);
	}
	assert_true(yes > 100 && no > 100);
}

/* Searches find the same rows as a walk over all rows. */
static void test_searches(void **state)
{
	struct facts *f = random_facts();
	(void)state;
	for (uint32_t v = 0; v < f->value_count; v++) {
		struct facts_run own = facts_values_of(f, facts_function_at(f, v)),
				 calls = facts_calls_of(f, v);
		assert_true(v >= own.first && v < own.end);
		for (uint32_t i = 0; i < f->call_count; i++)
			assert_int_equal(i >= calls.first && i < calls.end, f->calls[i].value == v);
	}
	facts_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_wrong_numbers),
		cmocka_unit_test(test_changed_bytes), cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_searches),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
