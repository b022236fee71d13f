// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/heap.h.  The twin is an array in which the first item is found by a linear
 * search. */
#include "base/heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

enum { MOST = 60, ROUNDS = 20000 };

/* Orders items by key, and items with equal keys by number. */
static bool by_key(const void *keys, uint32_t a, uint32_t b)
{
	const uint32_t *k = keys;

	return k[a] != k[b] ? k[a] < k[b] : a < b;
}

static size_t first_of(const uint32_t *items, size_t count, const uint32_t *keys)
{
	size_t best = 0;

	for (size_t i = 1; i < count; i++)
		if (by_key(keys, items[i], items[best]))
			best = i;
	return best;
}

static void pushes_and_pops_agree_with_a_search(void **state)
{
	uint32_t heap[MOST], twin[MOST], keys[MOST];
	size_t count = 0, twins = 0;

	(void)state;
	srand(2);
	for (int round = 0; round < ROUNDS; round++) {
		if (twins < MOST && (twins == 0 || rand() % 2)) {
			uint32_t item = (uint32_t)rand() % MOST;
			bool there = false;

			for (size_t i = 0; i < twins; i++)
				there |= twin[i] == item;
			if (there)
				/* the key of an item must not change while it is in the heap */
				continue;
			keys[item] = (uint32_t)rand() % 10;
			twin[twins++] = item;
			rd_heap_push(heap, &count, item, by_key, keys);
		} else {
			size_t best = first_of(twin, twins, keys);

			assert_int_equal(rd_heap_pop(heap, &count, by_key, keys), twin[best]);
			twin[best] = twin[--twins];
		}
		assert_int_equal(count, twins);
	}
}

/* A merge uses a heap in this way: the first item gets a larger key and sinks to its new place. */
static void a_key_that_grows_sinks(void **state)
{
	uint32_t heap[MOST], keys[MOST], all[MOST];
	size_t count = 0;

	(void)state;
	srand(3);
	for (uint32_t i = 0; i < MOST; i++) {
		keys[i] = (uint32_t)rand() % 50;
		all[i] = i;
		rd_heap_push(heap, &count, i, by_key, keys);
	}
	for (int round = 0; round < ROUNDS; round++) {
		assert_int_equal(heap[0], all[first_of(all, MOST, keys)]);
		keys[heap[0]] += (uint32_t)rand() % 40;
		rd_heap_place(heap, count, 0, heap[0], by_key, keys);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pushes_and_pops_agree_with_a_search),
		cmocka_unit_test(a_key_that_grows_sinks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
