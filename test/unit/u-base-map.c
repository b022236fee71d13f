// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/map.h, against a plain array as the slow twin. */
#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void empty_map_finds_nothing(void **state)
{
	struct rd_umap m = RD_UMAP_INIT;
	struct rd_names n = RD_NAMES_INIT;
	uint32_t number;

	(void)state;
	assert_null(rd_umap_get(&m, 0));
	assert_false(rd_names_find(&n, "", 0, &number));
	rd_umap_release(&m);
	rd_names_release(&n);
}

/* The keys 0 and UINT64_MAX work like any other. */
static void extreme_keys(void **state)
{
	static const uint64_t keys[] = {0, UINT64_MAX, 1, UINT64_C(1) << 63};
	struct rd_umap m = RD_UMAP_INIT;
	bool is_new;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		*rd_umap_put(&m, keys[i], &is_new) = i + 1;
		assert_true(is_new);
	}
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(*rd_umap_put(&m, keys[i], &is_new), i + 1);
		assert_false(is_new);
	}
	assert_null(rd_umap_get(&m, 2));
	assert_int_equal(m.count, 4);
	rd_umap_release(&m);
}

/* Uses few different keys, so that many are looked up again.  `stride` makes their low bits equal,
 * as in addresses. */
static void check_against_array(uint64_t stride)
{
	static uint64_t twin[4096];
	struct rd_umap m = RD_UMAP_INIT;
	uint64_t seed = 0x1234567;

	memset(twin, 0, sizeof twin);
	for (int i = 0; i < 20000; i++) {
		uint64_t k = next_random(&seed) % 4096, *value;
		bool is_new;

		value = rd_umap_put(&m, k * stride, &is_new);
		assert_int_equal(is_new, twin[k] == 0);
		assert_int_equal(*value, twin[k]);
		*value = ++twin[k];
	}
	for (uint64_t k = 0; k < 4096; k++) {
		uint64_t *value = rd_umap_get(&m, k * stride);

		assert_int_equal(value ? *value : 0, twin[k]);
	}
	rd_umap_release(&m);
}

static void map_agrees_with_array(void **state)
{
	(void)state;
	check_against_array(1);
	check_against_array(4096);
	check_against_array(UINT64_C(1) << 40);
}

/* Pairs that careless packing would turn into the same number are distinguished, and so are pairs
 * that fall into the same slot. */
static void pairs_are_compared_in_full(void **state)
{
	static const uint64_t pairs[][2] = {
		{2, 65539}, {3, 3}, {0, 1}, {1, 0}, {0, 0}, {UINT64_C(1) << 32, 7}, {7, UINT64_C(1) << 32},
	};
	struct rd_pmap m = {0};
	bool is_new;

	(void)state;
	assert_null(rd_pmap_get(&m, 0, 0));
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		*rd_pmap_put(&m, pairs[i][0], pairs[i][1], &is_new) = i + 1;
		assert_true(is_new);
	}
	for (uint64_t i = 100; i < 600; i++) {
		*rd_pmap_put(&m, i, i, &is_new) = i;
		assert_true(is_new);
	}
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		assert_int_equal(*rd_pmap_get(&m, pairs[i][0], pairs[i][1]), i + 1);
	for (uint64_t i = 100; i < 600; i++) {
		assert_int_equal(*rd_pmap_get(&m, i, i), i);
		assert_null(rd_pmap_get(&m, i, i + 1));
	}
	rd_pmap_release(&m);
	assert_null(rd_pmap_get(&m, 3, 3));
}

static void names_count_up(void **state)
{
	struct rd_names n = RD_NAMES_INIT;
	uint32_t number;
	char text[16];

	(void)state;
	for (uint32_t i = 0; i < 3000; i++) {
		int length = snprintf(text, sizeof text, "name-%u", i);

		assert_int_equal(rd_names_put(&n, text, (size_t)length), i);
	}
	for (uint32_t i = 0; i < 3000; i++) {
		int length = snprintf(text, sizeof text, "name-%u", i);

		assert_true(rd_names_find(&n, text, (size_t)length, &number));
		assert_int_equal(number, i);
		assert_int_equal(rd_names_put(&n, text, (size_t)length), i);
		assert_string_equal(n.items[i], text);
	}
	assert_int_equal(n.count, 3000);
	rd_names_release(&n);
}

static void names_differ_by_length(void **state)
{
	struct rd_names n = RD_NAMES_INIT;
	uint32_t number;

	(void)state;
	assert_int_equal(rd_names_put(&n, "abc", 3), 0);
	assert_int_equal(rd_names_put(&n, "abc", 2), 1);
	assert_int_equal(rd_names_put(&n, "", 0), 2);
	assert_int_equal(rd_names_put(&n, NULL, 0), 2);
	assert_true(rd_names_find(&n, NULL, 0, &number));
	assert_int_equal(rd_names_put(&n, "ab", 2), 1);
	assert_int_equal(rd_names_put(&n, "ab\0c", 4), 1);
	assert_false(rd_names_find(&n, "a", 1, &number));
	assert_true(rd_names_find(&n, "ab\0c", 4, &number));
	assert_int_equal(number, 1);
	rd_names_release(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_map_finds_nothing), cmocka_unit_test(extreme_keys),
		cmocka_unit_test(map_agrees_with_array),   cmocka_unit_test(names_count_up),
		cmocka_unit_test(names_differ_by_length),  cmocka_unit_test(pairs_are_compared_in_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
