// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/library.h.  If all functions exist, they work; if one is missing, none is
 * set. */
#include "base/library.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_open(void **state)
{
	double (*root)(double) = NULL, (*none)(double) = NULL;
	struct rd_library_function functions[] = {{"sqrt", &root}, {"no_such_function", &none}};
	void *handle;

	(void)state;
	assert_null(rd_library_open("libm.so.6", functions, 2));
	assert_null(root);
	assert_null(rd_library_open("libno-such-library.so", functions, 1));
	assert_null(root);
	handle = rd_library_open("libm.so.6", functions, 1);
	assert_non_null(handle);
	assert_true(root(49) > 6.9 && root(49) < 7.1);
	rd_library_close(handle);
	rd_library_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
