// SPDX-License-Identifier: Apache-2.0
/* Unit tests of ir/bits.h, compared with arrays of truth values. */
#include "ir/bits.h"
#include "bits-has.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SETS = 4, RANGE = 700, STEPS = 6000 };

static bool twin[SETS][RANGE];

/* Some tests use numbers that are far from each other: the index of the twin times a constant. */
#define FAR(n, wide) ((wide) ? (uint32_t)(n)*5000003u : (uint32_t)(n))

static void check(const struct ir_bits *s, const bool *members, bool wide)
{
	struct ir_bits_iterator i = {0};
	size_t count = 0;
	uint32_t n, before = 0;

	for (uint32_t k = 0; k < RANGE; k++) {
		assert_int_equal(ir_bits_has(s, FAR(k, wide)), members[k]);
		count += members[k];
	}
	assert_int_equal(ir_bits_size(s), count);
	for (size_t seen = 0; ir_bits_next(s, &i, &n); seen++) {
		assert_true(!seen || n > before);
		assert_true(seen < count);
		before = n;
	}
	for (size_t w = 0; w < s->count; w++) { /* the words are ascending, and none is empty */
		assert_true(s->words[w].bits != 0);
		assert_true(!w || s->words[w - 1].key < s->words[w].key);
	}
}

static void step(struct ir_bits *sets, bool wide)
{
	uint32_t a = (uint32_t)rand() % SETS, b = (uint32_t)rand() % SETS, c = (uint32_t)rand() % SETS,
		 n = (uint32_t)rand() % RANGE;
	bool grew = false;

	switch (rand() % 24) {
	case 0:
		for (uint32_t k = 0; k < RANGE; k++) {
			grew |= twin[b][k] && !twin[a][k];
			twin[a][k] |= twin[b][k];
		}
		assert_int_equal(ir_bits_unite(&sets[a], &sets[b]), grew);
		break;
	case 1:
		for (uint32_t k = 0; k < RANGE; k++)
			twin[a][k] &= twin[b][k];
		ir_bits_intersect(&sets[a], &sets[b]);
		break;
	case 2:
		if (a == b || a == c)
			break;
		for (uint32_t k = 0; k < RANGE; k++)
			twin[a][k] = twin[b][k] && !twin[c][k];
		ir_bits_subtract(&sets[a], &sets[b], &sets[c]);
		break;
	case 3:
		if (a == b)
			break;
		memcpy(twin[a], twin[b], sizeof twin[a]);
		ir_bits_copy(&sets[a], &sets[b]);
		break;
	case 4:
		memset(twin[a], 0, sizeof twin[a]);
		ir_bits_release(&sets[a]);
		break;
	default: assert_int_equal(ir_bits_add(&sets[a], FAR(n, wide)), !twin[a][n]); twin[a][n] = true;
	}
	check(&sets[a], twin[a], wide);
}

static void sets_are_arrays(void **state)
{
	(void)state;
	srand(18);
	for (int wide = 0; wide < 2; wide++) {
		struct ir_bits sets[SETS] = {0};

		memset(twin, 0, sizeof twin);
		for (int i = 0; i < STEPS; i++)
			step(sets, wide);
		for (int i = 0; i < SETS; i++)
			ir_bits_release(&sets[i]);
	}
}

static void members_come_in_order(void **state)
{
	static const uint32_t numbers[] = {UINT32_MAX, 0, 63, 64, 65, 1u << 31, 127, 128};
	static const uint32_t sorted[] = {0, 63, 64, 65, 127, 128, 1u << 31, UINT32_MAX};
	struct ir_bits s = {0};
	struct ir_bits_iterator i = {0};
	uint32_t n;

	(void)state;
	assert_false(ir_bits_next(&s, &i, &n));
	for (size_t k = 0; k < 8; k++)
		assert_true(ir_bits_add(&s, numbers[k]));
	i = (struct ir_bits_iterator){0};
	for (size_t k = 0; k < 8; k++) {
		assert_true(ir_bits_next(&s, &i, &n));
		assert_int_equal(n, sorted[k]);
	}
	assert_false(ir_bits_next(&s, &i, &n));
	ir_bits_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_are_arrays),
		cmocka_unit_test(members_come_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
