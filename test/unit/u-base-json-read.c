// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/json-read.h.  The first wrong member is named, and the members after it have
 * zero values. */
#include "base/json-read.h"

#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static char message[512];
static unsigned messages;

static void keep_message(void *context, enum rd_level level, const char *text)
{
	(void)context;
	(void)level;
	snprintf(message, sizeof message, "%s", text);
	messages++;
}

static int set_up(void **state)
{
	(void)state;
	message[0] = '\0';
	messages = 0;
	rd_log_set(keep_message, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rd_log_set(NULL, NULL);
	return 0;
}

static struct rd_json_read reading(void)
{
	return (struct rd_json_read){.subject = "thing", .name = "FILE"};
}

static json_t *load(struct rd_json_read *r, const char *text)
{
	*r = reading();
	return rd_json_load(r, text, strlen(text));
}

static void members_have_their_values(void **state)
{
	struct rd_json_read r;
	json_t *root = load(&r, "{\"text\":\"a\\u00e4\",\"n\":7,\"minus\":-3,\"yes\":true,\"no\":false,"
				"\"list\":[\"x\",\"\"],\"null\":null}");

	(void)state;
	assert_non_null(root);
	assert_string_equal(rd_json_get_text(&r, root, "text"), "a\xc3\xa4");
	assert_int_equal(rd_json_get_number(&r, root, "n", 7), 7);
	assert_int_equal(rd_json_get_signed(&r, root, "minus"), -3);
	assert_true(rd_json_get_bool(&r, root, "yes"));
	assert_false(rd_json_get_bool(&r, root, "no"));
	assert_string_equal(rd_json_get_item(&r, json_object_get(root, "list"), "list", 0), "x");
	assert_string_equal(rd_json_get_item(&r, json_object_get(root, "list"), "list", 1), "");
	assert_int_equal(r.err, 0);
	json_decref(root);
}

/* Members that are absent or null, and members of no object, read as zero. */
static void what_is_not_there_is_zero(void **state)
{
	static const char *const keys[] = {"null", "absent"};
	struct rd_json_read r;
	json_t *root = load(&r, "{\"null\":null}");

	(void)state;
	for (int i = 0; i < 4; i++) {
		const json_t *object = i < 2 ? root : NULL;
		const char *key = keys[i % 2];

		assert_null(rd_json_get_text(&r, object, key));
		assert_null(rd_json_member(&r, object, key, JSON_OBJECT));
		assert_int_equal(rd_json_get_number(&r, object, key, 9), 0);
		assert_int_equal(rd_json_get_signed(&r, object, key), 0);
		assert_false(rd_json_get_bool(&r, object, key));
	}
	assert_int_equal(r.err, 0);
	assert_int_equal(messages, 0);
	json_decref(root);
}

static void wrong_members_are_named(void **state)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{"{\"n\":\"x\"}", "thing: FILE: \"n\" has a value of a wrong type"},
		{"{\"n\":1.5}", "thing: FILE: \"n\" has a value of a wrong type"},
		{"{\"n\":-1}", "thing: FILE: \"n\" is out of range"},
		{"{\"n\":10}", "thing: FILE: \"n\" is out of range"},
		{"{\"n\":true}", "thing: FILE: \"n\" has a value of a wrong type"},
		{"{\"n\":[9]}", "thing: FILE: \"n\" has a value of a wrong type"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct rd_json_read r;
		json_t *root = load(&r, cases[i].text);

		assert_int_equal(rd_json_get_number(&r, root, "n", 9), 0);
		assert_int_equal(r.err, RD_EFORMAT);
		assert_string_equal(message, cases[i].expected);
		json_decref(root);
	}
}

static void a_truth_value_is_no_number(void **state)
{
	struct rd_json_read r;
	json_t *root = load(&r, "{\"b\":1}");

	(void)state;
	assert_false(rd_json_get_bool(&r, root, "b"));
	assert_string_equal(message, "thing: FILE: \"b\" is neither true nor false");
	json_decref(root);
}

/* A document gets one message, whatever else is wrong.  After it, all members read as zero. */
static void the_first_wrong_member_stops_the_reading(void **state)
{
	struct rd_json_read r;
	json_t *root = load(&r, "{\"a\":1,\"b\":2,\"c\":3,\"list\":[4]}");

	(void)state;
	r.part = "finding";
	r.number = 3;
	assert_null(rd_json_get_text(&r, root, "a"));
	assert_string_equal(message, "thing: FILE: finding 3: \"a\" has a value of a wrong type");
	assert_null(rd_json_get_text(&r, root, "b"));
	assert_int_equal(rd_json_get_number(&r, root, "c", 9), 0);
	assert_string_equal(rd_json_get_item(&r, json_object_get(root, "list"), "list", 0), "");
	assert_int_equal(messages, 1);
	json_decref(root);
}

static void an_element_that_is_no_string_is_named(void **state)
{
	struct rd_json_read r;
	json_t *root = load(&r, "{\"list\":[\"x\",{}]}");

	(void)state;
	assert_string_equal(rd_json_get_item(&r, json_object_get(root, "list"), "list", 1), "");
	assert_string_equal(message, "thing: FILE: \"list\" has element 1, which is not a string");
	json_decref(root);
}

static void no_json_is_named_with_its_line(void **state)
{
	static const char *const texts[] = {"", "{", "{\"a\":}", "nonsense", "{} {}", "{\"a\":\"\xff\"}"};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct rd_json_read r;

		message[0] = '\0';
		assert_null(load(&r, texts[i]));
		assert_int_equal(r.err, RD_EFORMAT);
		assert_non_null(strstr(message, "thing: FILE: line "));
	}
}

static void counts_end_at_their_limit(void **state)
{
	static const uint64_t limits[] = {0, 1, 255, UINT32_MAX, INT64_MAX};

	(void)state;
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		json_t *at = json_integer((json_int_t)limits[i]), *minus = json_integer(-1),
		       *real = json_real(0);
		uint64_t n = 77;

		assert_true(rd_json_is_count(at, limits[i], &n));
		assert_int_equal(n, limits[i]);
		if (limits[i])
			assert_false(rd_json_is_count(at, limits[i] - 1, &n));
		assert_false(rd_json_is_count(minus, limits[i], &n));
		assert_false(rd_json_is_count(real, limits[i], &n));
		assert_false(rd_json_is_count(NULL, limits[i], &n));
		assert_int_equal(n, limits[i]); /* an invalid value leaves it unchanged */
		json_decref(at);
		json_decref(minus);
		json_decref(real);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(members_have_their_values),
		TEST(what_is_not_there_is_zero),
		TEST(wrong_members_are_named),
		TEST(a_truth_value_is_no_number),
		TEST(the_first_wrong_member_stops_the_reading),
		TEST(an_element_that_is_no_string_is_named),
		TEST(no_json_is_named_with_its_line),
		TEST(counts_end_at_their_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
