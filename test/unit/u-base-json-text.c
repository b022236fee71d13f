// SPDX-License-Identifier: Apache-2.0
/* Unit tests of JSON in memory.  A document is one line, appended to existing text, and a long
 * document is complete. */
#include "base/json-read.h"
#include "base/json-text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void put_line(struct rd_buf *out, const char *text)
{
	struct rd_json_text t;
	struct rd_json *j = rd_json_text_begin(&t);

	rd_json_object(j, NULL);
	rd_json_string(j, "text", text);
	rd_json_end(j);
	rd_json_text_end(&t, out);
}

static void test_lines(void **state)
{
	struct rd_buf out = RD_BUF_INIT;

	(void)state;
	rd_buf_adds(&out, "before\n");
	put_line(&out, "a\nb");
	put_line(&out, NULL);
	assert_string_equal(out.data, "before\n{\"text\":\"a\\nb\"}\n{\"text\":null}\n");
	rd_buf_release(&out);
}

static void test_long(void **state)
{
	struct rd_json_read r = {.subject = "test", .name = "text"};
	struct rd_buf out = RD_BUF_INIT;
	char *text = malloc(100001);
	json_t *tree;

	(void)state;
	memset(text, '"', 100000);
	text[100000] = '\0';
	put_line(&out, text);
	tree = rd_json_load(&r, out.data, out.length);
	assert_non_null(tree);
	assert_string_equal(rd_json_get_text(&r, tree, "text"), text);
	json_decref(tree);
	free(text);
	rd_buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
