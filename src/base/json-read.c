// SPDX-License-Identifier: Apache-2.0
/*
 * Reads JSON documents (json-read.h).  In: bytes, which jansson parses into a tree.  Out: values of
 * the type and range that the caller requests.
 */
#include "base/json-read.h"

#include "base/error.h"
#include "base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

json_t *rd_json_load(struct rd_json_read *r, const void *data, size_t length)
{
	RD_ASSERT(r->subject != NULL && r->name != NULL);
	RD_ASSERT(r->err == 0);
	json_error_t error;
	json_t *root;

	errno = 0;
	root = length <= RD_TEXT_MAX ? json_loadb(data, length, 0, &error) : NULL;
	if (!root && length > RD_TEXT_MAX)
		r->err = rd_fail(RD_ELIMIT, "%s: %s: more than %" PRIu64 " bytes", r->subject, r->name,
				 RD_TEXT_MAX);
	else if (!root && (errno == ENOMEM ||
			   !*error.text)) /* jansson may report a syntax error if it runs out of memory */
		r->err = rd_fail(RD_ENOMEM, "%s: %s: out of memory", r->subject, r->name);
	else if (!root)
		r->err = rd_fail(RD_EFORMAT, "%s: %s: line %d: %s", r->subject, r->name, error.line,
				 error.text);
	return root;
}

void rd_json_wrong(struct rd_json_read *r, const char *key, const char *what)
{
	RD_ASSERT(key != NULL && what != NULL);
	if (r->err)
		return;
	if (r->part)
		r->err = rd_fail(RD_EFORMAT, "%s: %s: %s %zu: \"%s\" %s", r->subject, r->name, r->part,
				 r->number, key, what);
	else
		r->err = rd_fail(RD_EFORMAT, "%s: %s: \"%s\" %s", r->subject, r->name, key, what);
}

json_t *rd_json_member(struct rd_json_read *r, const json_t *object, const char *key, json_type type)
{
	RD_ASSERT(key != NULL);
	json_t *value = json_object_get(object, key);

	if (r->err || !value || json_is_null(value))
		return NULL;
	if (json_typeof(value) == type || (type == JSON_TRUE && json_is_boolean(value)))
		return value;
	rd_json_wrong(r, key,
		      type == JSON_TRUE ? "is neither true nor false" : "has a value of a wrong type");
	return NULL;
}

const char *rd_json_get_text(struct rd_json_read *r, const json_t *object, const char *key)
{
	return json_string_value(rd_json_member(r, object, key, JSON_STRING));
}

bool rd_json_is_count(const json_t *value, uint64_t max, uint64_t *to)
{
	json_int_t n = json_integer_value(value);

	if (!json_is_integer(value) || n < 0 || (uint64_t)n > max)
		return false;
	*to = (uint64_t)n;
	return true;
}

uint64_t rd_json_get_number(struct rd_json_read *r, const json_t *object, const char *key, uint64_t max)
{
	const json_t *value = rd_json_member(r, object, key, JSON_INTEGER);
	uint64_t n = 0;

	if (value && !rd_json_is_count(value, max, &n))
		rd_json_wrong(r, key, "is out of range");
	return n;
}

int64_t rd_json_get_signed(struct rd_json_read *r, const json_t *object, const char *key)
{
	return json_integer_value(rd_json_member(r, object, key, JSON_INTEGER));
}

bool rd_json_get_bool(struct rd_json_read *r, const json_t *object, const char *key)
{
	return json_is_true(rd_json_member(r, object, key, JSON_TRUE));
}

const char *rd_json_get_item(struct rd_json_read *r, const json_t *array, const char *key, size_t i)
{
	RD_ASSERT(i < json_array_size(array));
	const char *text = json_string_value(json_array_get(array, i));
	char what[80];

	if (!text) {
		snprintf(what, sizeof what, "has element %zu, which is not a string", i);
		rd_json_wrong(r, key, what);
	}
	return text ? text : "";
}
