// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the reports of sites from the body of a request.  In the resulting reports, all members
 * are in range.  Nothing in the body is trusted.  A malformed document is an error.  If a
 * well-formed document contains a bad report, only that report is rejected.
 */
#include "hive/report.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/json-read.h"
#include "base/word.h"
#include "protocol/limit.h"

#include <stdlib.h>
#include <string.h>

const char *const hive_result_names[HIVE_RESULTS] = {"race", "no-race", "timeout", "not-seen", "context"};
const char *const hive_order_names[HIVE_ORDERS] = {NULL, "primary", "alternate"};
const char *const hive_proof_names[HIVE_PROOFS] = {NULL, "happens-before", "collision"};
const char *const hive_consequence_names[HIVE_CONSEQUENCES] = {
	NULL, "crash", "hang", "deadlock", "assertion", "memory-error", "user"};

bool hive_is_build(const char *text)
{
	size_t n = text ? strlen(text) : 0;

	return n >= 8 && n < HIVE_BUILD && strspn(text, RD_HEX_DIGITS "ghijklmnopqrstuvwxyz") == n;
}

bool hive_json_is_shallow(const char *body, size_t length, unsigned max)
{
	unsigned depth = 0;
	bool inside = false;

	for (size_t i = 0; i < length; i++) {
		char c = body[i];

		if (inside) {
			i += c == '\\';
			inside = c != '"';
		} else if (c == '"') {
			inside = true;
		} else if (c == '[' || c == '{') {
			if (++depth > max)
				return false;
		} else if ((c == ']' || c == '}') && depth) {
			depth--;
		}
	}
	return true;
}

json_t *hive_json_load(struct rd_json_read *j, const char *body, size_t length, unsigned max)
{
	if (hive_json_is_shallow(body, length, max))
		return rd_json_load(j, length ? body : "", length);
	j->err = rd_fail(RD_EFORMAT, "%s: nested too deeply", j->subject);
	return NULL;
}

int hive_json_read(struct rd_json_read *j, const struct hive_body *body,
		   int (*get)(struct rd_json_read *j, void *into, const json_t *root), void *into)
{
	json_t *root = hive_json_load(j, body->text, body->length, body->depth_max);
	int err = root ? get(j, into, root) : j->err;

	json_decref(root);
	return err;
}

/* The members of one report.  Only the first error is kept. */
struct reading {
	const json_t *object;
	const char *error;
};

static const char *get_text(struct reading *r, const char *key, const char *error)
{
	const json_t *value = json_object_get(r->object, key);

	if (!value || json_is_null(value))
		return NULL;
	if (!json_is_string(value) && !r->error)
		r->error = error;
	return json_string_value(value);
}

static int get_name(struct reading *r, const char *key, const char *const *names, int count)
{
	const char *text = get_text(r, key, "a name is not a string");
	int found = text ? rd_word_find(names, count, text) : 0;

	if (found < 0 && !r->error)
		r->error = "a name is not known";
	return found < 0 ? 0 : found;
}

static uint32_t get_count(struct reading *r, const char *key, uint32_t max, uint32_t otherwise)
{
	const json_t *value = json_object_get(r->object, key);
	uint64_t number;

	if (!value || json_is_null(value))
		return otherwise;
	if (rd_json_is_count(value, max, &number))
		return (uint32_t)number;
	if (!r->error)
		r->error = "a number is out of range";
	return otherwise;
}

static bool get_bool(struct reading *r, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (value && !json_is_boolean(value) && !json_is_null(value) && !r->error)
		r->error = "a member is neither true nor false";
	return json_is_true(value);
}

static uint32_t get_context(struct reading *r)
{
	static const char *const names[] = {"first", "second", "same_address", "two_threads"};
	const json_t *bits = json_object_get(r->object, "context");
	uint32_t context = 0;

	if (bits && !json_is_object(bits) && !json_is_null(bits) && !r->error)
		r->error = "the context is not an object";
	for (unsigned i = 0; i < 4; i++)
		context |= get_bool(r, bits, names[i]) ? 1u << i : 0;
	/* If two threads met, both accesses were executed, at the same address. */
	if (context & HIVE_TWO_THREADS)
		context |= HIVE_SAME_ADDRESS;
	if (context & HIVE_SAME_ADDRESS)
		context |= HIVE_FIRST | HIVE_SECOND;
	return context;
}

static void get_id(struct reading *r, const char *key, size_t digits, char *to)
{
	const char *text = get_text(r, key, "an id is not a string");

	if (rd_is_hex(text, digits))
		memcpy(to, text, digits + 1);
	else if (!r->error)
		r->error = "an id is missing or wrong";
}

/* Returns the name of a member that is missing in a report with this result, or NULL if none is. */
static const char *missing_in(const struct hive_report *it)
{
	if (it->result <= HIVE_TIMEOUT && it->order == HIVE_NO_ORDER)
		return "the order is missing";
	if (it->result == HIVE_RACE && it->proof == HIVE_NO_PROOF)
		return "the proof is missing";
	if (it->result == HIVE_TIMEOUT && !it->tau_us)
		return "tau_us is missing";
	return NULL;
}

