// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/override.h.  Overrides of input that are written are read back, and invalid
 * text is refused. */
#include "base/override.h"

#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_round_trip(void **state)
{
	struct rd_override g = {0}, again;
	struct rd_buf text = RD_BUF_INIT, second = RD_BUF_INIT;
	char bytes[256];

	(void)state;
	for (int i = 0; i < 256; i++)
		bytes[i] = (char)i;
	rd_override_set(&g, &(struct rd_override_part){RD_OVERRIDE_ARGV, 2, NULL, "two words\n", 10});
	rd_override_set(&g, &(struct rd_override_part){RD_OVERRIDE_STDIN, 0, NULL, bytes, 256});
	rd_override_set(&g, &(struct rd_override_part){RD_OVERRIDE_FILE, 0, "a b/c%", bytes, 256});
	rd_override_set(&g, &(struct rd_override_part){RD_OVERRIDE_ENV, 0, "HOME", "", 0});
	rd_override_set(&g, &(struct rd_override_part){RD_OVERRIDE_ARGV, 2, NULL, "three", 5});
	assert_int_equal(g.count, 4);
	rd_override_format(&g, &text);
	assert_int_equal(rd_override_parse(&again, text.data, "test"), RD_OK);
	assert_int_equal(again.count, 4);
	assert_string_equal(again.parts[0].data, "three");
	assert_int_equal(again.parts[1].length, 256);
	assert_memory_equal(again.parts[1].data, bytes, 256);
	assert_string_equal(again.parts[2].name, "a b/c%");
	assert_string_equal(again.parts[3].data, "");
	rd_override_format(&again, &second);
	assert_string_equal(text.data, second.data);
	rd_override_release(&g);
	rd_override_release(&again);
	rd_buf_release(&text);
	rd_buf_release(&second);
}

static void test_refused(void **state)
{
	static const char *const wrong[] = {"argv",	     "argv 1",	     "argv 0 x\n",  "argv x x\n",
					    "argv 1 %00\n",  "stdin x y\n",  "file  x\n",   "env A %0\n",
					    "nothing - x\n", "argv 1 a b\n", "env %00 x\n", "argv 99999 x\n"};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct rd_override g;

		assert_int_not_equal(rd_override_parse(&g, wrong[i], "test"), RD_OK);
		rd_override_release(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip), cmocka_unit_test(test_refused)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
