// SPDX-License-Identifier: Apache-2.0
/*
 * The store in SQL.  A list of migrations creates the tables, in one transaction.  The table
 * `meta` contains the number of migrations that were applied.  The numbers of reports grow in the
 * order of commits, so a reader that has seen report N has seen all reports with smaller numbers.
 */
#include "hive/store-int.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/word.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The migrations.  %s stands for the type of a column that numbers the rows. */
static const char *const migrations[] = {
	"CREATE TABLE programs (number %s, build TEXT NOT NULL UNIQUE, name TEXT NOT NULL, state TEXT NOT "
	"NULL,"
	" rollout INTEGER NOT NULL, poll_s INTEGER NOT NULL, revision BIGINT NOT NULL, added BIGINT NOT NULL,"
	" unsound TEXT NOT NULL)",
	"CREATE TABLE candidates (program BIGINT NOT NULL, id TEXT NOT NULL, rank BIGINT NOT NULL,"
	" object TEXT NOT NULL, accesses TEXT NOT NULL, unguarded TEXT, PRIMARY KEY (program, id))",
	"CREATE TABLE reports (number %s, program BIGINT NOT NULL, candidate TEXT NOT NULL, site TEXT NOT "
	"NULL,"
	" run TEXT NOT NULL, seq BIGINT NOT NULL, result SMALLINT NOT NULL, ordering SMALLINT NOT NULL,"
	" proof SMALLINT NOT NULL, consequence SMALLINT NOT NULL, tau_us INTEGER NOT NULL,"
	" capped SMALLINT NOT NULL, context SMALLINT NOT NULL, signal SMALLINT NOT NULL,"
	" pause_us BIGINT NOT NULL, busy_us BIGINT NOT NULL, weight INTEGER NOT NULL, received BIGINT NOT "
	"NULL,"
	" UNIQUE (run, seq, site))",
	"CREATE INDEX reports_by_candidate ON reports (program, candidate, number)",
	"CREATE TABLE classes (program BIGINT NOT NULL, candidate TEXT NOT NULL, name TEXT NOT NULL,"
	" consequence TEXT, at BIGINT NOT NULL, PRIMARY KEY (program, candidate))",
	"CREATE TABLE tokens (hash TEXT PRIMARY KEY, fleet TEXT NOT NULL, role SMALLINT NOT NULL,"
	" created BIGINT NOT NULL)",
	"CREATE TABLE sketches (program BIGINT NOT NULL, id TEXT NOT NULL, document TEXT NOT NULL,"
	" added BIGINT NOT NULL, PRIMARY KEY (program, id))",
	"CREATE TABLE runs (number %s, program BIGINT NOT NULL, sketch TEXT NOT NULL, site TEXT NOT NULL,"
	" run TEXT NOT NULL, record TEXT NOT NULL, received BIGINT NOT NULL, UNIQUE (run, site))",
};
enum { MIGRATIONS = sizeof migrations / sizeof *migrations };

int64_t hive_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int take_number(void *to, const char *const *values)
{
	*(uint64_t *)to = values[0] ? strtoull(values[0], NULL, 10) : 0;
	return 0;
}

int hive_store_at_once(struct hive_db *db, int (*work)(struct hive_db *db, const void *what),
		       const void *what)
{
	int err = hive_db_begin(db);

	if (err)
		return err;
	err = hive_db_exclude(db);
	if (!err)
		err = work(db, what);
	if (!err)
		err = hive_db_commit(db);
	if (err)
		hive_db_rollback(db);
	return err;
}

static int migrate(struct hive_db *db, const void *unused)
{
	uint64_t done = 0;
	int err = HIVE_RUN(db, "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)");

	(void)unused;
	if (!err)
		err = HIVE_QUERY(db, take_number, &done, "SELECT value FROM meta WHERE key = 'schema'");
	if (!err && done > MIGRATIONS)
		return rd_fail(RD_EVERSION,
			       "hive: the database was written by a newer Raddle (schema %" PRIu64 ")", done);
	for (; done < MIGRATIONS && !err; done++) {
		char *sql = rd_xasprintf(migrations[done], hive_db_serial(db));

		err = HIVE_RUN(db, sql);
		free(sql);
	}
	if (!err)
		err = HIVE_RUN(db,
			       "INSERT INTO meta (key, value) VALUES ('schema', $1)"
			       " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
			       NUMBER(MIGRATIONS));
	return err;
}

