// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of what a site keeps between runs, with files that are missing, damaged or full.  Also
 * tests reports in the shared memory, some of which a buggy program has overwritten.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scratch.h"
#include "site/session-int.h"
#include "site/state-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char build[] = "0123456789abcdef", url[] = "http://127.0.0.1:8787";

struct fixture {
	char *directory;
	struct site_state state;
};

static int open_state(void **state)
{
	struct fixture *f = rd_xcalloc(1, sizeof *f);

	*state = f;
	return rd_scratch_open(&f->directory, NULL, "raddle-u-site") ||
	       site_state_open(&f->state, f->directory, url, build);
}

static int close_state(void **state)
{
	struct fixture *f = *state;

	site_state_release(&f->state);
	rd_scratch_close(f->directory);
	free(f);
	return 0;
}

/* Opens the state of the same site in its next run. */
static struct site_state again(const struct fixture *f, const char *hive, const char *program)
{
	struct site_state s;

	assert_int_equal(site_state_open(&s, f->directory, hive, program), RD_OK);
	return s;
}

static char *file_of(const struct fixture *f, const char *what, bool of_build)
{
	return rd_xasprintf("%s/%s-%s%s%s", f->directory, what, f->state.hive, of_build ? "-" : "",
			    of_build ? build : "");
}

static void overwrite(const struct fixture *f, const char *what, bool of_build, const char *text,
		      size_t length)
{
	char *path = file_of(f, what, of_build);

	assert_int_equal(rd_file_write(path, text, length), RD_OK);
	free(path);
}

/* ---- the id and the key of a site ---- */

static void the_id_stays_for_a_month(void **state)
{
	struct fixture *f = *state;
	struct site_state s = again(f, "http://other", "fedcba9876543210");
	char *path = rd_xasprintf("%s/site", f->directory), *old;

	assert_int_equal(strlen(s.site), 32);
	/* the id is the same for all hives and programs */
	assert_string_equal(s.site, f->state.site);
	assert_string_not_equal(s.hive, f->state.hive);
	site_state_release(&s);
	old = rd_xasprintf("%s 1999-12\n", f->state.site);
	assert_int_equal(rd_file_write(path, old, strlen(old)), RD_OK);
	s = again(f, url, build);
	assert_string_not_equal(s.site, f->state.site);
	site_state_release(&s);
	assert_int_equal(rd_file_write(path, "not an id\n", 10), RD_OK);
	s = again(f, url, build);
	assert_int_equal(strspn(s.site, "0123456789abcdef"), 32);
	site_state_release(&s);
	RD_FREE(path, old);
}

static void the_key_is_kept_if_it_is_one(void **state)
{
	struct fixture *f = *state;
	char key[PROTOCOL_KEY_TEXT], kept[PROTOCOL_KEY_TEXT];

	assert_false(site_state_key(&f->state, key));
	memset(kept, 'a', sizeof kept - 1);
	kept[sizeof kept - 1] = '\0';
	site_state_keep_key(&f->state, kept);
	assert_true(site_state_key(&f->state, key));
	assert_string_equal(key, kept);
	overwrite(f, "key", false, "abc\n", 4);
	assert_false(site_state_key(&f->state, key));
	kept[3] = 'x';
	site_state_keep_key(&f->state, kept);
	assert_false(site_state_key(&f->state, key));
}

/* ---- tasks that are kept between runs ---- */

static void task_sets_come_back_byte_for_byte(void **state)
{
	struct fixture *f = *state;
	struct rd_buf body = RD_BUF_INIT, back = RD_BUF_INIT;
	char signature[128], etag[128];
	struct site_state other = again(f, url, "fedcba9876543210");

	assert_false(site_state_set(&f->state, signature, etag, &back));
	assert_int_equal(site_state_set_age(&f->state), UINT64_MAX);
	rd_buf_add(&body, "{\"a\":\n\0\n}\n", 10);
	site_state_keep_set(&f->state, "signed", "\"tag\"", &body);
	assert_true(site_state_set(&f->state, signature, etag, &back));
	assert_string_equal(signature, "signed");
	assert_string_equal(etag, "\"tag\"");
	assert_int_equal(back.length, body.length);
	assert_memory_equal(back.data, body.data, body.length);
	assert_true(site_state_set_age(&f->state) < 3600);
	/* the set belongs to another program */
	assert_false(site_state_set(&other, signature, etag, &back));
	site_state_release(&other);
	overwrite(f, "tasks", true, "signed", 6); /* the file is cut off */
	assert_false(site_state_set(&f->state, signature, etag, &back));
	rd_buf_release(&body);
	rd_buf_release(&back);
}

