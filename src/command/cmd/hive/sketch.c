// SPDX-License-Identifier: Apache-2.0
/* The actions of `raddle hive` about failures: track makes a plan of a report and hands it in, sketch shows
 * what sites found out. */
#include "cmd/hive/hive.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json-read.h"
#include "bitcode/facts.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "raddle/track.h"
#include "report/sketch.h"
#include "sketch/plan.h"

#include <stdlib.h>
#include <string.h>

enum { SOURCES = 1000 }; /* statements that are sent with their lines: the nearest ones */

/* ---- track ---- */

static void add_sources(struct sketch_plan *p)
{
	p->sources = rd_xcalloc(p->runs.statement_count + 1, sizeof *p->sources);
	for (size_t i = 0; i < p->runs.statement_count && i < SOURCES; i++) {
		const struct sketch_statement *s = &p->runs.statements[i];

		p->sources[i] = sketch_source(&(struct sketch_report){0},
					      &(struct sketch_step){.file = s->file, .line = s->line});
	}
}

static char *plan_text(const struct sketch_plan *p)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct rd_json j;

	if (!out)
		return NULL;
	rd_json_begin(&j, out);
	j.indent = false;
	rd_json_object(&j, NULL);
	sketch_plan_json(p, &j);
	rd_json_end(&j);
	return fclose(out) ? free(text), NULL : text;
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

static int send_plan(const char *program, const struct sketch_plan *plan)
{
	struct rd_buf answer = RD_BUF_INIT;
	char *build, *path, *text;
	int err = hive_build_of(program, &build);

	if (err)
		return err;
	path = rd_xasprintf("/api/v1/sketches/%s", build);
	text = plan_text(plan);
	err = text ? hive_ask("POST", path, text, &answer) : rd_fail(RD_ENOMEM, "out of memory");
	if (!err)
		fputs(answer.data, stdout);
	rd_buf_release(&answer);
	RD_FREE(build, path, text);
	return err;
}

int hive_do_track(char **words)
{
	struct sketch_failure failure = {0};
	struct sketch_plan plan = {0};
	int err;

	if (!*words || words[1])
		return cmd_which("hive track", "program");
	if (!opt.failure_report)
		return rd_fail(RD_EUSAGE, "hive track: --report is missing: what failed, and where"),
		       CMD_FAILED;
	err = sketch_read_report(&failure, opt.failure_report, *words);
	if (!err && !failure.kind)
		failure.kind = SKETCH_CRASH;
	if (!err)
		err = plan_of(*words, &failure, &plan);
	if (!err)
		err = send_plan(*words, &plan);
	sketch_plan_release(&plan);
	sketch_failure_release(&failure);
	return err ? CMD_FAILED : CMD_OK;
}

/* ---- sketch ---- */

static int write_text(const void *text, FILE *out)
{
	fputs(((const struct rd_buf *)text)->data, out);
	return 0;
}

/* One sketch in the form that a part of its address names, to a file or, without one, to standard output. */
static int show(const json_t *sketch, const char *form, const char *to)
{
	struct rd_buf answer = RD_BUF_INIT;
	char *path =
		rd_xasprintf("/api/v1/sketches/%s/%s%s", json_string_value(json_object_get(sketch, "build")),
			     json_string_value(json_object_get(sketch, "id")), form);
	int err = hive_ask("GET", path, NULL, &answer);

	if (!err)
		err = cmd_document(to ? to : "-", write_text, &answer);
	rd_buf_release(&answer);
	free(path);
	return err;
}

static int show_in_all_forms(const json_t *sketch)
{
	int err = opt.json ? show(sketch, "", opt.json) : 0;

	if (!err && opt.html)
		err = show(sketch, "/page", opt.html);
	if (err || cmd_output_is_stdout())
		return err;
	if (json_integer_value(json_object_get(sketch, "failing")))
		return show(sketch, "/text", NULL);
	printf("%s:%lld: no failing run was sent yet, and %lld that passed\n",
	       json_string_value(json_object_get(sketch, "file")),
	       (long long)json_integer_value(json_object_get(sketch, "line")),
	       (long long)json_integer_value(json_object_get(sketch, "passing")));
	return 0;
}

/* The one of that id, or the only one if a document is asked for, which holds one. */
static int show_sketches(const json_t *sketches, const char *id)
{
	size_t i, shown = 0;
	json_t *sketch;
	int err = 0;

	if (!id && (opt.json || opt.html) && json_array_size(sketches) > 1)
		return rd_fail(RD_EUSAGE, "hive sketch: there are several; name one by its id");
	json_array_foreach(sketches, i, sketch)
	{
		const char *own = json_string_value(json_object_get(sketch, "id"));

		if (err || (id && (!own || strcmp(own, id) != 0)))
			continue;
		err = show_in_all_forms(sketch);
		shown++;
	}
	return err || shown ? err
			    : rd_fail(RD_ENOTFOUND, "hive sketch: %s",
				      id ? "there is none of that id"
					 : "no failure of this program is tracked; "
					   "'raddle hive track' has it tracked");
}

int hive_do_sketch(char **words)
{
	struct rd_json_read j = {.subject = "hive", .name = "status"};
	struct rd_buf document = RD_BUF_INIT;
	json_t *root = NULL;
	char *build;
	int err;

	if (!*words || (words[1] && words[2]))
		return cmd_which("hive sketch", "program");
	if (hive_build_of(*words, &build))
		return CMD_FAILED;
	err = hive_ask_status(build, &document);
	if (!err && !(root = rd_json_load(&j, document.data, document.length)))
		err = j.err;
	if (!err)
		err = show_sketches(json_object_get(root, "sketches"), words[1]);
	json_decref(root);
	rd_buf_release(&document);
	free(build);
	return err ? CMD_FAILED : CMD_OK;
}
