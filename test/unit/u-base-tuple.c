// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/tuple.h, compared with a linear search in a list.  Some use hashes that
 * collide. */
#include "base/tuple.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { LONGEST = 4, MOST = 400, ROUNDS = 3000 };

struct twin {
	uint32_t numbers[LONGEST];
	size_t length;
};

typedef uint64_t hash_fn(const uint32_t *tuple, size_t length);

static uint64_t no_hash(const uint32_t *tuple, size_t length)
{
	(void)tuple;
	(void)length;
	return 7;
}

/* A hash that does not depend on the order: (1,2) and (2,1) collide. */
static uint64_t sum_hash(const uint32_t *tuple, size_t length)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < length; i++)
		sum += tuple[i];
	return sum;
}

static size_t search(const struct twin *twins, size_t count, const struct twin *t)
{
	for (size_t i = 0; i < count; i++)
		if (twins[i].length == t->length &&
		    !memcmp(twins[i].numbers, t->numbers, t->length * sizeof *t->numbers))
			return i;
	return count;
}

static void agree(hash_fn *hash)
{
	static struct twin twins[MOST];
	struct rd_tuples m = {0};
	size_t count = 0;

	srand(4);
	for (int round = 0; round < ROUNDS; round++) {
		struct twin t = {.length = (size_t)rand() % (LONGEST + 1)};
		size_t at;
		bool is_new;

		for (size_t i = 0; i < t.length; i++)
			t.numbers[i] = rand() % 50 ? (uint32_t)rand() % 4 : UINT32_MAX;
		at = search(twins, count, &t);
		if (at == MOST)
			continue;
		assert_int_equal(rd_tuples_put(&m, t.numbers, t.length, hash(t.numbers, t.length), &is_new),
				 at);
		assert_int_equal(is_new, at == count);
		if (at == count)
			twins[count++] = t;
	}
	assert_int_equal(m.count, count);
	assert_true(count > 100);
	rd_tuples_release(&m);
}

static void numbers_are_those_of_a_list(void **state)
{
	(void)state;
	agree(rd_tuple_hash);
}

static void colliding_hashes_make_nothing_equal(void **state)
{
	(void)state;
	agree(no_hash);
	agree(sum_hash);
}

static void a_prefix_is_another_sequence(void **state)
{
	static const uint32_t zeros[3] = {0, 0, 0};
	struct rd_tuples m = {0};

	(void)state;
	for (size_t length = 0; length <= 3; length++)
		assert_int_equal(rd_tuples_put(&m, zeros, length, 0, NULL), length);
	assert_int_equal(rd_tuples_put(&m, NULL, 0, 0, NULL), 0);
	rd_tuples_release(&m);
}

static void cleared_is_empty(void **state)
{
	struct rd_tuples m = {0};

	(void)state;
	for (uint32_t most = 10; most <= 100000;
	     most *= 100) { /* a small table keeps its memory, a large one releases it */
		bool is_new;

		for (uint32_t i = 0; i < most; i++) {
			assert_int_equal(rd_tuples_put(&m, &i, 1, rd_tuple_hash(&i, 1), &is_new), i);
			assert_true(is_new);
		}
		rd_tuples_clear(&m);
		assert_int_equal(m.count, 0);
	}
	rd_tuples_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_those_of_a_list),
		cmocka_unit_test(colliding_hashes_make_nothing_equal),
		cmocka_unit_test(a_prefix_is_another_sequence),
		cmocka_unit_test(cleared_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
