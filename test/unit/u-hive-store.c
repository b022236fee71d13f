// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the store, in SQLite, and of a hive that uses it.  What is added is read back.
 * Reports are stored once, and ranges of them match a slow search.  Rows that another process has
 * damaged are rejected.  Reports from many threads lead to the same verdicts after a restart and in
 * a second hive.
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/scratch.h"
#include "hive/hive.h"
#include "hive/limit-int.h"
#include "hive/request-int.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct fixture {
	char *directory, *path;
	struct hive_db *db;
};

static int open_store(void **state)
{
	struct fixture *f = rd_xcalloc(1, sizeof *f);

	*state = f;
	if (rd_scratch_open(&f->directory, NULL, "raddle-u-hive"))
		return 1;
	f->path = rd_xasprintf("%s/hive.db", f->directory);
	return hive_store_open(&f->db, f->path);
}

static int close_store(void **state)
{
	struct fixture *f = *state;

	hive_db_close(f->db);
	rd_scratch_close(f->directory);
	RD_FREE(f->path, f);
	return 0;
}

/* Makes a program with candidates 1 to `count`. */
static void make(struct hive_program *p, const char *build, unsigned count)
{
	struct rd_buf b = RD_BUF_INIT;

	rd_buf_addf(&b, "{\"version\":1,\"build\":\"%s\",\"name\":\"p %s\",\"candidates\":[", build, build);
	for (unsigned i = 0; i < count; i++)
		rd_buf_addf(&b, "%s{\"id\":\"%016x\",\"rank\":%u,\"object\":\"o%u\",\"accesses\":[{},{}]}",
			    i ? "," : "", i + 1, i + 1, i);
	rd_buf_adds(&b, "],\"unsound\":[\"setjmp\"]}");
	assert_int_equal(hive_program_read(p, b.data, b.length), 0);
	rd_buf_release(&b);
}

static void add(struct hive_db *db, const char *build, unsigned count)
{
	struct hive_program p;

	make(&p, build, count);
	assert_int_equal(hive_store_add(db, &p), 0);
	hive_program_release(&p);
}

static struct hive_row row_of(uint64_t program, unsigned candidate, unsigned site, unsigned run, unsigned seq)
{
	struct hive_row r = {.program = program,
			     .report = {.seq = seq, .result = HIVE_NOT_SEEN, .weight = 1, .received = 1000}};

	snprintf(r.site, sizeof r.site, "%032x", site);
	snprintf(r.report.run, sizeof r.report.run, "%016x", run);
	snprintf(r.report.candidate, sizeof r.report.candidate, "%016x", candidate);
	return r;
}

static size_t load(struct hive_db *db, struct hive_program **programs)
{
	size_t count = 0;

	assert_int_equal(hive_store_programs(db, programs, &count), 0);
	return count;
}

static void unload(struct hive_program *programs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		hive_program_release(&programs[i]);
	free(programs);
}

/* ---- storing programs ---- */

static void programs_come_back(void **state)
{
	struct fixture *f = *state;
	struct hive_program *p, change;
	uint64_t before, after;

	add(f->db, "aaaaaaaa", 3);
	add(f->db, "bbbbbbbb", 1);
	assert_int_equal(hive_store_revision(f->db, &before), 0);
	assert_int_equal(load(f->db, &p), 2);
	assert_string_equal(p[0].build, "aaaaaaaa");
	assert_string_equal(p[0].name, "p aaaaaaaa");
	assert_string_equal(p[0].unsound, "[\"setjmp\"]");
	assert_int_equal(p[0].count, 3);
	assert_string_equal(p[0].candidates[2].id, "0000000000000003");
	assert_string_equal(p[0].candidates[2].object, "o2");
	assert_null(p[0].candidates[2].class_name);
	change = p[1];
	change.state = PROTOCOL_OBSERVE;
	change.rollout = 7;
	change.poll_s = 60;
	assert_int_equal(hive_store_set(f->db, &change), 0);
	assert_int_equal(hive_store_classify(f->db, &(struct hive_class){.program = p[0].number,
									 .candidate = p[0].candidates[1].id,
									 .name = "spec-violated",
									 .consequence = "crash"}),
			 0);
	unload(p, 2);
	assert_int_equal(load(f->db, &p), 2);
	assert_int_equal(p[1].state, PROTOCOL_OBSERVE);
	assert_int_equal(p[1].rollout, 7);
	assert_int_equal(p[1].poll_s, 60);
	assert_string_equal(p[0].candidates[1].class_name, "spec-violated");
	assert_string_equal(p[0].candidates[1].class_consequence, "crash");
	assert_null(p[0].candidates[0].class_name);
	assert_int_equal(hive_store_revision(f->db, &after), 0);
	assert_int_equal(after, before + 2); /* other hives notice each of the two changes */
	unload(p, 2);
}

