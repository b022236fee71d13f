// SPDX-License-Identifier: Apache-2.0
/*
 * Answers requests about failures that sites help to explain.  A developer sends a plan, and sites
 * then send records of runs, from which the hive makes sketches.  A record that is no longer
 * needed is not stored.  Runs are rare, so each is stored in its own transaction.
 */
#include "base/alloc.h"
#include "base/context.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/json-read.h"
#include "hive/request-int.h"
#include "protocol/limit.h"
#include "report/sketch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void unlock(void *lock)
{
	pthread_rwlock_unlock(lock);
}

static void drop_json(void *root)
{
	json_decref(root);
}

/* ---- plans ---- */

static int store_sketch(struct hive_db *db, const void *what)
{
	const struct hive_run *r = what;

	return hive_store_sketch(db, r->program, r->sketch, r->record);
}

/* Finds the number of the program with this build.  Fails if the program already has the maximum
 * number of failures, unless this failure is one of them. */
static int find_program(struct hive *h, const char *build, const char *sketch, uint64_t *number)
{
	const struct hive_program *p;
	bool full = false;

	pthread_rwlock_rdlock(&h->lock);
	p = hive_find(h, build);
	if (p) {
		*number = p->number;
		full = p->sketch_count >= HIVE_SKETCHES_MAX && !hive_program_sketch(p, sketch);
	}
	pthread_rwlock_unlock(&h->lock);
	if (!p)
		return rd_fail(RD_ENOTFOUND, "this build is not known");
	return full ? rd_fail(RD_EFORMAT, "this build has %d failures already", HIVE_SKETCHES_MAX) : 0;
}

int hive_answer_sketch_add(struct hive_request *r)
{
	struct hive_sketch s;
	struct hive_run what = {0};
	char *document;
	int err;

	if (!r->length || !hive_json_is_shallow(r->body, r->length, HIVE_DEPTH_MAX))
		return rd_fail(RD_EFORMAT, "sketch: there is no body, or it is nested too deeply");
	err = hive_sketch_open(&s, r->body, r->length);
	if (err)
		return err;
	document = rd_xstrndup(r->body, r->length);
	what.sketch = s.plan.id;
	what.record = document;
	err = find_program(r->h, r->first, s.plan.id, &what.program);
	if (!err)
		err = hive_change(r->h, store_sketch, &what);
	if (!err) {
		r->answer = rd_xasprintf(
			"{\"version\":1,\"build\":\"%s\",\"sketch\":\"%s\",\"statements\":%zu}\n", r->first,
			s.plan.id, s.plan.runs.statement_count);
		r->answer_length = strlen(r->answer);
	}
	free(document);
	hive_sketch_release(&s);
	return err;
}

/* ---- records ---- */

struct new_run {
	struct hive_run run;
	bool is_new;
};

static int store_run(struct hive_db *db, const void *what)
{
	struct new_run *n = (struct new_run *)what;

	return hive_store_run(db, &n->run, &n->is_new);
}

/* The answer to a request whose body contains records. */
struct receipt {
	size_t accepted, duplicate, unwanted;
	bool poll;
};

/* Checks whether a record fits its plan, is well-formed, and is still needed. */
static int look_at(struct hive *h, const char *build, const json_t *record, uint64_t *program, bool *wanted)
{
	struct rd_json_read j = {.subject = "run", .name = "body"};
	const char *id = rd_json_get_text(&j, record, "sketch"), *run = rd_json_get_text(&j, record, "run");
	const struct hive_program *p;
	struct rd_cleanup cleanup;
	int err = 0;

	if (!rd_is_hex(id, SKETCH_PLAN_ID - 1) || !rd_is_hex(run, HIVE_RUN_ID - 1))
		return rd_fail(RD_EFORMAT, "run: its sketch or its name is missing or wrong");
	pthread_rwlock_rdlock(&h->lock);
	rd_cleanup_add(&cleanup, unlock, &h->lock);
	p = hive_find(h, build);
	const struct hive_sketch *s = p ? hive_program_sketch(p, id) : NULL;
	*program = p ? p->number : 0;
	if (s) {
		/* A view of the plan with its statements but without its runs, so that the plan is
		 * not changed. */
		struct sketch_plan view = {.signature = s->plan.signature,
					   .runs = {.statements = s->plan.runs.statements,
						    .statement_count = s->plan.runs.statement_count}};
		uint32_t sigma;

		err = sketch_record_read(&view, &j, record, &sigma);
		if (!err) {
			*wanted = hive_sketch_wants(s, sigma, view.runs.items[0].outcome != SKETCH_PASSED);
			RD_FREE(view.runs.items[0].events, view.runs.items[0].signature, view.runs.items);
		}
	} else {
		err = rd_fail(RD_ENOTFOUND, "this build or sketch is not known");
	}
	rd_cleanup_remove(&cleanup);
	pthread_rwlock_unlock(&h->lock);
	return err;
}

