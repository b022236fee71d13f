// SPDX-License-Identifier: Apache-2.0
/* Unit tests of bitcode/text-int.h, and of the list of linker options that name files
 * (bitcode/trust-int.h). */
#include "bitcode/text-int.h"

#include "base/alloc.h"
#include "bitcode/trust-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void check_origin(const char *text, size_t length, const char *expected)
{
	char *filled = fill_origin(text, length, "/usr/lib");

	assert_string_equal(filled, expected);
	free(filled);
}

static void origins_are_filled_in(void **state)
{
	(void)state;
	check_origin("", 0, "");
	check_origin("$ORIGIN", 7, "/usr/lib");
	check_origin("${ORIGIN}", 9, "/usr/lib");
	check_origin("$ORIGIN/../x:${ORIGIN}/y", 24, "/usr/lib/../x:/usr/lib/y");
	check_origin("$ORIGINAL", 9,
		     "/usr/libAL"); /* the dynamic loader would not expand this, but linkers do */
	check_origin("$LIB/$", 6, "$LIB/$");
	check_origin("$${ORIGIN}", 10, "$/usr/lib");
}

/* The text is a part of a longer list; the bytes after its end do not belong to it. */
static void a_part_ends_where_it_ends(void **state)
{
	(void)state;
	check_origin("$ORIGIN/a", 7, "/usr/lib");
	check_origin("$ORIGIN", 6, "$ORIGI");
	check_origin("${ORIGIN}:b", 8, "${ORIGIN");
	check_origin("a:$ORIGIN", 2, "a:");
}

/* Compares random texts with a twin that replaces one place at a time, from the left. */
static void random_texts(void **state)
{
	static const char *const parts[] = {"$ORIGIN", "${ORIGIN}", "$", "{", "}",
					    "ORIGIN",  "/",	    ":", "x", "$ORI"};

	(void)state;
	srand(20);
	for (int round = 0; round < 5000; round++) {
		char text[128] = "", twin[512], *filled;
		const char *at = text;
		int count = rand() % 8;

		for (int i = 0; i < count; i++)
			strcat(text, parts[rand() % 10]);
		twin[0] = '\0';
		while (*at) {
			const char *plain = strstr(at, "$ORIGIN"), *braced = strstr(at, "${ORIGIN}");
			const char *next = !plain ? braced : !braced || plain < braced ? plain : braced;

			if (!next) {
				strcat(twin, at);
				break;
			}
			strncat(twin, at, (size_t)(next - at));
			strcat(twin, "/o");
			at = next + (next == braced ? 9 : 7);
		}
		filled = fill_origin(text, strlen(text), "/o");
		assert_string_equal(filled, twin);
		free(filled);
	}
}

static void words_are_compared_whole(void **state)
{
	static const char *const list[] = {"-c", "-S", "", NULL};

	(void)state;
	assert_true(is_one_of("-c", list) && is_one_of("-S", list) && is_one_of("", list));
	assert_false(is_one_of("-cc", list));
	assert_false(is_one_of("-", list));
	assert_true(starts("-Wl,x", "-Wl,") && starts("x", ""));
	assert_false(starts("-W", "-Wl,"));
	assert_string_equal(without_dashes("--script"), "script");
	assert_string_equal(without_dashes("-script"), "script");
	assert_string_equal(without_dashes("---x"), "-x");
	assert_string_equal(without_dashes(""), "");
}

static void file_options_are_known_by_name(void **state)
{
	static const char *const known[] = {"version-script",
					    "dynamic-list",
					    "script",
					    "default-script",
					    "retain-symbols-file",
					    "symbol-ordering-file",
					    "export-dynamic-symbol-list"};

	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		char *option = rd_xasprintf("--%s=", known[i]);
		size_t length = strlen(known[i]);

		assert_string_equal(bitcode_file_option(known[i], length), known[i]);
		assert_null(bitcode_file_option(known[i], length - 1));
		assert_string_equal(bitcode_file_option(option + 2, length), known[i]);
		assert_true(bitcode_trusted_file_option(option));
		option[strlen(option) - 1] = '\0'; /* without "=" */
		assert_false(bitcode_trusted_file_option(option));
		assert_false(bitcode_trusted_file_option(option + 1));
		free(option);
	}
	assert_non_null(bitcode_file_option("T", 1));
	assert_false(bitcode_trusted_file_option("--T=")); /* the long form of -T is --script= */
	assert_null(bitcode_file_option("plugin", 6));
	assert_false(bitcode_trusted_file_option("--plugin="));
	assert_false(bitcode_trusted_file_option("--="));
	assert_false(bitcode_trusted_file_option(""));
}

/* Options that make the linker read a file are used.  The name may be in the same word or in the
 * next one. */
static void file_options_are_harmless(void **state)
{
	static const char *const harmless[] = {"--version-script=/a", "-version-script=/a", "--dynamic-list",
					       "-T", "--script=/x.ld"};
	static const char *const others[] = {"--plugin=/a.so", "--out-implib=/a", "--version-scripts=/a",
					     "--dependency-file=/a"};

	(void)state;
	for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
		struct bitcode_item item[2] = {{.kind = BITCODE_ITEM_LINKER, .text = harmless[i]},
					       {.kind = BITCODE_ITEM_LINKER, .text = "/x"}};

		assert_int_equal(bitcode_distrusted(item, item + 2), 0);
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		struct bitcode_item item = {.kind = BITCODE_ITEM_LINKER, .text = others[i]};

		assert_int_equal(bitcode_distrusted(&item, &item + 1), 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(origins_are_filled_in),
		cmocka_unit_test(a_part_ends_where_it_ends),
		cmocka_unit_test(random_texts),
		cmocka_unit_test(words_are_compared_whole),
		cmocka_unit_test(file_options_are_known_by_name),
		cmocka_unit_test(file_options_are_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
