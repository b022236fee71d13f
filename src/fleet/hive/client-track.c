// SPDX-License-Identifier: Apache-2.0
/* Sends requests about failures.  The first request about a failure sends a plan for the sites,
 * which is made from the failure and its place.  A later request gets the results. */
#include "hive/client.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/json-text.h"
#include "bitcode/facts.h"
#include "raddle/track.h"
#include "report/sketch.h"
#include "sketch/plan.h"

#include <stdlib.h>

/* The number of statements, nearest to the failure first, that are sent with their source lines.
 * Set by hand, so that the request stays below 1 MB. */
enum { SOURCES_SENT = 1000 };

static void add_sources(struct sketch_plan *p)
{
	p->sources = rd_xcalloc(p->runs.statement_count + 1, sizeof *p->sources);
	for (size_t i = 0; i < p->runs.statement_count && i < SOURCES_SENT; i++) {
		const struct slice_statement *s = &p->runs.statements[i];

		p->sources[i] = sketch_source(&(struct sketch_report){0},
					      &(struct sketch_step){.file = s->file, .line = s->line});
	}
}

static char *plan_text(const struct sketch_plan *p)
{
	struct rd_buf out = RD_BUF_INIT;
	struct rd_json_text text;
	struct rd_json *j = rd_json_text_begin(&text);

	rd_json_object(j, NULL);
	sketch_plan_json(p, j);
	rd_json_end(j);
	rd_json_text_end(&text, &out);
	return rd_buf_detach(&out);
}

static int make_plan(const struct facts *f, struct sketch_failure *failure, struct sketch_plan *plan)
{
	struct sketch_gates gates = {0};
	struct slice_place at;
	struct slice s;
	int err = slice_find(&at, f, failure->file, failure->line);

	if (!err) {
		slice_make(&s, f, &at);
		sketch_gates_find(&gates, &s, 0, RADDLE_TRACK_GATES);
		sketch_plan_make(plan, &s, &gates, failure);
		add_sources(plan);
		sketch_gates_release(&gates);
		slice_release(&s);
	}
	slice_place_release(&at);
	return err;
}

static int plan_of(const char *program, struct sketch_failure *failure, struct sketch_plan *plan)
{
	struct facts *f;
	int err = rd_facts_open(program, &f);

	if (err)
		return err;
	err = make_plan(f, failure, plan);
	facts_free(f);
	return err;
}

int hive_client_track(const struct hive_client *c, const char *program, struct sketch_failure *failure,
		      struct rd_buf *answer)
{
	struct sketch_plan plan = {0};
	char *build = NULL, *path = NULL, *text = NULL;
	int err = plan_of(program, failure, &plan);

	if (!err)
		err = hive_client_build(program, &build);
	if (!err) {
		path = rd_xasprintf("/api/v1/sketches/%s", build);
		text = plan_text(&plan);
		err = text ? hive_client_ask(c, "POST", path, text, answer)
			   : rd_fail(RD_ENOMEM, "out of memory");
	}
	sketch_plan_release(&plan);
	RD_FREE(build, path, text);
	return err;
}

int hive_client_sketch(const struct hive_client *c, const char *build, const char *id, const char *form,
		       struct rd_buf *answer)
{
	char *path = rd_xasprintf("/api/v1/sketches/%s/%s%s", build, id, form);
	int err = hive_client_ask(c, "GET", path, NULL, answer);

	free(path);
	return err;
}