/* A program that is added again keeps its number and settings, and gets the new candidates. */
static void candidates_are_replaced(void **state)
{
	struct fixture *f = *state;
	struct hive_program *p, change;
	uint64_t number;

	add(f->db, "aaaaaaaa", 3);
	assert_int_equal(load(f->db, &p), 1);
	number = p[0].number;
	change = p[0];
	change.rollout = 9;
	assert_int_equal(hive_store_set(f->db, &change), 0);
	unload(p, 1);
	add(f->db, "aaaaaaaa", 2);
	assert_int_equal(load(f->db, &p), 1);
	assert_int_equal(p[0].number, number);
	assert_int_equal(p[0].count, 2);
	assert_int_equal(p[0].rollout, 9);
	unload(p, 1);
}

/* ---- storing reports ---- */

enum { ROWS = 120, ROWS_MAX = 400 };

struct found {
	uint64_t numbers[ROWS_MAX];
	struct hive_row rows[ROWS_MAX];
	size_t count;
};

static void keep(void *context, const struct hive_row *row)
{
	struct found *f = context;

	assert_true(f->count < ROWS_MAX);
	f->rows[f->count] = *row;
	f->numbers[f->count++] = row->number;
}

static void all_rows(struct hive_db *db, struct found *f)
{
	f->count = 0;
	assert_int_equal(hive_store_each(db, &(struct hive_range){.limit = ROWS_MAX}, keep, f), 0);
}

static void add_random(struct hive_db *db)
{
	struct hive_row rows[ROWS];
	bool is_new[ROWS];

	srand(7);
	for (unsigned i = 0; i < ROWS; i++)
		rows[i] = row_of(1 + (uint64_t)rand() % 3, 1 + (unsigned)rand() % 4, (unsigned)rand() % 5, i,
				 0);
	assert_int_equal(hive_store_report(db, rows, ROWS, is_new), 0);
	for (unsigned i = 0; i < ROWS; i++)
		assert_true(is_new[i]);
}

static void ranges_are_those_of_a_slow_search(void **state)
{
	static struct found all, some;
	struct fixture *f = *state;

	add_random(f->db);
	all_rows(f->db, &all);
	assert_int_equal(all.count, ROWS);
	for (int round = 0; round < 60; round++) {
		struct hive_range range = {.after = (uint64_t)rand() % (ROWS + 10),
					   .program = (uint64_t)rand() % 4,
					   .limit = 1 + (uint64_t)rand() % 40};
		char candidate[HIVE_CANDIDATE];
		size_t n = 0;

		snprintf(candidate, sizeof candidate, "%016x", 1 + (unsigned)rand() % 4);
		range.candidate = range.program && rand() % 2 ? candidate : NULL;
		some.count = 0;
		assert_int_equal(hive_store_each(f->db, &range, keep, &some), 0);
		for (size_t i = 0; i < all.count && n < range.limit; i++) {
			const struct hive_row *r = &all.rows[i];

			if (r->number <= range.after || (range.program && r->program != range.program) ||
			    (range.candidate && strcmp(r->report.candidate, range.candidate) != 0))
				continue;
			assert_true(n < some.count);
			assert_int_equal(some.numbers[n++], r->number);
		}
		assert_int_equal(n, some.count);
	}
}

/* A report is identified by its run, number and site.  If it is sent again, it is not stored
 * again. */
