// SPDX-License-Identifier: Apache-2.0
/* Unit tests of the status of a hive as text, from hand-made documents, and of which build an
 * argument names. */
#include "golden.h"

#include "base/error.h"
#include "hive/client.h"
#include "hive/status-text.h"

#include <stdio.h>

#define BUILD "0123456789abcdef0123456789abcdef01234567"

static char *shown(const char *document, bool all, size_t *found)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(hive_status_text(document, strlen(document), all, out, found), 0);
	fclose(out);
	return text;
}

/* Makes a document with so many unknown and proven races.  The proven ones come last. */
static char *document(unsigned unknown, unsigned proven)
{
	struct rd_buf b = RD_BUF_INIT;
	char *text;

	rd_buf_adds(&b, "{\"version\": 1, \"programs\": [{\"name\": \"server\", \"build\": \"" BUILD
			"\", \"state\": \"validate\", \"candidates\": 7, \"sites\": 3, \"verdicts\": "
			"{\"true-race\": 1, \"likely-false-positive\": 2, \"unknown\": 4}}], \"races\": [");
	for (unsigned i = 0; i < unknown + proven; i++)
		rd_buf_addf(
			&b,
			"%s{\"id\": \"c%u\", \"object\": \"hits\", \"verdict\": \"%s\", \"reason\": \"r\", "
			"\"accesses\": [{\"op\": \"write\", \"file\": \"a.c\", \"line\": 12, \"function\": "
			"\"f\"}], \"reports\": {\"race\": 0, \"no-race\": 1, \"timeout\": 2, \"not-seen\": "
			"3}}",
			i ? "," : "", i, i < unknown ? "unknown" : "true-race");
	rd_buf_adds(&b, "]}");
	text = rd_xstrdup(b.data);
	rd_buf_release(&b);
	return text;
}

static void proven_races_come_first(void **state)
{
	char *in = document(2, 1), *text;
	size_t found;

	(void)state;
	text = shown(in, false, &found);
	assert_int_equal(found, 1);
	assert_memory_equal(
		text, "server (build 0123456789abcdef, validate): 7 candidates, 3 sites; 1 true races", 60);
	assert_true(strstr(text, "c2 hits: true-race (r)") < strstr(text, "c0 hits: unknown (r)"));
	assert_non_null(strstr(text, "    write a.c:12 f()\n"));
	free(in);
	free(text);
}

/* Of the races that are not proven, at most ten are shown.  All proven races are shown. */
static void unproven_races_are_limited(void **state)
{
	char *in = document(25, 12), *few, *all;
	size_t found;

	(void)state;
	few = shown(in, false, &found);
	assert_int_equal(found, 12);
	assert_non_null(strstr(few, "and 15 more: unknown\n"));
	assert_null(strstr(few, "more: true-race"));
	all = shown(in, true, &found);
	assert_null(strstr(all, " more: "));
	assert_true(strlen(all) > strlen(few));
	free(in);
	free(few);
	free(all);
}

static void counts_without_a_stream(void **state)
{
	char *in = document(3, 2);
	size_t found = 0;

	(void)state;
	assert_int_equal(hive_status_text(in, strlen(in), false, NULL, &found), 0);
	assert_int_equal(found, 2);
	free(in);
}

static void refuses_other_texts(void **state)
{
	size_t found = 77;

	(void)state;
	rd_log_set(rd_log_discard, NULL);
	assert_true(hive_status_text("<html>", 6, false, NULL, &found) < 0);
	rd_log_set(NULL, NULL);
	assert_int_equal(found, 77);
}

static void words_for_builds(void **state)
{
	char *build = NULL, *said = NULL;

	(void)state;
	assert_int_equal(hive_client_build(BUILD, &build), 0);
	assert_string_equal(build, BUILD);
	free(build);
	rd_log_set(rd_log_first, &said);
	assert_int_equal(hive_client_build("no-such-server", &build), RD_ENOTFOUND);
	rd_log_set(NULL, NULL);
	assert_string_equal(said, "hive: no-such-server: neither a build nor a program");
	free(said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(proven_races_come_first), cmocka_unit_test(unproven_races_are_limited),
		cmocka_unit_test(counts_without_a_stream), cmocka_unit_test(refuses_other_texts),
		cmocka_unit_test(words_for_builds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
