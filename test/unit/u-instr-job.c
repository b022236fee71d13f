/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of the files that raddle-instr reads: jobs (instr/job-int.h) and guards
 * (instr/guard/guards.h), with and without errors. */
#include "instr/guard/guards.h"
#include "instr/job-int.h"

#include "base/error.h"
#include "raddle/guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int parse(struct instr_jobs *jobs, const char *text, char **copy)
{
	*jobs = (struct instr_jobs){0};
	*copy = strdup(text);
	return instr_jobs_parse(jobs, *copy, "jobs");
}

static void a_line_is_a_unit(void **state)
{
	struct instr_jobs jobs;
	char *copy;

	(void)state;
	assert_int_equal(parse(&jobs,
			       "a.o\t64\t1000\t3\ta.out.o\ta.sites\n"
			       "b.bc\t0\t0\t18446744073709551615\tb.o\tb.sites\ttable\n"
			       "c.bc\t0\t0\t0\tc.o\tc.sites\tlibrary",
			       &copy),
			 0);
	assert_int_equal(jobs.count, 3);
	assert_string_equal(jobs.items[0].source, "a.o");
	assert_int_equal(jobs.items[0].offset, 64);
	assert_int_equal(jobs.items[0].length, 1000);
	assert_int_equal(jobs.items[0].slot, 3);
	assert_string_equal(jobs.items[0].object, "a.out.o");
	assert_string_equal(jobs.items[0].sites, "a.sites");
	assert_false(jobs.items[0].carries_table || jobs.items[0].is_library);
	assert_true(jobs.items[1].slot == UINT64_MAX);
	assert_true(jobs.items[1].carries_table && !jobs.items[1].is_library);
	assert_true(jobs.items[2].is_library && !jobs.items[2].carries_table);
	free(jobs.items);
	free(copy);
}

static void no_lines_are_no_units(void **state)
{
	struct instr_jobs jobs;
	char *copy;

	(void)state;
	assert_int_equal(parse(&jobs, "", &copy), 0);
	assert_int_equal(jobs.count, 0);
	free(copy);
}

static void bad_lines_are_named(void **state)
{
	static const char *const bad[] = {"a\n",
					  "a\t0\t0\t0\to\n",
					  "a\tx\t0\t0\to\ts\n",
					  "a\t-1\t0\t0\to\ts\n",
					  "a\t0\t1 \t0\to\ts\n",
					  "a\t0\t0\t18446744073709551616\to\ts\n",
					  "a\t\t0\t0\to\ts\n"};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct instr_jobs jobs;
		char *copy, *message = NULL, text[256];

		rd_log_set(rd_log_first, &message);
		snprintf(text, sizeof text, "good\t0\t0\t0\to\ts\n%s", bad[i]);
		assert_int_equal(parse(&jobs, text, &copy), RD_EFORMAT);
		assert_non_null(message);
		assert_non_null(strstr(message, "jobs:2"));
		rd_log_set(NULL, NULL);
		free(message);
		free(jobs.items);
		free(copy);
	}
}

static void guards_have_numbers_in_order(void **state)
{
	struct instr_guards g;
	const uint64_t *number;

	(void)state;
	assert_int_equal(instr_guards_parse(&g, RADDLE_GUARD_TITLE "\na 7\na 5\nx outside\nc 0 1\n", "g"), 0);
	number = rd_umap_get(&g.sites, 7);
	assert_non_null(number);
	assert_int_equal(*number, 0);
	number = rd_umap_get(&g.sites, 5);
	assert_non_null(number);
	assert_int_equal(*number, 1);
	assert_null(rd_umap_get(&g.sites, 6));
	assert_int_equal(g.outside.count, 1);
	assert_null(memmem(g.table.data, g.table.length, "outside", 7));
	assert_non_null(memmem(g.table.data, g.table.length, "c 0 1\n", 6));
	instr_guards_release(&g);
}

static void bad_guards_are_refused(void **state)
{
	static const char *const bad[] = {"", "guards\n", RADDLE_GUARD_TITLE "\na x\n",
					  RADDLE_GUARD_TITLE "\na 1 2\n", RADDLE_GUARD_TITLE "\nb 1\n"};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct instr_guards g;

		rd_log_set(rd_log_discard, NULL);
		assert_int_equal(instr_guards_parse(&g, bad[i], "g"), RD_EFORMAT);
		rd_log_set(NULL, NULL);
		instr_guards_release(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_a_unit), cmocka_unit_test(no_lines_are_no_units),
		cmocka_unit_test(bad_lines_are_named), cmocka_unit_test(guards_have_numbers_in_order),
		cmocka_unit_test(bad_guards_are_refused)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