int hive_store_open(struct hive_db **db, const char *where)
{
	int err = hive_db_open(db, where);

	if (err)
		return err;
	err = hive_store_at_once(*db, migrate, NULL);
	if (err) {
		hive_db_close(*db);
		*db = NULL;
	}
	return err;
}

static int take_key(void *to, const char *const *values)
{
	snprintf(to, PROTOCOL_KEY_TEXT, "%s", values[0]);
	return 0;
}

int hive_store_key(struct hive_db *db, char secret[PROTOCOL_KEY_TEXT])
{
	int err = protocol_key_make(secret);

	if (!err)
		err = HIVE_RUN(db, "INSERT INTO meta (key, value) VALUES ('key', $1) ON CONFLICT DO NOTHING",
			       secret);
	return err ? err : HIVE_QUERY(db, take_key, secret, "SELECT value FROM meta WHERE key = 'key'");
}

int hive_store_revision(struct hive_db *db, uint64_t *revision)
{
	*revision = 0;
	return HIVE_QUERY(db, take_number, revision, "SELECT value FROM meta WHERE key = 'revision'");
}

static int next_revision(struct hive_db *db, uint64_t *revision)
{
	int err = hive_store_revision(db, revision);

	++*revision;
	return err ? err
		   : HIVE_RUN(db,
			      "INSERT INTO meta (key, value) VALUES ('revision', $1)"
			      " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
			      NUMBER(*revision));
}

static int add_candidates(struct hive_db *db, uint64_t number, const struct hive_program *p)
{
	static const char sql[] = "INSERT INTO candidates (program, id, rank, object, accesses, unguarded)"
				  " VALUES ($1, $2, $3, $4, $5, $6)";
	enum { COLUMNS = 6 };
	const char **values = rd_xcalloc(p->count * COLUMNS + 1, sizeof *values);
	struct hive_number *ranks = rd_xcalloc(p->count + 1, sizeof *ranks), program;
	bool *changed = rd_xcalloc(p->count + 1, sizeof *changed);

	hive_number_write(&program, number);
	for (size_t i = 0; i < p->count; i++) {
		const struct hive_candidate *c = &p->candidates[i];
		const char *row[COLUMNS] = {program.text, c->id,       hive_number_write(&ranks[i], c->rank),
					    c->object,	  c->accesses, c->unguarded};

		memcpy(values + i * COLUMNS, row, sizeof row);
	}
	int err = hive_db_many(db, &(struct hive_statement){sql, values, COLUMNS}, p->count, changed);
	RD_FREE(values, ranks, changed);
	return err;
}

static int add_program(struct hive_db *db, const void *what)
{
	const struct hive_program *p = what;
	uint64_t revision, number = 0;
	int err = next_revision(db, &revision);

	if (!err)
		err = HIVE_RUN(
			db,
			"INSERT INTO programs (build, name, state, rollout, poll_s, revision, added, unsound)"
			" VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (build) DO UPDATE SET"
			" name = excluded.name, revision = excluded.revision, unsound = excluded.unsound",
			p->build, p->name, protocol_mode_names[p->state], NUMBER(p->rollout),
			NUMBER(p->poll_s), NUMBER(revision), NUMBER(hive_now_ms()), p->unsound);
	if (!err)
		err = HIVE_QUERY(db, take_number, &number, "SELECT number FROM programs WHERE build = $1",
				 p->build);
	if (!err)
		err = HIVE_RUN(db, "DELETE FROM candidates WHERE program = $1", NUMBER(number));
	return err ? err : add_candidates(db, number, p);
}

int hive_store_add(struct hive_db *db, const struct hive_program *p)
{
	return hive_store_at_once(db, add_program, p);
}

static int set_program(struct hive_db *db, const void *what)
{
	const struct hive_program *p = what;
	uint64_t revision;
	int err = next_revision(db, &revision);

	return err ? err
		   : HIVE_RUN(db,
			      "UPDATE programs SET state = $1, rollout = $2, poll_s = $3, revision = $4"
			      " WHERE number = $5",
			      protocol_mode_names[p->state], NUMBER(p->rollout), NUMBER(p->poll_s),
			      NUMBER(revision), NUMBER(p->number));
}

int hive_store_set(struct hive_db *db, const struct hive_program *p)
{
	return hive_store_at_once(db, set_program, p);
}

