// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/json.h. jansson reads back what was written. */
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <cmocka.h>
#include <jansson.h>

static struct {
	char *text;
	size_t length;
	FILE *out;
	struct rd_json json;
} doc;

static struct rd_json *begin(void)
{
	doc.out = open_memstream(&doc.text, &doc.length);
	assert_non_null(doc.out);
	rd_json_begin(&doc.json, doc.out);
	return &doc.json;
}

static void expect_text(const char *text)
{
	assert_int_equal(fclose(doc.out), 0);
	assert_string_equal(doc.text, text);
	free(doc.text);
}

static void nested_values(void **state)
{
	struct rd_json *j = begin();

	(void)state;
	rd_json_object(j, NULL);
	rd_json_number(j, "a", INT64_MIN);
	rd_json_unsigned(j, "b", UINT64_MAX);
	rd_json_array(j, "c");
	rd_json_bool(j, NULL, true);
	rd_json_bool(j, NULL, false);
	rd_json_null(j, NULL);
	rd_json_object(j, NULL);
	rd_json_end(j);
	rd_json_array(j, NULL);
	rd_json_end(j);
	rd_json_end(j);
	rd_json_string(j, "d", NULL);
	rd_json_end(j);
	expect_text("{\"a\":-9223372036854775808,\"b\":18446744073709551615,"
		    "\"c\":[true,false,null,{},[]],\"d\":null}\n");
}

static void indented_values(void **state)
{
	struct rd_json *j = begin();

	(void)state;
	j->indent = true;
	rd_json_object(j, NULL);
	rd_json_array(j, "list");
	rd_json_object(j, NULL);
	rd_json_number(j, "x", 1);
	rd_json_number(j, "y", 2);
	rd_json_end(j);
	rd_json_end(j);
	rd_json_array(j, "none");
	rd_json_end(j);
	rd_json_end(j);
	expect_text("{\n\t\"list\": [\n\t\t{\"x\": 1,\"y\": 2}\n\t],\n\t\"none\": []\n}\n");
}

static void check_string(const char *value, const char *expect)
{
	struct rd_json *j = begin();
	json_error_t error;
	json_t *root;

	rd_json_array(j, NULL);
	rd_json_string(j, NULL, value);
	rd_json_end(j);
	fclose(doc.out);
	root = json_loads(doc.text, 0, &error);
	assert_non_null(root);
	assert_string_equal(json_string_value(json_array_get(root, 0)), expect);
	json_decref(root);
	free(doc.text);
}

#define BAD "\xef\xbf\xbd"

static void strings_are_escaped(void **state)
{
	char all[128];

	(void)state;
	for (int i = 0; i < 127; i++)
		all[i] = (char)(i + 1);
	all[127] = '\0';
	check_string(all, all);
	check_string("", "");
	check_string("Gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
		     "Gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
}

static void bad_utf8_is_replaced(void **state)
{
	(void)state;
	check_string("a\xff"
		     "b",
		     "a" BAD "b");
	check_string("\x80", BAD);
	check_string("\xc3", BAD);
	check_string("\xc3(", BAD "(");
	check_string("\xe2\x82", BAD BAD);
	check_string("\xc0\x80", BAD BAD);
	check_string("\xe0\x80\x80", BAD BAD BAD);
	check_string("\xed\xa0\x80", BAD BAD BAD);
	check_string("\xf4\x90\x80\x80", BAD BAD BAD BAD);
	check_string("\xf0\x9f\x98", BAD BAD BAD);
}

/* Every string of up to three of these bytes gives valid JSON.  They are at the limits of the UTF-8
 * encoding. */
static void any_bytes_give_valid_json(void **state)
{
	static const unsigned char bytes[] = {'a',  '"',  1,	0x7f, 0x80, 0x9f, 0xa0, 0xbf,
					      0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xff};
	enum { N = sizeof bytes };

	(void)state;
	for (int i = 0; i < N * N * N; i++) {
		char text[] = {(char)bytes[i % N], (char)bytes[i / N % N], (char)bytes[i / N / N], 0};
		struct rd_json *j = begin();
		json_t *root;

		rd_json_string(j, NULL, text);
		fclose(doc.out);
		root = json_loads(doc.text, JSON_DECODE_ANY, NULL);
		assert_non_null(root);
		json_decref(root);
		free(doc.text);
	}
}

static void doubles_read_back(void **state)
{
	static const double values[] = {0, 0.1, -2.5, 1e300, 1.0 / 3, 5e-324, 123456789.125};

	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		struct rd_json *j = begin();

		rd_json_double(j, NULL, values[i]);
		fclose(doc.out);
		assert_true(strtod(doc.text, NULL) == values[i]);
		free(doc.text);
	}
	rd_json_double(begin(), NULL, 0.1);
	expect_text("0.1\n");
	rd_json_double(begin(), NULL, (double)NAN);
	expect_text("null\n");
	rd_json_double(begin(), NULL, (double)-INFINITY);
	expect_text("null\n");
}

static void arrays_of_objects_and_strings(void **state)
{
	static const char *const words[] = {"a", NULL, "c"};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct rd_json j;

	(void)state;
	rd_json_begin(&j, out);
	rd_json_object(&j, NULL);
	rd_json_strings(&j, "words", words, 3);
	rd_json_strings(&j, "none", words, 0);
	RD_JSON_OBJECTS (&j, "outer", i, 2) {
		rd_json_unsigned(&j, "i", i);
		RD_JSON_OBJECTS (&j, "inner", k, i)
			rd_json_unsigned(&j, "k", k);
	}
	rd_json_end(&j);
	fclose(out);
	assert_string_equal(text, "{\"words\":[\"a\",null,\"c\"],\"none\":[],"
				  "\"outer\":[{\"i\":0,\"inner\":[]},{\"i\":1,\"inner\":[{\"k\":0}]}]}\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrays_of_objects_and_strings),
		cmocka_unit_test(nested_values),
		cmocka_unit_test(indented_values),
		cmocka_unit_test(strings_are_escaped),
		cmocka_unit_test(bad_utf8_is_replaced),
		cmocka_unit_test(doubles_read_back),
		cmocka_unit_test(any_bytes_give_valid_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
