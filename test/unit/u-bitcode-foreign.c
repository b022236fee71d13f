// SPDX-License-Identifier: Apache-2.0
/* Unit tests of the list of native libraries that are known not to order threads unnoticed. */
#include "bitcode/foreign-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_known(void **state)
{
	static const char *const harmless[] = {"libc.so.6", "libomp.so.5",     "ld-linux-x86-64.so.2",
					       "libm.so.6", "libstdc++.so.6",  "libevent-2.1.so.7",
					       "libz.so.1", "libpcre2-8.so.0", "libevent_core-2.1.so.7"};
	static const char *const others[] = {"libchan.so",
					     "libcrypto.so.3",
					     "libgomp.so.1",
					     "libcx.so",
					     "libzmq.so.5",
					     "libglib-2.0.so.0",
					     ""};

	(void)state;
	for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
		assert_true(bitcode_foreign_is_known(harmless[i]));
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_false(bitcode_foreign_is_known(others[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_known)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