struct change {
	uint64_t program;
	int (*work)(struct hive_db *db, const void *what);
	const void *what;
};

static int change_program(struct hive_db *db, const void *what)
{
	const struct change *c = what;
	uint64_t revision;
	int err = next_revision(db, &revision);

	if (!err)
		err = HIVE_RUN(db, "UPDATE programs SET revision = $1 WHERE number = $2", NUMBER(revision),
			       NUMBER(c->program));
	return err ? err : c->work(db, c->what);
}

int hive_store_change(struct hive_db *db, uint64_t program, int (*work)(struct hive_db *db, const void *what),
		      const void *what)
{
	return hive_store_at_once(db, change_program, &(struct change){program, work, what});
}

static int add_class(struct hive_db *db, const void *what)
{
	const struct hive_class *c = what;

	return HIVE_RUN(db,
			"INSERT INTO classes (program, candidate, name, consequence, at)"
			" VALUES ($1, $2, $3, $4, $5) ON CONFLICT (program, candidate) DO UPDATE SET"
			" name = excluded.name, consequence = excluded.consequence, at = excluded.at",
			NUMBER(c->program), c->candidate, c->name, c->consequence, NUMBER(hive_now_ms()));
}

int hive_store_classify(struct hive_db *db, const struct hive_class *c)
{
	return hive_store_change(db, c->program, add_class, c);
}

/* Programs that are being read. */
struct loading {
	struct hive_program *items;
	size_t count, capacity;
	size_t room; /* the capacity of the last program's array of candidates */
};

static int take_program(void *context, const char *const *v)
{
	struct loading *l = context;
	int state = rd_word_find(protocol_mode_names, PROTOCOL_MODES, v[3]);

	if (!hive_is_build(v[1]) || state < 0)
		return rd_fail(RD_EFORMAT,
			       "hive: the database is damaged: program %s has an invalid build or state",
			       v[0]);
	RD_GROW(l->items, l->capacity, l->count + 1);
	struct hive_program *p = &l->items[l->count++];
	*p = (struct hive_program){.number = strtoull(v[0], NULL, 10),
				   .name = rd_xstrdup(v[2]),
				   .state = (enum protocol_mode)state,
				   .rollout = (uint32_t)strtoul(v[4], NULL, 10),
				   .poll_s = (uint32_t)strtoul(v[5], NULL, 10),
				   .revision = strtoull(v[6], NULL, 10),
				   .added = strtoll(v[7], NULL, 10),
				   .unsound = rd_xstrdup(v[8])};
	strcpy(p->build, v[1]);
	return 0;
}

static char *copy(const char *text)
{
	return text ? rd_xstrdup(text) : NULL;
}

static int take_candidate(void *context, const char *const *v)
{
	struct loading *l = context;
	struct hive_program *p = &l->items[l->count - 1];

	RD_ASSERT(l->count == 1);
	if (!rd_is_hex(v[0], HIVE_CANDIDATE - 1))
		return rd_fail(RD_EFORMAT, "hive: the database is damaged: a candidate has the invalid ID %s",
			       v[0]);
	RD_GROW(p->candidates, l->room, p->count + 1);
	struct hive_candidate *c = &p->candidates[p->count++];
	*c = (struct hive_candidate){.rank = (uint32_t)strtoul(v[1], NULL, 10),
				     .object = rd_xstrdup(v[2]),
				     .accesses = rd_xstrdup(v[3]),
				     .unguarded = copy(v[4]),
				     .class_name = copy(v[5]),
				     .class_consequence = copy(v[6])};
	strcpy(c->id, v[0]);
	return 0;
}

static int load_candidates(struct hive_db *db, struct hive_program *p)
{
	struct loading one = {.items = p, .count = 1};

	return HIVE_QUERY(
		db, take_candidate, &one,
		"SELECT c.id, c.rank, c.object, c.accesses, c.unguarded, k.name, k.consequence"
		" FROM candidates c LEFT JOIN classes k ON k.program = c.program AND k.candidate = c.id"
		" WHERE c.program = $1 ORDER BY c.rank, c.id",
		NUMBER(p->number));
}