static void reports_are_stored_once(void **state)
{
	static struct found all;
	struct fixture *f = *state;
	struct hive_row rows[] = {row_of(1, 1, 1, 1, 0), row_of(1, 1, 1, 1, 1), row_of(1, 1, 1, 1, 0),
				  row_of(1, 2, 2, 1, 0)};
	bool is_new[4];

	assert_int_equal(hive_store_report(f->db, rows, 4, is_new), 0);
	assert_true(is_new[0] && is_new[1] && !is_new[2] && is_new[3]);
	assert_int_equal(hive_store_report(f->db, rows, 4, is_new), 0);
	assert_false(is_new[0] || is_new[1] || is_new[2] || is_new[3]);
	assert_int_equal(hive_store_report(f->db, rows, 0, NULL), 0);
	all_rows(f->db, &all);
	assert_int_equal(all.count, 3);
}

static void every_member_comes_back(void **state)
{
	static struct found all;
	struct fixture *f = *state;
	struct hive_row row = row_of(3, 5, 7, 9, 11);
	bool is_new;

	row.report.result = HIVE_TIMEOUT;
	row.report.order = HIVE_ALTERNATE;
	row.report.proof = HIVE_COLLISION;
	row.report.consequence = HIVE_HANG;
	row.report.tau_us = HIVE_TAU_MAX_US;
	row.report.tau_capped = true;
	row.report.context = HIVE_MET;
	row.report.signal = 11;
	row.report.pause_us = 12;
	row.report.busy_us = 13;
	row.report.weight = HIVE_WEIGHT_MAX;
	row.report.received = INT64_C(1790000000123);
	assert_int_equal(hive_store_report(f->db, &row, 1, &is_new), 0);
	all_rows(f->db, &all);
	row.number = all.rows[0].number;
	assert_memory_equal(&all.rows[0], &row, sizeof row);
}

/* A result that this Raddle does not know must not be taken for a race. */
static void damaged_rows_are_refused(void **state)
{
	static const char *const updates[] = {
		"UPDATE reports SET result = 99",
		"UPDATE reports SET result = -1",
		"UPDATE reports SET site = 'x'",
		"UPDATE reports SET candidate = '12'",
		"UPDATE reports SET run = 'zzzzzzzzzzzzzzzz'",
	};
	static struct found all;
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof updates / sizeof *updates; i++) {
		struct hive_row row = row_of(1, 1, 1, (unsigned)i, 0);
		bool is_new;

		assert_int_equal(HIVE_RUN(f->db, "DELETE FROM reports"), 0);
		assert_int_equal(hive_store_report(f->db, &row, 1, &is_new), 0);
		all_rows(f->db, &all);
		assert_int_equal(HIVE_RUN(f->db, updates[i]), 0);
		rd_log_set(rd_log_discard, NULL);
		all.count = 0;
		assert_int_equal(hive_store_each(f->db, &(struct hive_range){.limit = ROWS_MAX}, keep, &all),
				 RD_EFORMAT);
		rd_log_set(NULL, NULL);
		assert_int_equal(all.count, 0);
	}
}

static void a_newer_database_is_refused(void **state)
{
	struct fixture *f = *state;
	struct hive_db *db = NULL;
	char *message = NULL;

	assert_int_equal(HIVE_RUN(f->db, "UPDATE meta SET value = '9999' WHERE key = 'schema'"), 0);
	rd_log_set(rd_log_first, &message);
	assert_int_equal(hive_store_open(&db, f->path), RD_EVERSION);
	rd_log_set(NULL, NULL);
	assert_null(db);
	assert_string_equal(message, "hive: the database was written by a newer Raddle (schema 9999)");
	free(message);
}

/* ---- storing tokens and the key ---- */

