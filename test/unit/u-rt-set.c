// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of sets of threads (rt/steer/set.h), compared with an array of flags.  They use random
 * additions, removals and searches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rt/steer/set.h"

#include <stdlib.h>
#include <string.h>

#define STEPS 200000

static uint32_t slow_next(const bool *has, uint32_t from, uint32_t end)
{
	for (; from < end; from++)
		if (has[from])
			return from;
	return RADDLE_STEER_NONE;
}

/* Members are below `range`, so that sets of small ranges become full and empty again. */
static void compare(uint32_t range, bool alone)
{
	static struct rt_set set;
	static bool has[RADDLE_SLOTS];
	uint32_t count = 0;

	memset(&set, 0, sizeof set);
	memset(has, 0, sizeof has);
	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t number = (uint32_t)rand() % range, end = (uint32_t)rand() % (range + 1);

		if (rand() % 2) {
			rt_set_add(&set, number, alone);
			count += !has[number];
			has[number] = true;
		} else {
			rt_set_remove(&set, number, alone);
			count -= has[number];
			has[number] = false;
		}
		assert_int_equal(set.count, count);
		number = (uint32_t)rand() % range;
		assert_int_equal(rt_set_has(&set, number), has[number]);
		assert_int_equal(rt_set_next(&set, number, end), slow_next(has, number, end));
	}
}

static void test_random(void **state)
{
	(void)state;
	srand(1);
	for (int alone = 0; alone < 2; alone++) {
		compare(3, alone);
		compare(64, alone);
		compare(65, alone);
		compare(1000, alone);
	}
}

static void test_ends(void **state)
{
	static struct rt_set set;

	(void)state;
	rt_set_add(&set, RADDLE_SLOTS - 1, true);
	assert_int_equal(rt_set_next(&set, 0, RADDLE_SLOTS), RADDLE_SLOTS - 1);
	assert_int_equal(rt_set_next(&set, RADDLE_SLOTS, RADDLE_SLOTS), RADDLE_STEER_NONE);
	assert_int_equal(rt_set_next(&set, 0, RADDLE_SLOTS - 1), RADDLE_STEER_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
