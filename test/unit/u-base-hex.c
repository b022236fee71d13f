// SPDX-License-Identifier: Apache-2.0
/* Unit tests of hexadecimal digits.  Every byte is written as by printf() and read back, and
 * invalid texts are refused. */
#include "base/hex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void every_byte_comes_back(void **state)
{
	(void)state;
	for (int i = 0; i < 256; i++) {
		uint8_t byte = (uint8_t)i, again = (uint8_t)~byte;
		char text[3], slow[3];
		rd_hex_write(text, &byte, 1);
		snprintf(slow, sizeof slow, "%02x", byte);
		assert_string_equal(text, slow);
		assert_true(rd_hex_read(&again, text, 1));
		assert_int_equal(again, byte);
		assert_int_equal(rd_hex_number(text, 2), i);
	}
	assert_true(rd_hex_number("0123456789abcdef", 16) == 0x123456789abcdef);
}

static void other_texts_are_refused(void **state)
{
	static const char *const wrong[] = {"", "0", "012", "0g", "0A", "0x", " 0", "0 ", "00\n"};
	uint8_t byte = 77;
	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_false(rd_is_hex(wrong[i], 2));
		assert_false(rd_hex_read(&byte, wrong[i], 1));
	}
	assert_false(rd_is_hex(NULL, 0));
	assert_true(rd_is_hex("", 0));
	assert_int_equal(byte, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_comes_back),
		cmocka_unit_test(other_texts_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
