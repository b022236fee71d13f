/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of the table of a guarded program (guard/guards.h).  A well-formed table must be read
 * back as it was written, with regions sorted and unique.  Every kind of damage must be an error.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "guard/guards.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BUILD "0123456789abcdef"
#define ID1 "00112233445566aa"
#define ID2 "ffeeddccbbaa9988"

static int parse(struct guard_table *t, const char *table, const char *regions)
{
	struct guard_text text = {table, regions, strlen(table), regions ? strlen(regions) : 0};

	return guard_table_parse(t, &text, "program");
}

static void test_table(void **state)
{
	struct guard_table t;
	(void)state;

	assert_int_equal(parse(&t,
			       RADDLE_GUARD_TITLE BUILD "\na 17\na 18\na 40\n"
							"c " ID1 " 0 1\nc " ID2 " 2 2\n",
			       NULL),
			 RD_OK);
	assert_string_equal(t.build, BUILD);
	assert_int_equal(t.guards, 3);
	assert_int_equal(t.count, 2);
	assert_string_equal(t.candidates[0].id, ID1);
	assert_int_equal(t.candidates[0].guard[1], 1);
	assert_string_equal(t.candidates[1].id, ID2);
	assert_int_equal(t.candidates[1].guard[0], 2);
	for (uint32_t g = 0; g <= t.guards; g++)
		assert_int_equal(t.first[g], 0);
	guard_table_release(&t);
}

static void test_empty(void **state)
{
	struct guard_table t;
	(void)state;

	assert_int_equal(parse(&t, RADDLE_GUARD_TITLE BUILD "\n", ""), RD_OK);
	assert_int_equal(t.guards, 0);
	assert_int_equal(t.count, 0);
	assert_int_equal(t.first[0], 0);
	guard_table_release(&t);
}

/* Regions may be listed in any order, for several units, and more than once. */
static void test_regions(void **state)
{
	struct guard_table t;
	(void)state;

	assert_int_equal(
		parse(&t, RADDLE_GUARD_TITLE BUILD "\na 1\na 2\na 3\n", "2 9\n0 5\n2 3\n0 5\n2 9\n0 4\n"),
		RD_OK);
	assert_int_equal(t.first[0], 0);
	assert_int_equal(t.first[1], 2);
	assert_int_equal(t.first[2], 2);
	assert_int_equal(t.first[3], 4);
	assert_int_equal(t.regions[0], 4);
	assert_int_equal(t.regions[1], 5);
	assert_int_equal(t.regions[2], 3);
	assert_int_equal(t.regions[3], 9);
	guard_table_release(&t);
}

static void refuse(const char *table, const char *regions)
{
	struct guard_table t;

	assert_int_equal(parse(&t, table, regions), RD_EFORMAT);
	guard_table_release(&t);
}

static void test_damage(void **state)
{
	(void)state;
	refuse("", NULL);
	refuse("raddle-guard 1 " BUILD "\n", NULL);		     /* another version */
	refuse(RADDLE_GUARD_TITLE "0123\n", NULL);		     /* the build is too short */
	refuse(RADDLE_GUARD_TITLE "0123456789ABCDEF\n", NULL);	     /* its letters are wrong */
	refuse(RADDLE_GUARD_TITLE BUILD "\nb 17\n", NULL);	     /* an unknown line */
	refuse(RADDLE_GUARD_TITLE BUILD "\na\n", NULL);		     /* no number */
	refuse(RADDLE_GUARD_TITLE BUILD "\na 17x\n", NULL);	     /* more than a number */
	refuse(RADDLE_GUARD_TITLE BUILD "\na 4294967295\n", NULL);   /* too large */
	refuse(RADDLE_GUARD_TITLE BUILD "\na 1\nc " ID1 "\n", NULL); /* no guards */
	refuse(RADDLE_GUARD_TITLE BUILD "\na 1\nc " ID1 " 0\n", NULL);
	refuse(RADDLE_GUARD_TITLE BUILD "\na 1\nc " ID1 " 0 1\n", NULL); /* no such guard */
	/* the guard of a candidate comes later */
	refuse(RADDLE_GUARD_TITLE BUILD "\nc " ID1 " 0 0\na 1\n", NULL);
	refuse(RADDLE_GUARD_TITLE BUILD "\na 1\nc 00112233445566AA 0 0\n", NULL);
	refuse(RADDLE_GUARD_TITLE BUILD "\na 1\nc " ID1 " 0 0 \n", NULL);
	refuse(RADDLE_GUARD_TITLE BUILD "\na 1\n", "1 0\n");	 /* no such guard */
	refuse(RADDLE_GUARD_TITLE BUILD "\na 1\n", "0 65536\n"); /* no such region */
	refuse(RADDLE_GUARD_TITLE BUILD "\na 1\n", "0 1");	 /* the last line is cut off */
	refuse(RADDLE_GUARD_TITLE BUILD "\na 1\n", "0 \n");
	refuse(RADDLE_GUARD_TITLE BUILD "\na 1\n", "0\n");
}

/* Every prefix of a table is refused, or has at most what the table has. */
static void test_prefixes(void **state)
{
	const char whole[] = RADDLE_GUARD_TITLE BUILD "\na 17\na 18\nc " ID1 " 0 1\n";
	(void)state;

	for (size_t n = 0; n < sizeof whole; n++) {
		struct guard_text text = {whole, NULL, n, 0};
		struct guard_table t;
		int err = guard_table_parse(&t, &text, "program");

		assert_true(err == RD_OK || err == RD_EFORMAT);
		assert_true(t.guards <= 2 && t.count <= 1);
		guard_table_release(&t);
	}
}

static void test_files(void **state)
{
	struct guard_table t;
	(void)state;

	assert_false(guard_table_is_in("/nonexistent/program"));
	assert_false(guard_table_is_in("/proc/self/exe"));
	assert_int_equal(guard_table_read(&t, "/proc/self/exe"), RD_EFORMAT);
	guard_table_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),	 cmocka_unit_test(test_empty),
		cmocka_unit_test(test_regions),	 cmocka_unit_test(test_damage),
		cmocka_unit_test(test_prefixes), cmocka_unit_test(test_files),
	};

	rd_log_set(rd_log_discard, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