static void memory_of_the_latest_task(void **state)
{
	struct fixture *f = *state;
	struct site_memory m;

	site_state_memory(&f->state, &m);
	assert_string_equal(m.task, "");
	for (int i = 0; i < 4; i++) {
		struct site_memory kept = {.task = "00ff.pv0.1", .steered = i & 1, .settled = i & 2};

		site_state_keep_memory(&f->state, &kept);
		site_state_memory(&f->state, &m);
		assert_string_equal(m.task, "00ff.pv0.1");
		assert_int_equal(m.steered, kept.steered);
		assert_int_equal(m.settled, kept.settled);
	}
	overwrite(f, "held", true, "00ff.pv0.1\nsrsrsrsrsrsrs\n", 25); /* invalid flags */
	site_state_memory(&f->state, &m);
	assert_string_equal(m.task, "");
	assert_false(m.steered || m.settled);
}

/* ---- the spool of reports, and the limit on sending ---- */

static char *unspooled(const struct fixture *f)
{
	struct rd_buf lines = RD_BUF_INIT;

	site_state_unspool(&f->state, &lines);
	return rd_buf_detach(&lines);
}

static void spool(const struct fixture *f, const char *text)
{
	struct rd_buf lines = RD_BUF_INIT;

	rd_buf_adds(&lines, text);
	site_state_spool(&f->state, &lines);
	rd_buf_release(&lines);
}

static void spooled_lines_come_back_once(void **state)
{
	struct fixture *f = *state;
	char *text;

	spool(f, "{\"a\":1}\n");
	spool(f, "{\"a\":2}\n{\"a\":3}\n");
	text = unspooled(f);
	assert_string_equal(text, "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n");
	free(text);
	text = unspooled(f);
	assert_true(!text || !*text);
	free(text);
}

/* After a crash of the machine, complete lines are kept, and the rest is dropped. */
static void damaged_spools_keep_their_whole_lines(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		const char *kept;
	} rows[] = {
		{"\0\0\0\0", 4, ""},
		{"\0\0\n{\"a\":1}\n", 11, "{\"a\":1}\n"},
		{"{\"a\":1}\n{\"a\":", 13, "{\"a\":1}\n"}, /* the last line is incomplete */
		{"{\"a\":{\"a\":1}\n{\"a\":2}\n", 21,
		 "{\"a\":{\"a\":1}\n{\"a\":2}\n"}, /* the hive refuses the first line */
		{"{\"a\":1}\n{\0}\n\n{\"a\":2}\n", 21, "{\"a\":1}\n{\"a\":2}\n"},
		{"noise\n{\"a\":1}\n}\n{\n", 18, "{\"a\":1}\n"},
		{"", 0, ""},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *text;

		overwrite(*state, "spool", true, rows[i].bytes, rows[i].length);
		text = unspooled(*state);
		assert_string_equal(text ? text : "", rows[i].kept);
		free(text);
	}
}

/* When the spool is full, new lines are dropped, and old lines stay. */
static void a_full_spool_takes_no_more(void **state)
{
	struct fixture *f = *state;
	struct rd_buf lines = RD_BUF_INIT;
	char *text;

	rd_buf_adds(&lines, "{\"a\":\"");
	while (lines.length < SITE_SPOOL_MAX - 20)
		rd_buf_addc(&lines, 'x');
	rd_buf_adds(&lines, "\"}\n");
	site_state_spool(&f->state, &lines);
	spool(f, "{\"much\":\"too long for it\"}\n");
	text = unspooled(f);
	assert_string_equal(text, lines.data);
	free(text);
	rd_buf_release(&lines);
}

static void a_day_has_a_limit(void **state)
{
	struct fixture *f = *state;

	assert_false(site_state_may_send(&f->state, SITE_UPLOAD_MAX + 1));
	assert_true(site_state_may_send(&f->state, SITE_UPLOAD_MAX - 10));
	assert_false(site_state_may_send(&f->state, 11));
	assert_true(site_state_may_send(&f->state, 10)); /* the refused request does not count */
	assert_false(site_state_may_send(&f->state, 1));
	overwrite(f, "sent", false, "1 1048576\n", 10); /* the date of another day */
	assert_true(site_state_may_send(&f->state, 1));
	overwrite(f, "sent", false, "nonsense\n", 9);
	assert_true(site_state_may_send(&f->state, 1));
}

/* A number that is too large must not overflow to a small one. */
static void a_wrong_count_is_no_allowance(void **state)
{
	struct fixture *f = *state;
	char *today = file_of(f, "sent", false), *text;
	struct rd_buf b = RD_BUF_INIT;

	assert_true(site_state_may_send(&f->state, 1));
	assert_int_equal(rd_file_read(today, &b), RD_OK);
	text = rd_xasprintf("%.*s 18446744073709551615\n", (int)strcspn(b.data, " "), b.data);
	overwrite(f, "sent", false, text, strlen(text));
	assert_false(site_state_may_send(&f->state, 2));
	RD_FREE(today, text);
	rd_buf_release(&b);
}

/* ---- reports and regions in the shared memory ---- */

static void make_table(struct guard_table *t)
{
	static const char table[] = RADDLE_GUARD_TITLE
		"0123456789abcdef\na 1\na 2\na 3\nc 00000000000000aa 0 1\nc 00000000000000bb 1 1\n";
	static const char regions[] = "0 5\n1 5\n1 6\n2 7\n";

	assert_int_equal(
		guard_table_parse(t, &(struct guard_text){table, regions, strlen(table), strlen(regions)},
				  "test"),
		RD_OK);
}