static void tokens_come_and_go(void **state)
{
	struct fixture *f = *state;
	struct hive_token *tokens;
	size_t count;
	char hash[HIVE_HASH_TEXT], token[HIVE_TOKEN_TEXT];

	assert_int_equal(hive_token_make(token), 0);
	assert_int_equal(strlen(token), HIVE_TOKEN_TEXT - 1);
	hive_hash(token, hash);
	assert_int_equal(hive_store_token_add(f->db, hash, "fleet", HIVE_FLEET), 0);
	hive_hash("other", hash);
	assert_int_equal(hive_store_token_add(f->db, hash, "boss", HIVE_ADMIN), 0);
	assert_int_equal(hive_store_tokens(f->db, &tokens, &count), 0);
	assert_int_equal(count, 2);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(tokens[i].role, strcmp(tokens[i].fleet, "boss") ? HIVE_FLEET : HIVE_ADMIN);
		assert_null(strstr(tokens[i].hash, token)); /* the token itself is not stored */
		free(tokens[i].fleet);
	}
	free(tokens);
	assert_int_equal(hive_store_token_revoke(f->db, "fleet"), 0);
	rd_log_set(rd_log_discard, NULL);
	assert_int_equal(hive_store_token_revoke(f->db, "fleet"), RD_ENOTFOUND);
	rd_log_set(NULL, NULL);
}

static void the_key_is_made_once(void **state)
{
	struct fixture *f = *state;
	char first[PROTOCOL_KEY_TEXT], second[PROTOCOL_KEY_TEXT];

	assert_int_equal(hive_store_key(f->db, first), 0);
	assert_int_equal(hive_store_key(f->db, second), 0);
	assert_string_equal(first, second);
}

/* ---- a hive with this store ---- */

enum { THREADS = 4, BATCHES = 10, REPORTS = 5, CANDIDATES = 6 };

struct sender {
	struct hive *h;
	unsigned number;
	pthread_t thread;
};

struct waiting {
	struct hive_pending pending;
	pthread_mutex_t lock;
	pthread_cond_t stored;
	bool done;
};

static void wake(struct hive_pending *p)
{
	struct waiting *w = p->context;

	pthread_mutex_lock(&w->lock);
	w->done = true;
	pthread_cond_signal(&w->stored);
	pthread_mutex_unlock(&w->lock);
}

/* Makes the reports of one batch.  Some occur twice, and some show a race. */
static void fill(struct hive_pending *p, unsigned site, unsigned batch)
{
	p->reports.items = rd_xcalloc(REPORTS, sizeof *p->reports.items);
	p->reports.count = REPORTS;
	p->is_new = rd_xcalloc(REPORTS, sizeof *p->is_new);
	snprintf(p->reports.site, sizeof p->reports.site, "%032x", site + 1);
	for (unsigned i = 0; i < REPORTS; i++) {
		struct hive_row row = row_of(0, 1 + (site + batch + i) % CANDIDATES, site, batch, i % 4);

		row.report.result = (batch + i) % 7 == 3 ? HIVE_RACE : HIVE_NOT_SEEN;
		row.report.order = row.report.result == HIVE_RACE ? HIVE_PRIMARY : HIVE_NO_ORDER;
		row.report.proof = row.report.result == HIVE_RACE ? HIVE_COLLISION : HIVE_NO_PROOF;
		p->reports.items[i] = row.report;
	}
}

static void *send_all(void *argument)
{
	struct sender *s = argument;

	for (unsigned batch = 0; batch < BATCHES; batch++) {
		struct waiting w = {.lock = PTHREAD_MUTEX_INITIALIZER, .stored = PTHREAD_COND_INITIALIZER};
		size_t fresh = 0;

		fill(&w.pending, s->number, batch);
		w.pending.program = s->h->programs[0]->number;
		w.pending.done = wake;
		w.pending.context = &w;
		assert_int_equal(hive_submit(s->h, &w.pending), 0);
		pthread_mutex_lock(&w.lock);
		while (!w.done)
			pthread_cond_wait(&w.stored, &w.lock);
		pthread_mutex_unlock(&w.lock);
		assert_int_equal(w.pending.err, 0);
		for (unsigned i = 0; i < REPORTS; i++)
			fresh += w.pending.is_new[i];
		assert_int_equal(fresh, 4); /* the fifth has the same number as the first */
		free(w.pending.is_new);
		hive_reports_release(&w.pending.reports);
	}
	return NULL;
}

