// SPDX-License-Identifier: Apache-2.0
/* Unit tests of the option for the part of the work that a shard does: "I/N". */
#include "golden.h"

#include "run/shards.h"

static void parses(void **state)
{
	unsigned shard = 77, shards = 77;

	(void)state;
	assert_true(run_shard_parse("0/1", &shard, &shards));
	assert_int_equal(shard, 0);
	assert_int_equal(shards, 1);
	assert_true(run_shard_parse("15/16", &shard, &shards));
	assert_int_equal(shard, 15);
	assert_int_equal(shards, 16);
}

static void refuses(void **state)
{
	static const char *const texts[] = {"", "3", "/4", "4/4", "5/4", "0/0", "1/4x", "1/4/2", "a/b", "1/"};
	unsigned shard, shards;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_false(run_shard_parse(texts[i], &shard, &shards));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(parses), cmocka_unit_test(refuses)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