int hive_store_programs(struct hive_db *db, struct hive_program **programs, size_t *count)
{
	struct loading l = {0};
	int err = HIVE_QUERY(db, take_program, &l,
			     "SELECT number, build, name, state, rollout, poll_s, revision, added, unsound"
			     " FROM programs ORDER BY number");

	for (size_t i = 0; i < l.count && !err; i++) {
		err = load_candidates(db, &l.items[i]);
		if (!err)
			err = hive_store_load_sketches(db, &l.items[i]);
		if (!err)
			hive_program_index(&l.items[i]);
	}
	if (err) {
		for (size_t i = 0; i < l.count; i++)
			hive_program_release(&l.items[i]);
		free(l.items);
		return err;
	}
	*programs = l.items;
	*count = l.count;
	return 0;
}

/* The number of columns of a report that follow its number, and how many of them contain
 * numbers. */
enum { REPORT_COLUMNS = 17, REPORT_NUMBERS = 13 };
#define REPORT_NAMES                                                                                         \
	"program, candidate, site, run, seq, result, ordering, proof, consequence, tau_us, capped, context," \
	" signal, pause_us, busy_us, weight, received"

static void write_row(const struct hive_row *row, struct hive_number *n, const char **values)
{
	const struct hive_report *r = &row->report;
	const char *const texts[] = {r->candidate, row->site, r->run};
	const uint64_t numbers[] = {r->seq,
				    r->result,
				    r->order,
				    r->proof,
				    r->consequence,
				    r->tau_us,
				    r->tau_capped,
				    r->context,
				    r->signal,
				    r->pause_us,
				    r->busy_us,
				    r->weight,
				    (uint64_t)r->received};
	enum { TEXTS = sizeof texts / sizeof *texts, NUMBERS = sizeof numbers / sizeof *numbers };

	_Static_assert(1 + TEXTS + NUMBERS == REPORT_COLUMNS, "a column for each name in REPORT_NAMES");
	values[0] = hive_number_write(n, row->program);
	memcpy(values + 1, texts, sizeof texts);
	for (size_t i = 0; i < NUMBERS; i++)
		values[1 + TEXTS + i] = hive_number_write(n + 1 + i, numbers[i]);
}

struct adding {
	const struct hive_row *rows;
	size_t count;
	bool *is_new;
};

static int add_reports(struct hive_db *db, const void *what)
{
	static const char sql[] =
		"INSERT INTO reports (" REPORT_NAMES ") VALUES"
		" ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)"
		" ON CONFLICT DO NOTHING";
	const struct adding *a = what;
	RD_ASSERT(a->count > 0 && a->is_new);
	const char **values = rd_xcalloc(a->count * REPORT_COLUMNS, sizeof *values);
	struct hive_number *numbers = rd_xcalloc(a->count * (REPORT_NUMBERS + 1), sizeof *numbers);

	for (size_t i = 0; i < a->count; i++)
		write_row(&a->rows[i], numbers + i * (REPORT_NUMBERS + 1), values + i * REPORT_COLUMNS);
	int err =
		hive_db_many(db, &(struct hive_statement){sql, values, REPORT_COLUMNS}, a->count, a->is_new);
	RD_FREE(values, numbers);
	return err;
}

int hive_store_report(struct hive_db *db, const struct hive_row *rows, size_t count, bool *is_new)
{
	return count ? hive_store_at_once(db, add_reports, &(struct adding){rows, count, is_new}) : 0;
}

struct row_reader {
	hive_each_fn *each;
	void *context;
};

static uint32_t column(const char *text, uint32_t limit)
{
	unsigned long n = strtoul(text, NULL, 10);

	return n < limit ? (uint32_t)n : 0;
}

/* Passes a row on to the caller.  Another process may have written it, so it is checked like a
 * report from a site.  A result that is out of range must not become 0, because 0 means a race. */
