// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/printable.h. */
#include "base/printable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void expect(const char *text, bool lines, const char *wanted)
{
	char copy[64];

	snprintf(copy, sizeof copy, "%s", text);
	rd_make_printable(copy, strlen(copy), lines);
	assert_string_equal(copy, wanted);
}

static void control_characters_are_replaced(void **state)
{
	(void)state;
	expect("", false, "");
	expect("plain text", false, "plain text");
	expect("a\033[2Jb", false, "a?[2Jb");
	expect("a\r\b\177\001", true, "a????");
	expect("one\n\ttwo", true, "one\n\ttwo");
	expect("one\n\ttwo", false, "one??two");
	expect("caf\xc3\xa9 \xe2\x9c\x93", false, "caf\xc3\xa9 \xe2\x9c\x93");
	expect("a\xc2\x9b"
	       "2J\xc2\x85\xc2\xa0",
	       false, "a??2J??\xc2\xa0");
	expect("cut\xc2", false, "cut\xc2");
}

static void only_our_colours_are_colours(void **state)
{
	static const char *const good[] = {"\033[0m",  "\033[1m",    "\033[31m",
					   "\033[35m", "\033[1;31m", "\033[1;34m"};
	static const char *const bad[] = {
		"",	    "m",       "\033[m",   "\033[8m",	 "\033[7m",	 "\033[30m", "\033[37m",
		"\033[48m", "\033[2J", "\033]0;m", "\033[4;31m", "\033[1;1;31m", "\033[31",  "\033[1;38m"};

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_int_equal(rd_colour_length(good[i], strlen(good[i])), strlen(good[i]));
		assert_int_equal(rd_colour_length(good[i], strlen(good[i]) - 1), 0);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(rd_colour_length(bad[i], strlen(bad[i])), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_characters_are_replaced),
		cmocka_unit_test(only_our_colours_are_colours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
