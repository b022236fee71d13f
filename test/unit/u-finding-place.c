// SPDX-License-Identifier: Apache-2.0
/* Unit tests of the places of sites.  They include the functions that a site was inlined into.
 * Unknown parts are left out. */
#include "base/alloc.h"
#include "finding/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <xxhash.h>

/* Site 1 was inlined twice.  The file and function of site 2 are unknown. */
static const char table[] = "raddle-sites\t1\n"
			    "U\t1\t1\tprog.c\n"
			    "F\t0\t/home/a/prog.c\n"
			    "F\t1\t/home/a/list.h\n"
			    "S\t1\tr\t4\t-\t1\t10\t5\tfirst\tx\tint\t0\t20\tworker\t0\t30\tmain\n"
			    "S\t2\tw\t4\t-\t-1\t0\t0\t-\tx\tint\n";
#define KNOWN (1 << 16 | 1)
#define UNKNOWN (1 << 16 | 2)

static struct trace_sites *sites;

static int start(void **state)
{
	char *text = rd_xasprintf("%send\t5\t%016llx\n", table,
				  (unsigned long long)XXH64(table, strlen(table), 0));
	int err = trace_sites_parse(&sites, text, strlen(text), "table");

	(void)state;
	free(text);
	return err;
}

static int stop(void **state)
{
	(void)state;
	trace_sites_free(sites);
	return 0;
}

static void test_place(void **state)
{
	struct schedule_place p = schedule_place_of(NULL, sites, KNOWN), copy;
	struct schedule s;

	(void)state;
	assert_string_equal(p.file, "/home/a/list.h");
	assert_string_equal(p.function, "first");
	assert_int_equal(p.line, 10);
	assert_int_equal(p.column, 5);
	schedule_init(&s);
	copy = schedule_place_of(&s, sites, KNOWN);
	assert_string_equal(copy.file, p.file);
	assert_ptr_not_equal(copy.file, p.file);
	schedule_release(&s);
}

static void test_unknown(void **state)
{
	static const uint32_t unknown[] = {0, UNKNOWN, 1 << 16 | 3, UINT32_MAX};
	struct finding_set *set = finding_set_new();

	(void)state;
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
		for (int k = 0; k < 2; k++) {
			const struct trace_sites *in = k ? NULL : sites;
			struct schedule_place p = schedule_place_of(NULL, in, unknown[i]);
			struct finding_stack s = finding_stack_at(set, in, unknown[i]);

			assert_true(!p.file && !p.function && !p.line && !p.column);
			assert_int_equal(s.count, 1);
			assert_true(!s.frames[0].file && !s.frames[0].function && !s.frames[0].line);
			assert_string_equal(trace_sites_frame(in, unknown[i]).file, "");
			assert_int_equal(finding_stack_of(set, &p).count, 0);
		}
	finding_set_free(set);
}

static void test_frames(void **state)
{
	static const struct finding_frame expected[] = {{.function = "first", .line = 10, .column = 5},
							{.function = "worker", .line = 20},
							{.function = "main", .line = 30}};
	struct finding_set *set = finding_set_new();
	struct finding_stack s = finding_stack_at(set, sites, KNOWN);

	(void)state;
	assert_int_equal(s.count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(s.frames[i].function, expected[i].function);
		assert_string_equal(s.frames[i].file, i ? "/home/a/prog.c" : "/home/a/list.h");
		assert_int_equal(s.frames[i].line, expected[i].line);
		assert_int_equal(s.frames[i].column, expected[i].column);
	}
	assert_int_equal(finding_put_frames(set, sites, KNOWN, NULL), 3);
	struct schedule_place place = schedule_place_of(NULL, sites, KNOWN);
	s = finding_stack_of(set, &place);
	assert_int_equal(s.count, 1);
	assert_string_equal(s.frames[0].function, "first");
	assert_int_equal(s.frames[0].column, 5);
	finding_set_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_frames),
	};
	return cmocka_run_group_tests(tests, start, stop);
}
