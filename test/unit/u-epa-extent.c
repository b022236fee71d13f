// SPDX-License-Identifier: Apache-2.0
/* Unit tests of nested address ranges, compared with a linear search in a list. */
#include "epa/extent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define MOST 400

struct twin {
	uint64_t start, size;
	uint32_t number;
	bool there, ended, container;
};

static struct twin twins[MOST];
static uint32_t seed = 7;

static uint32_t rnd(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

static bool inside(const struct twin *a, uint64_t start, uint64_t size)
{
	return a->start <= start && start + size <= a->start + a->size;
}

static bool meets(const struct twin *a, uint64_t start, uint64_t size)
{
	return a->start < start + size && start < a->start + a->size;
}

/* Returns the smallest living range that contains the new one. */
static struct twin *holder(uint64_t start, uint64_t size)
{
	struct twin *best = NULL;
	for (struct twin *t = twins; t < twins + MOST; t++)
		if (t->there && !t->ended && inside(t, start, size) && t->size != size &&
		    (!best || t->size < best->size))
			best = t;
	return best;
}

static void twin_add(uint64_t start, uint64_t size, uint32_t number)
{
	struct twin *around = holder(start, size), *free_one = NULL;
	for (struct twin *t = twins; t < twins + MOST; t++) {
		if (t->there && t->start == start && t->size == size && !t->container) {
			t->ended = false;
			assert_int_equal(t->number, number);
			return;
		}
	}
	for (struct twin *t = twins; t < twins + MOST; t++) {
		bool outside = around && inside(t, around->start, around->size);
		if (t->there && meets(t, start, size) && !outside)
			t->there = false;
		if (!t->there)
			free_one = t;
	}
	if (around)
		around->container = true;
	assert_non_null(free_one);
	*free_one = (struct twin){start, size, number, true, false, false};
}

static uint32_t twin_find(uint64_t address)
{
	const struct twin *best = NULL;
	for (const struct twin *t = twins; t < twins + MOST; t++)
		if (t->there && address - t->start < t->size &&
		    (!best || t->start > best->start || (t->start == best->start && t->size < best->size)))
			best = t;
	return best ? best->number : 0;
}

static void end_some(struct epa_extents *x)
{
	struct twin *t = &twins[rnd(MOST)];
	if (!t->there)
		return;
	t->ended = true;
	epa_extents_end(x, t->number);
}

static void agrees_with_a_list(void **state)
{
	struct epa_extents x;
	(void)state;
	epa_extents_init(&x);
	for (unsigned round = 0; round < 30000; round++) {
		/* Ranges are small, near each other and aligned, so that their bounds often
		 * coincide. */
		uint64_t start = 0x1000 + 8 * rnd(120), size = 1 + (rnd(4) ? rnd(16) : 8 * rnd(40));
		if (rnd(3) == 0) {
			uint32_t n = epa_extents_add(&x, start, size);
			twin_add(start, size, n);
		}
		if (rnd(3) == 0)
			end_some(&x);
		for (unsigned i = 0; i < 6; i++) {
			uint64_t address = 0xff0 + rnd(1400);
			assert_int_equal(epa_extents_find(&x, address, rnd(50)), twin_find(address));
		}
	}
	assert_true(x.count < MOST);
	epa_extents_release(&x);
}

static void odd_bounds(void **state)
{
	struct epa_extents x;
	(void)state;
	epa_extents_init(&x);
	assert_int_equal(epa_extents_find(&x, 0, 0), 0);
	uint32_t top = epa_extents_add(&x, UINT64_MAX - 7, 100), empty = epa_extents_add(&x, 64, 0);
	assert_int_equal(epa_extents_find(&x, UINT64_MAX - 1, 0), top);
	assert_int_equal(epa_extents_find(&x, 64, 0), empty);
	assert_int_equal(epa_extents_find(&x, 65, 0), 0);
	assert_int_equal(epa_extents_before(&x, 1000), empty);
	assert_int_equal(epa_extents_after(&x, 64), top);
	epa_extents_remove(&x, empty);
	assert_int_equal(epa_extents_find(&x, 64, 0), 0);
	epa_extents_release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_a_list),
		cmocka_unit_test(odd_bounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
