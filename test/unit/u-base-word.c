// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/word.h.  Words are found by number and numbers by word; unknown ones are not
 * found. */
#include "base/word.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_words(void **state)
{
	static const char *const words[] = {NULL, "one", "two"};

	(void)state;
	for (int i = 1; i < 3; i++) {
		assert_int_equal(rd_word_find(words, 3, words[i]), i);
		assert_ptr_equal(rd_word(words, 3, (unsigned)i), words[i]);
	}
	assert_int_equal(rd_word_find(words, 2, "two"), -1);
	assert_int_equal(rd_word_find(words, 3, ""), -1);
	assert_int_equal(rd_word_find(words, 3, NULL), -1);
	assert_null(rd_word(words, 3, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
