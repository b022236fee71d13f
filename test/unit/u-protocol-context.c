// SPDX-License-Identifier: Apache-2.0
/* Unit tests of contexts: a hive reads what a site writes, for all sixteen combinations. */
#include "base/error.h"
#include "base/json-text.h"
#include "protocol/context.h"
#include "raddle/guard.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_bits(void **state)
{
	static const struct {
		const char *name;
		uint32_t bit;
	} rows[] = {{"first", RADDLE_GUARD_FIRST},
		    {"second", RADDLE_GUARD_SECOND},
		    {"same_address", RADDLE_GUARD_SAME_ADDRESS},
		    {"two_threads", RADDLE_GUARD_TWO_THREADS}};

	(void)state;
	for (uint32_t bits = 0; bits < 16; bits++) {
		struct rd_buf out = RD_BUF_INIT;
		struct rd_json_text text;
		struct rd_json *j = rd_json_text_begin(&text);
		json_t *tree;

		rd_json_object(j, NULL);
		protocol_context_write(j, bits);
		rd_json_end(j);
		rd_json_text_end(&text, &out);
		tree = json_loads(out.data, 0, NULL);
		assert_non_null(tree);
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
			assert_int_equal(
				json_is_true(json_object_get(json_object_get(tree, "context"), rows[i].name)),
				(bits & rows[i].bit) != 0);
		json_decref(tree);
		rd_buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