/* Returns everything that verdicts and tasks depend on, as a text. */
static char *known(struct hive *h)
{
	struct rd_buf b = RD_BUF_INIT;
	const struct hive_program *p = h->programs[0];
	enum hive_reason reason;

	rd_buf_addf(&b, "%zu sites, %llu cost;", p->site_count, (unsigned long long)p->cost_us);
	for (size_t i = 0; i < p->count; i++) {
		const struct hive_tally *t = &p->candidates[i].tally;
		enum hive_verdict v = hive_tally_verdict(t, &reason);

		rd_buf_addf(&b, " %s %s/%s %llu %llu w%u", p->candidates[i].id, hive_verdict_names[v],
			    hive_reason_names[reason], (unsigned long long)t->reports[HIVE_RACE],
			    (unsigned long long)t->reports[HIVE_NOT_SEEN], p->candidates[i].weight);
	}
	return rd_buf_detach(&b);
}

static void reports_of_many_threads(void **state)
{
	static struct found all;
	struct fixture *f = *state;
	struct hive_opts opts = {.db = f->path, .bound_s = 60};
	struct hive *h, *second;
	struct sender senders[THREADS];
	char *one, *other;

	add(f->db, "aaaaaaaa", CANDIDATES);
	assert_int_equal(hive_open(&h, &opts), 0);
	assert_int_equal(hive_open(&second, &opts), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		senders[i] = (struct sender){.h = h, .number = i};
		assert_int_equal(pthread_create(&senders[i].thread, NULL, send_all, &senders[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(senders[i].thread, NULL);
	all_rows(f->db, &all);
	assert_int_equal(all.count, THREADS * BATCHES * 4);
	assert_true(hive_is_well(h));
	one = known(h);
	/* reads what other hives have stored */
	assert_int_equal(hive_change(second, NULL, NULL), 0);
	other = known(second);
	assert_string_equal(one, other);
	free(other);
	hive_close(h);
	hive_close(second);
	assert_int_equal(hive_open(&h, &opts), 0);
	other = known(h);
	assert_string_equal(one, other);
	RD_FREE(one, other);
	hive_close(h);
}

static void a_hive_that_stops_takes_no_reports(void **state)
{
	struct fixture *f = *state;
	struct waiting w = {.lock = PTHREAD_MUTEX_INITIALIZER, .stored = PTHREAD_COND_INITIALIZER};
	struct hive *h;

	add(f->db, "aaaaaaaa", CANDIDATES);
	assert_int_equal(hive_open(&h, &(struct hive_opts){.db = f->path, .bound_s = 60}), 0);
	assert_non_null(hive_find(h, "aaaaaaaa"));
	assert_null(hive_find(h, "aaaaaaab"));
	hive_stop(h);
	assert_false(hive_is_well(h));
	fill(&w.pending, 0, 0);
	w.pending.done = wake;
	w.pending.context = &w;
	rd_log_set(rd_log_discard, NULL);
	assert_int_equal(hive_submit(h, &w.pending), RD_ELIMIT);
	rd_log_set(NULL, NULL);
	assert_false(w.done);
	free(w.pending.is_new);
	hive_reports_release(&w.pending.reports);
	hive_close(h);
}

static int add_admin(struct hive_db *db, const void *hash)
{
	return hive_store_token_add(db, hash, "boss", HIVE_ADMIN);
}

/* Without tokens, an open hive allows everything.  From the first token on, it allows only what
 * tokens allow. */
static void roles(void **state)
{
	struct fixture *f = *state;
	char hash[HIVE_HASH_TEXT];
	struct hive *h;

	for (int open = 0; open < 2; open++) {
		assert_int_equal(
			hive_open(&h, &(struct hive_opts){.db = f->path, .bound_s = 60, .open = open}), 0);
		assert_int_equal(hive_role_of(h, NULL), open ? HIVE_ADMIN : HIVE_NOBODY);
		assert_int_equal(hive_role_of(h, "guess"), open ? HIVE_ADMIN : HIVE_NOBODY);
		hive_hash("secret", hash);
		assert_int_equal(hive_change(h, add_admin, hash), 0);
		assert_int_equal(hive_role_of(h, NULL), HIVE_NOBODY);
		assert_int_equal(hive_role_of(h, "guess"), HIVE_NOBODY);
		assert_int_equal(hive_role_of(h, hash), HIVE_NOBODY); /* the hash is not the token */
		assert_int_equal(hive_role_of(h, "secret"), HIVE_ADMIN);
		hive_close(h);
		assert_int_equal(hive_store_token_revoke(f->db, "boss"), 0);
	}
}

/* ---- limits on requests, and the parts of paths ---- */

static void a_burst_is_two_seconds_of_requests(void **state)
{
	struct hive_limit *l = hive_limit_new(3);
	uint64_t a = hive_limit_key("token", NULL), b = hive_limit_key("other", NULL);
	unsigned allowed = 0;

	(void)state;
	assert_int_not_equal(a, b);
	for (int i = 0; i < 30; i++)
		allowed += !hive_limit_take(l, a);
	assert_in_range(allowed, 6, 12);	    /* at least 6; more if time passes */
	assert_int_equal(hive_limit_take(l, b), 0); /* another key has its own limit */
	hive_limit_free(l);
}

static void paths_have_parts(void **state)
{
	static const struct {
		const char *method, *path, *pattern, *first, *second;
		bool other_method;
	} rows[] = {
		{"GET", "/api/v1/tasks", "/api/v1/tasks", NULL, NULL, false},
		{"HEAD", "/healthz", "/healthz", NULL, NULL, false},
		{"POST", "/api/v1/tasks", NULL, NULL, NULL, true},
		{"DELETE", "/api/v1/programs/ab", NULL, NULL, NULL, true},
		{"PATCH", "/api/v1/programs/ab", "/api/v1/programs/*", "ab", NULL, false},
		{"GET", "/api/v1/races/ab/cd", "/api/v1/races/*/*", "ab", "cd", false},
		{"PUT", "/api/v1/races/ab/cd/class", "/api/v1/races/*/*/class", "ab", "cd", false},
		{"GET", "/api/v1/sketches/ab/cd/page", "/api/v1/sketches/*/*/page", "ab", "cd", false},
		{"GET", "/api/v1/races//cd", NULL, NULL, NULL, false},
		{"GET", "/api/v1/races/ab/cd/", NULL, NULL, NULL, false},
		{"GET", "/api/v1/races/ab", NULL, NULL, NULL, false},
		{"GET", "/", "/", NULL, NULL, false},
		{"GET", "/app.js", "/*", "app.js", NULL, false},
		{"GET", "/a/b", NULL, NULL, NULL, false},
		{"GET", "", NULL, NULL, NULL, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct hive_request r = {.path = rd_xstrdup(rows[i].path)};
		bool other_method;
		const struct hive_route *route = hive_route_find(&r, rows[i].method, &other_method);

		assert_int_equal(route != NULL, rows[i].pattern != NULL);
		if (route) {
			assert_string_equal(route->path, rows[i].pattern);
			assert_int_equal(r.first != NULL, rows[i].first != NULL);
			assert_int_equal(r.second != NULL, rows[i].second != NULL);
			if (r.first)
				assert_string_equal(r.first, rows[i].first);
			if (r.second)
				assert_string_equal(r.second, rows[i].second);
		} else {
			assert_int_equal(other_method, rows[i].other_method);
		}
		free(r.path);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_store, close_store)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(programs_come_back),
		TEST(candidates_are_replaced),
		TEST(ranges_are_those_of_a_slow_search),
		TEST(reports_are_stored_once),
		TEST(every_member_comes_back),
		TEST(damaged_rows_are_refused),
		TEST(a_newer_database_is_refused),
		TEST(tokens_come_and_go),
		TEST(the_key_is_made_once),
		TEST(reports_of_many_threads),
		TEST(a_hive_that_stops_takes_no_reports),
		TEST(roles),
		cmocka_unit_test(a_burst_is_two_seconds_of_requests),
		cmocka_unit_test(paths_have_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