static int give_row(void *context, const char *const *v)
{
	const struct row_reader *g = context;
	struct hive_row row = {.number = strtoull(v[0], NULL, 10), .program = strtoull(v[1], NULL, 10)};
	struct hive_report *r = &row.report;

	if (!rd_is_hex(v[2], HIVE_CANDIDATE - 1) || !rd_is_hex(v[3], HIVE_SITE - 1) ||
	    !rd_is_hex(v[4], HIVE_RUN_ID - 1) || strtoul(v[6], NULL, 10) >= HIVE_RESULTS)
		return rd_fail(RD_EFORMAT,
			       "hive: the database is damaged: report %s has an invalid candidate, site, run"
			       " or result",
			       v[0]);
	strcpy(r->candidate, v[2]);
	strcpy(row.site, v[3]);
	strcpy(r->run, v[4]);
	r->seq = column(v[5], UINT32_MAX);
	r->result = (enum hive_result)column(v[6], HIVE_RESULTS);
	r->order = (enum hive_order)column(v[7], HIVE_ORDERS);
	r->proof = (enum hive_proof)column(v[8], HIVE_PROOFS);
	r->consequence = (enum hive_consequence)column(v[9], HIVE_CONSEQUENCES);
	r->tau_us = column(v[10], UINT32_MAX);
	r->tau_capped = column(v[11], 2);
	r->context = column(v[12], HIVE_MET + 1);
	r->signal = column(v[13], 65);
	r->pause_us = column(v[14], UINT32_MAX);
	r->busy_us = column(v[15], UINT32_MAX);
	r->weight = column(v[16], HIVE_WEIGHT_MAX + 1);
	r->received = strtoll(v[17], NULL, 10);
	g->each(g->context, &row);
	return 0;
}

int hive_store_each(struct hive_db *db, const struct hive_range *range, hive_each_fn *each, void *context)
{
	struct row_reader g = {each, context};

	RD_ASSERT(each && range->limit > 0 && (!range->candidate || range->program));
	if (range->candidate)
		return HIVE_QUERY(
			db, give_row, &g,
			"SELECT number, " REPORT_NAMES " FROM reports WHERE program = $1 AND candidate = $2"
			" AND number > $3 ORDER BY number LIMIT $4",
			NUMBER(range->program), range->candidate, NUMBER(range->after), NUMBER(range->limit));
	if (range->program)
		return HIVE_QUERY(db, give_row, &g,
				  "SELECT number, " REPORT_NAMES
				  " FROM reports WHERE program = $1 AND number > $2"
				  " ORDER BY number LIMIT $3",
				  NUMBER(range->program), NUMBER(range->after), NUMBER(range->limit));
	return HIVE_QUERY(db, give_row, &g,
			  "SELECT number, " REPORT_NAMES
			  " FROM reports WHERE number > $1 ORDER BY number LIMIT $2",
			  NUMBER(range->after), NUMBER(range->limit));
}

struct tokens {
	struct hive_token *items;
	size_t count, capacity;
};

static int take_token(void *context, const char *const *v)
{
	struct tokens *t = context;

	RD_GROW(t->items, t->capacity, t->count + 1);
	struct hive_token *it = &t->items[t->count++];
	snprintf(it->hash, sizeof it->hash, "%s", v[0]);
	it->fleet = rd_xstrdup(v[1]);
	it->role = column(v[2], HIVE_ADMIN + 1);
	return 0;
}

int hive_store_tokens(struct hive_db *db, struct hive_token **tokens, size_t *count)
{
	struct tokens t = {0};
	int err = HIVE_QUERY(db, take_token, &t, "SELECT hash, fleet, role FROM tokens ORDER BY hash");

	*tokens = t.items;
	*count = t.count;
	return err;
}

struct new_token {
	const char *hash, *fleet;
	enum hive_role role;
};

static int add_token(struct hive_db *db, const void *what)
{
	const struct new_token *t = what;
	uint64_t revision;
	int err = next_revision(db, &revision);

	return err ? err
		   : HIVE_RUN(db, "INSERT INTO tokens (hash, fleet, role, created) VALUES ($1, $2, $3, $4)",
			      t->hash, t->fleet, NUMBER(t->role), NUMBER(hive_now_ms()));
}

int hive_store_token_add(struct hive_db *db, const char *hash, const char *fleet, enum hive_role role)
{
	return hive_store_at_once(db, add_token, &(struct new_token){hash, fleet, role});
}

static int end_tokens(struct hive_db *db, const void *fleet)
{
	uint64_t revision, count = 0;
	int err = HIVE_QUERY(db, take_number, &count, "SELECT count(*) FROM tokens WHERE fleet = $1", fleet);

	if (!err && !count)
		return rd_fail(RD_ENOTFOUND, "hive: there is no token '%s'", (const char *)fleet);
	if (!err)
		err = HIVE_RUN(db, "DELETE FROM tokens WHERE fleet = $1", fleet);
	return err ? err : next_revision(db, &revision);
}

int hive_store_token_revoke(struct hive_db *db, const char *fleet)
{
	return hive_store_at_once(db, end_tokens, fleet);
}
