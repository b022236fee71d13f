// SPDX-License-Identifier: Apache-2.0
/* The part of the store for failure sketches: their plans, and the records of tracked runs.
 * Records are added, but never changed or removed. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/hex.h"
#include "hive/store-int.h"

#include <stdlib.h>
#include <string.h>

struct new_sketch {
	uint64_t program;
	const char *id, *document;
};

static int add_sketch(struct hive_db *db, const void *what)
{
	const struct new_sketch *s = what;

	return HIVE_RUN(db,
			"INSERT INTO sketches (program, id, document, added) VALUES ($1, $2, $3, $4)"
			" ON CONFLICT (program, id) DO UPDATE SET document = excluded.document",
			NUMBER(s->program), s->id, s->document, NUMBER(hive_now_ms()));
}

int hive_store_sketch(struct hive_db *db, uint64_t program, const char *id, const char *document)
{
	return hive_store_change(db, program, add_sketch, &(struct new_sketch){program, id, document});
}

static int take_sketch(void *context, const char *const *v)
{
	struct hive_program *p = context;

	if (p->sketch_count == HIVE_SKETCHES_MAX)
		return 0;
	int err = hive_sketch_open(&p->sketches[p->sketch_count], v[0], strlen(v[0]));
	if (!err)
		p->sketches[p->sketch_count++].added = strtoll(v[1], NULL, 10);
	return err;
}

int hive_store_load_sketches(struct hive_db *db, struct hive_program *p)
{
	p->sketches = rd_xcalloc(HIVE_SKETCHES_MAX, sizeof *p->sketches);
	return HIVE_QUERY(db, take_sketch, p,
			  "SELECT document, added FROM sketches WHERE program = $1 ORDER BY added, id",
			  NUMBER(p->number));
}

struct adding {
	const struct hive_run *run;
	bool *is_new;
};

static int add_run(struct hive_db *db, const void *what)
{
	static const char sql[] = "INSERT INTO runs (program, sketch, site, run, record, received)"
				  " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
	const struct adding *a = what;
	const struct hive_run *r = a->run;
	const char *values[] = {NUMBER(r->program),   r->sketch, r->site, r->run, r->record,
				NUMBER(hive_now_ms())};

	return hive_db_many(db, &(struct hive_statement){sql, values, 6}, 1, a->is_new);
}

int hive_store_run(struct hive_db *db, const struct hive_run *run, bool *is_new)
{
	return hive_store_at_once(db, add_run, &(struct adding){run, is_new});
}

struct run_reader {
	hive_run_fn *each;
	void *context;
};

static int give_run(void *context, const char *const *v)
{
	const struct run_reader *g = context;
	struct hive_run run = {.number = strtoull(v[0], NULL, 10),
			       .program = strtoull(v[1], NULL, 10),
			       .sketch = v[2],
			       .site = v[3],
			       .record = v[4]};

	if (!rd_is_hex(run.site, HIVE_SITE - 1))
		return rd_fail(RD_EFORMAT, "hive: the database is damaged: run %s has an invalid site", v[0]);
	g->each(g->context, &run);
	return 0;
}

int hive_store_runs(struct hive_db *db, uint64_t after, uint64_t program, hive_run_fn *each, void *context)
{
	struct run_reader g = {each, context};

	RD_ASSERT(each);

	if (program)
		return HIVE_QUERY(db, give_run, &g,
				  "SELECT number, program, sketch, site, record FROM runs"
				  " WHERE program = $1 AND number > $2 ORDER BY number",
				  NUMBER(program), NUMBER(after));
	return HIVE_QUERY(db, give_run, &g,
			  "SELECT number, program, sketch, site, record FROM runs WHERE number > $1"
			  " ORDER BY number",
			  NUMBER(after));
}
