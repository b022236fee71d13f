// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of epa/cell-int.h, which is compared with an array of a bit for each byte.  Also tests
 * epa/rename-int.h, which is compared with a list of all reported shifts.
 */
#include "epa/cell-int.h"
#include "epa/rename-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SPACE = 4096, ROUNDS = 30000 };
#define BASE 0x7f0000000000ull

static uint32_t pick(uint32_t below)
{
	return (uint32_t)rand() % below;
}

/* Marks or clears the bytes of a range, word by word, as the propagator does. */
static void change(struct epa_cells *c, uint64_t address, uint64_t size, uint32_t node)
{
	uint64_t first = address / EPA_CELL, words = epa_cell_words(address, size);

	for (uint64_t word = first; word < first + words; word++) {
		uint8_t bytes = epa_cell_bytes(address, size, word);
		struct epa_cell *cell = node ? epa_cells_put(c, word) : epa_cells_find(c, word);

		if (node) {
			cell->bytes |= bytes;
			cell->node = node;
		} else if (cell) {
			epa_cells_clear(c, cell, bytes);
		}
	}
}

static size_t check(const struct epa_cells *c, const uint8_t *twin, const uint32_t *node)
{
	size_t wrong = 0;

	for (uint32_t i = 0; i < SPACE; i += EPA_CELL) {
		const struct epa_cell *cell = epa_cells_find(c, (BASE + i) / EPA_CELL);
		uint8_t bytes = 0;

		for (uint32_t k = 0; k < EPA_CELL; k++)
			bytes |= (uint8_t)(twin[i + k] << k);
		assert_int_equal(cell ? cell->bytes : 0, bytes);
		if (cell)
			assert_int_equal(cell->node, node[i / EPA_CELL]);
		wrong += bytes != 0;
	}
	return wrong;
}

static void cells_are_bytes(void **state)
{
	static uint8_t twin[SPACE + 64];
	static uint32_t node[SPACE / EPA_CELL + 16];
	struct epa_cells c = {0};

	(void)state;
	srand(8);
	for (uint32_t round = 1; round < ROUNDS; round++) {
		uint32_t at = pick(SPACE - 40), size = 1 + pick(40);
		bool wrong = pick(5) < 2;

		change(&c, BASE + at, size, wrong ? round : 0);
		memset(twin + at, wrong, size);
		for (uint32_t w = at / EPA_CELL; wrong && w <= (at + size - 1) / EPA_CELL; w++)
			node[w] = round;
		if (round % 500 == 0)
			assert_int_equal(check(&c, twin, node), c.wrong);
	}
	epa_cells_release(&c);
}

static void ranges_at_the_end_of_memory(void **state)
{
	(void)state;
	assert_int_equal(epa_cell_words(0, 0), 0);
	assert_int_equal(epa_cell_words(3, 1), 1);
	assert_int_equal(epa_cell_words(3, 2), 2);
	assert_int_equal(epa_cell_words(UINT64_MAX, 100), 1);
	assert_int_equal(epa_cell_words(UINT64_MAX - 4, UINT64_MAX), 2);
	assert_int_equal(epa_cell_bytes(UINT64_MAX - 1, 8, UINT64_MAX / EPA_CELL), 0xc);
}

/* At the maximum number of cells, no more are made, but existing ones are found. */
static void there_is_an_end(void **state)
{
	struct epa_cells c = {0};

	(void)state;
	for (uint64_t word = 0; word < EPA_CELLS; word++)
		epa_cells_put(&c, 3 * word)->bytes = 1;
	assert_null(epa_cells_put(&c, 1));
	assert_non_null(epa_cells_put(&c, 3));
	epa_cells_clear(&c, epa_cells_find(&c, 6), 0xf);
	assert_null(epa_cells_find(&c, 6));
	assert_non_null(epa_cells_put(&c, 1));
	epa_cells_release(&c);
}

/* ---- renames: golden ordinals of objects ---- */

enum { SITES = 3, ORDINALS = 40 };

static struct epa_name heap(uint32_t thread, uint32_t site, uint64_t ordinal)
{
	struct epa_name n = epa_name_of(EPA_HEAP, thread, ordinal);

	n.where = (uint64_t)site << EPA_NAME_SITE;
	return n;
}

static void the_latest_shift_below_counts(void **state)
{
	(void)state;
	srand(9);
	for (int round = 0; round < 300; round++) {
		struct epa_renames r = {0};
		/* by ordinal of the run: the difference to the golden ordinal */
		int shift[SITES][ORDINALS];

		memset(shift, 0, sizeof shift);
		for (int i = 0; i < 30; i++) {
			uint32_t site = pick(SITES), ordinal = pick(ORDINALS), golden = pick(ORDINALS);

			epa_renames_match(&r, heap(1, site + 7, ordinal), heap(1, site + 7, golden));
			/* From this ordinal on, all are shifted by the same amount.  That replaces
			 * earlier reports about later ordinals. */
			if (shift[site][ordinal] != (int)ordinal - (int)golden)
				for (uint32_t k = ordinal; k < ORDINALS; k++)
					shift[site][k] = (int)ordinal - (int)golden;
		}
		for (uint32_t site = 0; site < SITES; site++)
			for (uint32_t k = 0; k < ORDINALS; k++) {
				struct epa_name is = epa_renames_apply(&r, heap(1, site + 7, k));
				struct epa_name other = heap(2, site + 7, k);

				if ((int)k >= shift[site][k])
					assert_true(epa_name_same(
						is, heap(1, site + 7, (uint64_t)((int)k - shift[site][k]))));
				assert_true(epa_name_same(epa_renames_apply(&r, other), other));
			}
		epa_renames_release(&r);
	}
}

static void other_names_are_left_alone(void **state)
{
	struct epa_renames r = {0};

	(void)state;
	epa_renames_match(&r, heap(1, 7, 5), heap(1, 8, 4)); /* another site */
	epa_renames_match(&r, heap(1, 7, 5), heap(2, 7, 4)); /* another thread */
	assert_true(epa_name_same(epa_renames_apply(&r, heap(1, 7, 5)), heap(1, 7, 5)));
	assert_int_equal(r.count, 0);
	epa_renames_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_are_bytes),
		cmocka_unit_test(ranges_at_the_end_of_memory),
		cmocka_unit_test(there_is_an_end),
		cmocka_unit_test(the_latest_shift_below_counts),
		cmocka_unit_test(other_names_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