static int take_record(struct hive *h, const char *build, const char *site, const json_t *record,
		       struct receipt *out)
{
	struct new_run n = {.run.site = site};
	bool wanted = false;
	int err = look_at(h, build, record, &n.run.program, &wanted);

	if (err)
		return err;
	if (!wanted) {
		out->unwanted++;
		out->poll = true;
		return 0;
	}
	char *text = json_dumps(record, JSON_COMPACT);
	if (!text)
		return rd_fail(RD_ENOMEM, "out of memory");
	n.run.sketch = json_string_value(json_object_get(record, "sketch"));
	n.run.run = json_string_value(json_object_get(record, "run"));
	n.run.record = text;
	err = hive_change(h, store_run, &n);
	free(text);
	out->accepted += !err && n.is_new;
	out->duplicate += !err && !n.is_new;
	out->poll |= strcmp(sketch_outcome_name(SKETCH_PASSED),
			    json_string_value(json_object_get(record, "outcome"))) != 0;
	return err;
}

static int take_records(struct hive_request *r, const json_t *root, struct receipt *out)
{
	struct rd_json_read j = {.subject = "runs", .name = "body"};
	const char *build = rd_json_get_text(&j, root, "build"), *site = rd_json_get_text(&j, root, "site");
	const json_t *runs = rd_json_member(&j, root, "runs", JSON_ARRAY);
	int err = 0;

	if (rd_json_get_number(&j, root, "version", UINT32_MAX) != 1 || !hive_is_build(build) ||
	    !rd_is_hex(site, HIVE_SITE - 1) || !runs || json_array_size(runs) > PROTOCOL_BODY_RUNS)
		return rd_fail(RD_EFORMAT,
			       "runs: not a document of version 1, or its build, site or runs are wrong");
	for (size_t i = 0; i < json_array_size(runs) && !err; i++)
		err = take_record(r->h, build, site, json_array_get(runs, i), out);
	return err;
}

int hive_answer_runs(struct hive_request *r)
{
	struct rd_json_read j = {.subject = "runs", .name = "body"};
	struct receipt out = {0};
	struct rd_cleanup cleanup;
	json_t *root;
	int err;

	if (!r->length || !hive_json_is_shallow(r->body, r->length, HIVE_DEPTH_MAX))
		return rd_fail(RD_EFORMAT, "runs: there is no body, or it is nested too deeply");
	root = rd_json_load(&j, r->body, r->length);
	if (!root)
		return j.err;
	rd_cleanup_add(&cleanup, drop_json, root);
	err = take_records(r, root, &out);
	rd_cleanup_remove(&cleanup);
	json_decref(root);
	if (err)
		return err;
	r->answer = rd_xasprintf(
		"{\"version\":1,\"accepted\":%zu,\"duplicate\":%zu,\"unwanted\":%zu,\"poll\":%s}\n",
		out.accepted, out.duplicate, out.unwanted, out.poll ? "true" : "false");
	r->answer_length = strlen(r->answer);
	return 0;
}

/* ---- sketches ---- */

static int write_it(struct hive_request *r, FILE *out, hive_sketch_fn *write)
{
	const struct hive_program *p;
	struct rd_cleanup cleanup;
	int err;

	pthread_rwlock_rdlock(&r->h->lock);
	rd_cleanup_add(&cleanup, unlock, &r->h->lock);
	p = hive_find(r->h, r->first);
	const struct hive_sketch *s = p ? hive_program_sketch(p, r->second) : NULL;
	err = s ? hive_sketch_write(s, p->name, write, out)
		: rd_fail(RD_ENOTFOUND, "there is no such sketch");
	rd_cleanup_remove(&cleanup);
	pthread_rwlock_unlock(&r->h->lock);
	return err;
}

#define ANSWER(name, writer, content)                                                                        \
	static int write_##writer(struct hive_request *r, FILE *out)                                         \
	{                                                                                                    \
		return write_it(r, out, sketch_##writer);                                                    \
	}                                                                                                    \
	int name(struct hive_request *r)                                                                     \
	{                                                                                                    \
		int err = hive_answer_document(r, write_##writer);                                           \
                                                                                                             \
		r->type = err ? NULL : content;                                                              \
		return err;                                                                                  \
	}
ANSWER(hive_answer_sketch, json, "application/json")
ANSWER(hive_answer_sketch_page, html, "text/html; charset=utf-8")
ANSWER(hive_answer_sketch_text, text, "text/plain; charset=utf-8")