static void report(struct site_session *s, uint32_t at, uint32_t generation, uint32_t result)
{
	struct raddle_guard_report *r = &s->shared->reports[at % RADDLE_GUARD_REPORTS];

	r->generation = generation;
	r->result = result;
	r->order = RADDLE_GUARD_PRIMARY;
	r->proof = 0;
	atomic_store(&r->ready, 1);
}

/* A bad report is skipped, and those after it are read. */
static void bad_reports_hide_no_good_ones(void **state)
{
	struct guard_table t;
	struct site_session s;
	struct raddle_guard_report r;

	(void)state;
	make_table(&t);
	assert_int_equal(site_session_open(&s, &t), RD_OK);
	assert_false(site_session_report(&s, &r));
	report(&s, 0, 1, RADDLE_GUARD_RACE);
	report(&s, 1, 2, 99);
	report(&s, 2, 3, 0);
	report(&s, 3, 4, RADDLE_GUARD_RACE);
	s.shared->reports[3].order = 7;
	report(&s, 4, 5, RADDLE_GUARD_TIMEOUT);
	assert_true(site_session_report(&s, &r));
	assert_int_equal(r.generation, 1);
	assert_true(site_session_report(&s, &r));
	assert_int_equal(r.generation, 5);
	assert_int_equal(r.result, RADDLE_GUARD_TIMEOUT);
	assert_false(site_session_report(&s, &r));
	for (uint32_t i = 0; i < RADDLE_GUARD_REPORTS; i++)
		report(&s, i, i + 1, i % 2 ? RADDLE_GUARD_NO_RACE : 99);
	for (uint32_t i = 0; i < RADDLE_GUARD_REPORTS / 2; i++)
		assert_true(site_session_report(&s, &r));
	assert_false(site_session_report(&s, &r)); /* all reports were taken */
	site_session_close(&s);
	guard_table_release(&t);
}

/* Regions are enabled exactly if one of their guards has a flag, by a slow check of all guards. */
static void check_regions(const struct site_session *s, const struct guard_table *t)
{
	for (uint32_t region = 0; region < RADDLE_GUARDS; region++) {
		bool wanted = false;

		for (uint32_t g = 0; g < t->guards; g++)
			for (uint32_t i = t->first[g]; i < t->first[g + 1]; i++)
				wanted |= t->regions[i] == region && s->flags[g] != 0;
		assert_int_equal(s->regions[region], wanted);
	}
}

static void regions_follow_their_guards(void **state)
{
	struct guard_table t;
	struct site_session s;
	uint32_t generation;

	(void)state;
	make_table(&t);
	assert_int_equal(site_session_open(&s, &t), RD_OK);
	check_regions(&s, &t);
	site_session_observe(&s, 8);
	check_regions(&s, &t);
	assert_int_equal(s.left[0], 8);
	assert_int_equal(s.flags[2], 0); /* no candidate has this guard */
	site_session_quiet(&s);
	check_regions(&s, &t);
	generation = site_session_give(&s, &(struct site_order){.candidate = 1, .tau_us = 10});
	assert_true(generation != 0);
	assert_non_null(site_session_task(&s, generation));
	assert_null(site_session_task(&s, generation + 1));
	assert_null(site_session_task(&s, 0));
	check_regions(&s, &t);
	site_session_rest(&s);
	assert_int_equal(s.regions[5], 0);
	site_session_settle(&s);
	assert_int_equal(s.regions[5], 0); /* settling enables no region */
	site_session_wake(&s, 100);
	check_regions(&s, &t);
	assert_int_equal(s.regions[6], 1);
	assert_false(site_session_is_busy(&s));
	atomic_store(&site_session_task(&s, generation)->active, 1);
	assert_true(site_session_is_busy(&s));
	for (uint32_t i = 1; i < RADDLE_GUARD_TASKS; i++)
		assert_true(site_session_give(&s, &(struct site_order){.candidate = 0}) != 0);
	/* there is no room for more tasks */
	assert_int_equal(site_session_give(&s, &(struct site_order){.candidate = 0}), 0);
	site_session_quiet(&s);
	assert_null(site_session_task(&s, generation));
	site_session_close(&s);
	guard_table_release(&t);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_state, close_state)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_id_stays_for_a_month),
		TEST(the_key_is_kept_if_it_is_one),
		TEST(task_sets_come_back_byte_for_byte),
		TEST(memory_of_the_latest_task),
		TEST(spooled_lines_come_back_once),
		TEST(damaged_spools_keep_their_whole_lines),
		TEST(a_full_spool_takes_no_more),
		TEST(a_day_has_a_limit),
		TEST(a_wrong_count_is_no_allowance),
		cmocka_unit_test(bad_reports_hide_no_good_ones),
		cmocka_unit_test(regions_follow_their_guards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
