// SPDX-License-Identifier: Apache-2.0
/* Unit tests of bitcode/library.c: which libraries belong to the system. */
#include "bitcode/library.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void whole_directory_names(void **state)
{
	(void)state;
	assert_true(is_system("/lib/libm.so.6"));
	assert_true(is_system("/lib64/libm.so.6"));
	assert_true(is_system("/usr/lib/x86_64-linux-gnu/libz.so.1"));
	assert_true(is_system("/usr/lib/postgresql/15/lib/x.so"));
	assert_false(is_system("/libfoo/liba.so"));
	assert_false(is_system("/usr/library/liba.so"));
	assert_false(is_system("/usr/local/lib/liba.so"));
	assert_false(is_system("lib/liba.so"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(whole_directory_names)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