static const char *read_report(struct hive_report *it, const json_t *object)
{
	struct reading r = {object, json_is_object(object) ? NULL : "a report is not an object"};

	*it = (struct hive_report){0};
	if (!json_object_get(object, "result") && !r.error)
		r.error = "the result is missing";
	get_id(&r, "run", HIVE_RUN_ID - 1, it->run);
	get_id(&r, "candidate", HIVE_CANDIDATE - 1, it->candidate);
	it->seq = get_count(&r, "seq", INT32_MAX, UINT32_MAX);
	if (it->seq == UINT32_MAX && !r.error)
		r.error = "seq is missing";
	it->result = (enum hive_result)get_name(&r, "result", hive_result_names, HIVE_RESULTS);
	it->order = (enum hive_order)get_name(&r, "order", hive_order_names, HIVE_ORDERS);
	it->proof = (enum hive_proof)get_name(&r, "proof", hive_proof_names, HIVE_PROOFS);
	it->consequence =
		(enum hive_consequence)get_name(&r, "consequence", hive_consequence_names, HIVE_CONSEQUENCES);
	it->tau_us = get_count(&r, "tau_us", HIVE_TAU_MAX_US, 0);
	it->tau_capped = get_bool(&r, object, "tau_capped");
	it->context = get_context(&r);
	it->signal = get_count(&r, "signal", 64, 0);
	it->pause_us = get_count(&r, "pause_us", INT32_MAX, 0);
	it->busy_us = get_count(&r, "busy_us", INT32_MAX, 0);
	it->weight = get_count(&r, "weight", HIVE_WEIGHT_MAX, 1);
	if (!it->weight && !r.error)
		r.error = "a number is out of range";
	return r.error ? r.error : missing_in(it);
}

static void read_all(struct hive_reports *r, const json_t *array)
{
	size_t count = json_array_size(array);

	r->items = rd_xcalloc(count + 1, sizeof *r->items);
	r->index = rd_xcalloc(count + 1, sizeof *r->index);
	r->rejected = rd_xcalloc(count + 1, sizeof *r->rejected);
	for (size_t i = 0; i < count; i++) {
		const char *error = read_report(&r->items[r->count], json_array_get(array, i));

		if (error)
			r->rejected[r->rejected_count++] = (struct hive_rejected){i, error};
		else
			r->index[r->count++] = i;
	}
	RD_ASSERT(r->count + r->rejected_count == count);
}

static int read_head(struct hive_reports *r, struct rd_json_read *j, const json_t *root)
{
	const char *build, *site;

	if (!json_is_object(root))
		return rd_fail(RD_EFORMAT, "reports: not an object");
	if (rd_json_get_number(j, root, "version", UINT32_MAX) != 1 && !j->err)
		return rd_fail(RD_EVERSION, "reports: the version is not 1");
	build = rd_json_get_text(j, root, "build");
	site = rd_json_get_text(j, root, "site");
	if (j->err)
		return j->err;
	if (!hive_is_build(build))
		return rd_fail(RD_EFORMAT, "reports: the build is missing or wrong");
	if (!rd_is_hex(site, HIVE_SITE - 1))
		return rd_fail(RD_EFORMAT, "reports: the site is missing or wrong");
	strcpy(r->build, build);
	strcpy(r->site, site);
	return 0;
}

static int read_reports(struct rd_json_read *j, void *into, const json_t *root)
{
	struct hive_reports *r = into;
	const json_t *array;
	int err = read_head(r, j, root);

	if (err)
		return err;
	array = rd_json_member(j, root, "reports", JSON_ARRAY);
	if (!array || json_array_size(array) > PROTOCOL_BODY_REPORTS)
		return j->err ? j->err
			      : rd_fail(RD_EFORMAT, "reports: no list of at most %d reports",
					PROTOCOL_BODY_REPORTS);
	read_all(r, array);
	return 0;
}

int hive_reports_read(struct hive_reports *r, const char *body, size_t length)
{
	struct rd_json_read j = {.subject = "reports", .name = "body"};

	*r = (struct hive_reports){0};
	return hive_json_read(&j, &(struct hive_body){body, length, HIVE_DEPTH_MAX}, read_reports, r);
}

void hive_reports_reject(struct hive_reports *r, size_t i, const char *error)
{
	RD_ASSERT(i < r->count);
	RD_ASSERT(i == 0 || r->index[i - 1] < r->index[i]); /* indices are in the order of the body */
	r->rejected[r->rejected_count++] = (struct hive_rejected){r->index[i], error};
	r->count--;
	memmove(r->items + i, r->items + i + 1, (r->count - i) * sizeof *r->items);
	memmove(r->index + i, r->index + i + 1, (r->count - i) * sizeof *r->index);
}

void hive_reports_release(struct hive_reports *r)
{
	RD_FREE(r->items, r->index, r->rejected);
	*r = (struct hive_reports){0};
}
