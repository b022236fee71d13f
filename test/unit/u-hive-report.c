// SPDX-License-Identifier: Apache-2.0
/* Unit tests of hive/report.h and hive/limit-int.h: what sites may send, and how often. */
#include "base/word.h"
#include "hive/limit-int.h"
#include "hive/report.h"

#include "base/error.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define BUILD "0123456789abcdef0123456789abcdef01234567"
#define SITE "00112233445566778899aabbccddeeff"
#define RUN "0011223344556677"
#define CANDIDATE "8899aabbccddeeff"

/* Reads a request body with these reports. */
static int read_reports(struct hive_reports *r, const char *reports)
{
	char body[4096];
	int n = snprintf(body, sizeof body,
			 "{\"version\":1,\"build\":\"%s\",\"site\":\"%s\",\"reports\":[%s]}", BUILD, SITE,
			 reports);

	assert_true(n > 0 && (size_t)n < sizeof body);
	return hive_reports_read(r, body, (size_t)n);
}

static void a_race_is_read(void **state)
{
	struct hive_reports r;

	(void)state;
	assert_int_equal(
		read_reports(&r, "{\"run\":\"" RUN "\",\"seq\":1,\"candidate\":\"" CANDIDATE
				 "\",\"result\":\"race\",\"order\":\"primary\",\"proof\":\"collision\"}"),
		0);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.rejected_count, 0);
	assert_string_equal(r.build, BUILD);
	assert_string_equal(r.items[0].candidate, CANDIDATE);
	assert_int_equal(r.items[0].result, HIVE_RACE);
	hive_reports_release(&r);
}

/* A report that lacks something is rejected alone, with its index.  The other reports are
 * accepted. */
static void incomplete_reports_are_rejected(void **state)
{
	struct hive_reports r;

	(void)state;
	assert_int_equal(read_reports(&r, "{\"run\":\"" RUN "\",\"seq\":1,\"candidate\":\"" CANDIDATE
					  "\",\"result\":\"race\",\"order\":\"primary\"},"
					  "{\"run\":\"" RUN "\",\"seq\":2,\"candidate\":\"" CANDIDATE
					  "\",\"result\":\"not-seen\"},"
					  "{\"run\":\"xyz\",\"seq\":3,\"candidate\":\"" CANDIDATE
					  "\",\"result\":\"not-seen\"}, 7"),
			 0);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.index[0], 1);
	assert_int_equal(r.rejected_count, 3);
	assert_int_equal(r.rejected[0].index, 0);
	assert_string_equal(r.rejected[0].error, "the proof is missing");
	hive_reports_release(&r);
}

/* If two threads met, both accesses were executed at one address, even if the site does not say
 * so. */
static void contexts_are_completed(void **state)
{
	struct hive_reports r;

	(void)state;
	assert_int_equal(read_reports(&r, "{\"run\":\"" RUN "\",\"seq\":1,\"candidate\":\"" CANDIDATE
					  "\",\"result\":\"context\",\"context\":{\"two_threads\":true}}"),
			 0);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.items[0].context, HIVE_MET);
	hive_reports_release(&r);
}

static void other_documents_are_errors(void **state)
{
	static const char *const bodies[] = {
		"", "[]", "{}", "{\"version\":1,\"build\":\"x\",\"site\":\"" SITE "\",\"reports\":[]}",
		"[[[[[[[[[[[[]]]]]]]]]]]]"};
	struct hive_reports r;

	(void)state;
	rd_log_set(rd_log_discard, NULL);
	for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
		assert_true(hive_reports_read(&r, bodies[i], strlen(bodies[i])) < 0);
		hive_reports_release(&r);
	}
	rd_log_set(NULL, NULL);
}

static void depth_is_counted_outside_of_strings(void **state)
{
	(void)state;
	assert_true(hive_json_is_shallow("[[]]", 4, 2));
	assert_false(hive_json_is_shallow("[[]]", 4, 1));
	assert_true(hive_json_is_shallow("[\"[[\\\"[\"]", 9, 1));
}

static void names_are_found(void **state)
{
	(void)state;
	assert_int_equal(rd_word_find(hive_result_names, HIVE_RESULTS, "race"), HIVE_RACE);
	assert_int_equal(rd_word_find(hive_result_names, HIVE_RESULTS, "rac"), -1);
	for (int i = 0; i < HIVE_RESULTS; i++)
		if (hive_result_names[i])
			assert_int_equal(rd_word_find(hive_result_names, HIVE_RESULTS, hive_result_names[i]),
					 i);
}

/* ---- limits on the rate of requests ---- */

static void keys_are_tokens_or_addresses(void **state)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {1}, .sin_port = 1}, b = a, c = a;

	(void)state;
	b.sin_port = 2;
	c.sin_addr.s_addr = 2;
	assert_int_equal(hive_limit_key("t", (struct sockaddr *)&a),
			 hive_limit_key("t", (struct sockaddr *)&c));
	assert_int_equal(hive_limit_key(NULL, (struct sockaddr *)&a),
			 hive_limit_key(NULL, (struct sockaddr *)&b));
	assert_int_not_equal(hive_limit_key(NULL, (struct sockaddr *)&a),
			     hive_limit_key(NULL, (struct sockaddr *)&c));
	assert_int_equal(hive_limit_key(NULL, NULL), 0);
}

/* At the lowest rate, a key is limited after a burst of requests.  Other keys are not. */
static void a_burst_is_limited(void **state)
{
	struct hive_limit *l = hive_limit_new(1);
	unsigned allowed = 0;

	(void)state;
	while (allowed < 1000 && hive_limit_take(l, 7) == 0)
		allowed++;
	assert_in_range(allowed, 1, 100);
	assert_int_equal(hive_limit_take(l, 8), 0);
	hive_limit_free(l);
	hive_limit_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_race_is_read),
		cmocka_unit_test(incomplete_reports_are_rejected),
		cmocka_unit_test(contexts_are_completed),
		cmocka_unit_test(other_documents_are_errors),
		cmocka_unit_test(depth_is_counted_outside_of_strings),
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(keys_are_tokens_or_addresses),
		cmocka_unit_test(a_burst_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
