/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of the recognition of std::string members by name (instr/scan/cxx-string.h), and of
 * the table of library functions (instr/scan/libc.h).
 */
#include "instr/scan/cxx-string.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define CLASS "St7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE"
#define WIDE "St7__cxx1112basic_stringIwSt11char_traitsIwESaIwEE"

static void members_are_recognised(void **state)
{
	(void)state;
	assert_true(instr_string_is_member("_ZN" CLASS "6appendEPKc"));
	assert_true(instr_string_is_member("_ZNK" WIDE "4sizeEv"));
	assert_false(instr_string_is_member("_ZNSt6vectorIiSaIiEE9push_backERKi"));
	assert_false(instr_string_is_member("append"));
	assert_false(instr_string_is_member(""));
}

static void check(const char *name, bool shifted, const char *expected)
{
	const struct instr_libc *rows[INSTR_STRING_ROWS];
	size_t n = instr_string_find(name, shifted, rows);
	char found[64] = "";

	for (size_t i = 0; i < n; i++)
		snprintf(found + strlen(found), sizeof found - strlen(found), "%s%d%c", i ? " " : "",
			 rows[i]->argument, rows[i]->write ? 'w' : 'r');
	assert_string_equal(found, expected);
}

static void members_read_and_write(void **state)
{
	(void)state;
	check("_ZN" CLASS "6appendEPKc", false, "0w");
	check("_ZN" CLASS "6appendERKS4_", false, "0w 1r");
	check("_ZN" CLASS "4swapERS4_", false, "0w 1w");
	check("_ZN" CLASS "aSEOS4_", false, "0w 1w");
	check("_ZNK" CLASS "7compareERKS4_", false, "0r 1r");
	check("_ZNK" CLASS "7compareEmmRKS4_mm", false, "0r 3r");
	check("_ZN" CLASS "5beginEv", false, "0r");
	check("_ZN" CLASS "ixEm", false, "0r");
	check("_ZN" WIDE "pLERKS4_", false, "0w 1r");
}

/* No other thread can access a string that is being constructed, so such a string has no row.  If
 * a result is returned in memory, the string is argument 1. */
static void constructors_and_hidden_results(void **state)
{
	(void)state;
	check("_ZN" CLASS "C1ERKS4_", false, "1r");
	check("_ZN" CLASS "C2EOS4_", false, "1w");
	check("_ZN" CLASS "C1EPKc", false, "");
	check("_ZNK" CLASS "6substrEmm", true, "1r");
}

static void other_names_have_no_rows(void **state)
{
	(void)state;
	check("_ZN" CLASS "9_M_createERmm", false, "");
	check("_ZN" CLASS "10_S_compareEmm", false, "");
	check("_ZN" CLASS "99appendEPKc", false, "");
	check("_ZN" CLASS, false, "");
	check("strlen", false, "");
}

static void rows_of_a_function_are_together(void **state)
{
	size_t count = 0;
	const struct instr_libc *rows = instr_libc_find("memcpy", &count);

	(void)state;
	assert_non_null(rows);
	assert_int_equal(count, 2);
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(rows[i].name, "memcpy");
		assert_int_equal(rows[i].length, LENGTH_ARG);
		assert_int_equal(rows[i].a, 2);
		assert_int_equal(rows[i].write, rows[i].argument == 0);
	}
	assert_null(instr_libc_find("no_such_function", &count));
	assert_null(instr_libc_find("", &count));
}

static void results_come_after(void **state)
{
	const struct instr_libc *row;
	size_t count;

	(void)state;
	row = instr_libc_find("read", &count);
	assert_non_null(row);
	for (size_t i = 0; i < count; i++)
		if (row[i].write)
			assert_true(instr_libc_after(&row[i]));
	row = instr_libc_find("strlen", &count);
	assert_non_null(row);
	assert_false(instr_libc_after(row));
	assert_true(instr_libc_emits("printf"));
	assert_false(instr_libc_emits("strlen"));
}

static void equal_conversions_share_a_row(void **state)
{
	struct instr_conversion c = {.argument = 2, .is_string = true, .size = 5, .limit = -1};
	const struct instr_libc *first = instr_libc_of_format(&c), *other;

	(void)state;
	assert_ptr_equal(instr_libc_of_format(&c), first);
	assert_int_equal(first->length, LENGTH_PRINTED_STRING);
	assert_int_equal(first->a, 5);
	c.size = UINT64_MAX;
	other = instr_libc_of_format(&c);
	assert_ptr_not_equal(other, first);
	assert_int_equal(other->a, -1);
	c = (struct instr_conversion){
		.argument = 3, .write = true, .is_scanned = true, .least = 1, .size = 4};
	other = instr_libc_of_format(&c);
	assert_int_equal(other->length, LENGTH_SCANNED);
	assert_int_equal(other->b, 1);
	assert_true(instr_libc_after(other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_recognised),	   cmocka_unit_test(members_read_and_write),
		cmocka_unit_test(constructors_and_hidden_results), cmocka_unit_test(other_names_have_no_rows),
		cmocka_unit_test(rows_of_a_function_are_together), cmocka_unit_test(results_come_after),
		cmocka_unit_test(equal_conversions_share_a_row)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
