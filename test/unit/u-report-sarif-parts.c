// SPDX-License-Identifier: Apache-2.0
/* Unit tests of parts of SARIF documents: the outer structure, and places that are known in more or
 * less detail. */
#include "report/sarif-parts-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_places(void **state)
{
	static const struct sarif_place places[] = {
		{.file = NULL, .line = 3},
		{.file = ""},
		{.file = "/top/a b.c"},
		{.file = "/top/c.c", .line = 3},
		{.file = "/usr/d.h", .line = 3, .column = 7, .snippet = "x = \"1\";"}};
	struct uri_root root = {.here = (char[]){"/top/"}, .top = (char[]){"/top/"}};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct rd_json j;

	(void)state;
	sarif_begin(&j, out, false);
	sarif_text(&j, "message", "m");
	rd_json_array(&j, "locations");
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		rd_json_object(&j, NULL);
		sarif_physical(&j, &root, &places[i]);
		rd_json_end(&j);
	}
	rd_json_end(&j);
	sarif_end(&j);
	fclose(out);
	assert_string_equal(
		text,
		"{\"$schema\":\"https://json.schemastore.org/"
		"sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{"
		"\"message\":{\"text\":\"m\"},\"locations\":[{},{},"
		"{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"a%20b.c\",\"uriBaseId\":\"%SRCROOT%"
		"\"}}},"
		"{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"c.c\",\"uriBaseId\":\"%SRCROOT%\"},"
		"\"region\":{\"startLine\":3}}},"
		"{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"file:///usr/d.h\"},"
		"\"region\":{\"startLine\":3,\"startColumn\":7,\"snippet\":{\"text\":\"x = "
		"\\\"1\\\";\"}}}}]}]}\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
