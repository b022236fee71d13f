// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/sort.c: compared with qsort(), which sorts the whole array. */
#include "base/sort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40 };

/* An element, and its position before sorting. */
struct item {
	int key, at;
};

static int by_key(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static int by_position(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return by_key(a, b) ? by_key(a, b) : x->at < y->at ? -1 : x->at > y->at;
}

/* There are few keys, so many elements are equal. */
static void equals_whole_sort(void **state)
{
	struct item items[MOST], whole[MOST];

	(void)state;
	srand(7);
	for (int round = 0; round < 2000; round++) {
		size_t count = (size_t)rand() % MOST, least = (size_t)rand() % (MOST + 5);

		for (size_t i = 0; i < count; i++)
			items[i] = whole[i] = (struct item){rand() % 7, (int)i};
		rd_sort_least(items, count, sizeof *items, least, by_key);
		qsort(whole, count, sizeof *whole, by_position);
		for (size_t i = 0; i < count && i < least; i++)
			assert_memory_equal(&items[i], &whole[i], sizeof *items);
		qsort(items, count, sizeof *items, by_position);
		assert_memory_equal(items, whole, count * sizeof *items);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(equals_whole_sort)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
