// SPDX-License-Identifier: Apache-2.0
/* Plans and records (sketch/plan.h): translates slices and runs to JSON and back.  A document comes
 * from another machine, so each number is checked before it is used. */
#include "sketch/plan.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Limits for a document from outside.  TEXT_MAX is the maximum length of a text in bytes, the same
 * as PATH_MAX.  THREADS_MAX is the maximum number of threads, the same as in record/collector.c.
 * WORD is the maximum size of a value in bytes. */
enum { TEXT_MAX = 4096, THREADS_MAX = 1 << 20, WORD = 8 };

static const char *const role_names[] = {"neutral", "reads", "writes", "acquires", "releases"};
enum { ROLES = sizeof role_names / sizeof *role_names };

/* ---- plans ---- */

void sketch_plan_release(struct sketch_plan *p)
{
	RD_FREE_EACH(p->sources, p->sources ? p->runs.statement_count : 0);
	sketch_failure_release(&p->failure);
	sketch_runs_release(&p->runs);
	RD_FREE(p->sources, p->signature);
	*p = (struct sketch_plan){0};
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* Computes the id and the signature of the plan.  The id does not depend on the directories of
 * source files, because they differ between machines. */
static void finish(struct sketch_plan *p)
{
	struct rd_buf text = RD_BUF_INIT;

	RD_ASSERT(p->failure.file && !p->signature);
	rd_buf_addf(&text, "%s %" PRIu32 " %" PRIu32 "\n", rd_base_name(p->failure.file), p->failure.line,
		    p->sigma);
	for (size_t i = 0; i < p->runs.statement_count; i++) {
		const struct slice_statement *s = &p->runs.statements[i];

		rd_buf_addf(&text, "%s %" PRIu32 " %" PRIu32 " %d %s %s %" PRIu32 "\n", rd_base_name(s->file),
			    s->line, s->column, (int)s->kind, or_empty(s->variable), or_empty(s->operation),
			    s->distance);
	}
	snprintf(p->id, sizeof p->id, "%016" PRIx64, (uint64_t)XXH3_64bits(text.data, text.length));
	rd_buf_release(&text);
	p->signature = sketch_signature(&p->failure);
}

void sketch_plan_make(struct sketch_plan *p, struct slice *s, const struct sketch_gates *g,
		      struct sketch_failure *failure)
{
	*p = (struct sketch_plan){.failure = *failure, .sigma = s->statements};
	*failure = (struct sketch_failure){0};
	free(p->failure.file);
	p->failure.file = rd_xstrdup(facts_string(s->facts, s->file));
	p->failure.line = s->line;
	for (size_t i = 0; i < g->count && p->runs.statement_count + 2 <= SKETCH_PLAN_MAX; i++)
		sketch_gate_statements(&g->items[i], s, &p->runs);
	if (!p->failure.function && p->runs.statement_count)
		p->failure.function = rd_xstrdup(p->runs.statements[0].function);
	finish(p);
}

static void put_statement(const struct sketch_plan *p, size_t i, struct rd_json *j)
{
	const struct slice_statement *s = &p->runs.statements[i];

	rd_json_object(j, NULL);
	slice_statement_json(s, j);
	RD_JSON(j, RD_JS("role", role_names[s->role]), RD_JU("distance", s->distance),
		RD_JB("found", s->found), RD_JS("source", p->sources ? p->sources[i] : NULL));
	rd_json_end(j);
}

void sketch_plan_json(const struct sketch_plan *p, struct rd_json *j)
{
	const struct sketch_failure *f = &p->failure;

	RD_JSON(j, RD_JU("version", 1), RD_JS("id", p->id), RD_JS("kind", sketch_outcome_name(f->kind)),
		RD_JS("what", f->what), RD_JS("file", f->file), RD_JU("line", f->line),
		RD_JS("function", f->function), RD_JU("sigma", p->sigma));
	rd_json_array(j, "statements");
	for (size_t i = 0; i < p->runs.statement_count; i++)
		put_statement(p, i, j);
	rd_json_end(j);
}

/* Returns a copy of a text, or NULL if the object has no such member.  It is an error if the text
 * is too long. */
static char *get_text(struct rd_json_read *r, const json_t *object, const char *key)
{
	const char *text = rd_json_get_text(r, object, key);

	if (text && strlen(text) > TEXT_MAX)
		rd_json_wrong(r, key, "is too long");
	return text && !r->err ? rd_xstrdup(text) : NULL;
}

static int get_name(struct rd_json_read *r, const json_t *object, const char *key,
		    const char *(*name_of)(int), int count)
{
	const char *text = rd_json_get_text(r, object, key);

	for (int i = 0; text && i < count; i++)
		if (!strcmp(text, name_of(i)))
			return i;
	rd_json_wrong(r, key, "is missing or not known");
	return 0;
}

static const char *kind_name(int i)
{
	return slice_kind_name((enum slice_kind)i);
}

static const char *role_name(int i)
{
	return role_names[i];
}

static const char *outcome_name(int i)
{
	return sketch_outcome_name((enum sketch_outcome)i);
}

static void read_statement(struct sketch_plan *p, struct rd_json_read *r, const json_t *object)
{
	struct sketch_runs *runs = &p->runs;
	struct slice_statement *s = &runs->statements[runs->statement_count];

	*s = (struct slice_statement){
		.file = get_text(r, object, "file"),
		.function = get_text(r, object, "function"),
		.variable = get_text(r, object, "variable"),
		.operation = get_text(r, object, "operation"),
		.line = (uint32_t)rd_json_get_number(r, object, "line", INT32_MAX),
		.column = (uint32_t)rd_json_get_number(r, object, "column", INT32_MAX),
		.distance = (uint32_t)rd_json_get_number(r, object, "distance", UINT32_MAX),
		.kind = (enum slice_kind)get_name(r, object, "kind", kind_name, SLICE_SYNC + 1),
		.role = (enum slice_role)get_name(r, object, "role", role_name, ROLES),
		.found = rd_json_get_bool(r, object, "found")};
	p->sources[runs->statement_count++] = get_text(r, object, "source");
	if (!s->file || !s->function)
		rd_json_wrong(r, "file", "or function is missing");
}

static void read_statements(struct sketch_plan *p, struct rd_json_read *r, const json_t *array)
{
	size_t count = json_array_size(array);

	if (!count || count > SKETCH_PLAN_MAX) {
		rd_json_wrong(r, "statements", "are missing or too many");
		return;
	}
	p->runs.statements = rd_xcalloc(count, sizeof *p->runs.statements);
	p->runs.statement_capacity = count;
	p->sources = rd_xcalloc(count, sizeof *p->sources);
	r->part = "statement";
	for (r->number = 0; r->number < count && !r->err; r->number++)
		read_statement(p, r, json_array_get(array, r->number));
	r->part = NULL;
}

int sketch_plan_read(struct sketch_plan *p, struct rd_json_read *r, const json_t *root)
{
	*p = (struct sketch_plan){0};
	if (rd_json_get_number(r, root, "version", UINT32_MAX) != 1)
		rd_json_wrong(r, "version", "is not 1");
	p->failure = (struct sketch_failure){
		.kind = (enum sketch_outcome)get_name(r, root, "kind", outcome_name, SKETCH_OUTPUT + 1),
		.what = get_text(r, root, "what"),
		.file = get_text(r, root, "file"),
		.function = get_text(r, root, "function"),
		.line = (uint32_t)rd_json_get_number(r, root, "line", INT32_MAX)};
	p->sigma = (uint32_t)rd_json_get_number(r, root, "sigma", SKETCH_PLAN_MAX);
	if (!p->failure.file || !p->failure.line || !p->failure.kind || !p->sigma)
		rd_json_wrong(r, "file", "or line, kind, sigma is missing");
	if (!r->err)
		read_statements(p, r, rd_json_member(r, root, "statements", JSON_ARRAY));
	if (r->err)
		sketch_plan_release(p);
	else
		finish(p);
	return r->err;
}

/* ---- records ---- */

/* Returns true if the value of an event is sent.  The value of a branch is always sent, other
 * values only if the site allows it. */
static bool is_sent(const struct sketch_record *what, const struct sketch_runs *runs,
		    const struct sketch_event *e)
{
	return e->size && (what->values || runs->statements[e->statement].kind == SLICE_BRANCH);
}

static void write_events(const struct sketch_record *what, const struct sketch_runs *runs,
			 const struct sketch_run *run, struct rd_buf *out)
{
	size_t first = run->count > SKETCH_RECORD_EVENTS ? run->count - SKETCH_RECORD_EVENTS : 0;
	struct rd_umap objects = RD_UMAP_INIT;
	uint64_t next = 1;
	const char *between = "";

	for (size_t i = first; i < run->count; i++) {
		const struct sketch_event *e = &run->events[i];
		uint64_t *object = e->address ? rd_umap_put(&objects, e->address, NULL) : NULL;

		if (e->statement >= what->statements)
			continue;
		if (object && !*object)
			*object = next++;
		rd_buf_addf(out, "%s[%" PRIu32 ",%" PRIu32 ",%" PRIu64, between, e->thread, e->statement,
			    object ? *object : 0);
		between = ",";
		if (is_sent(what, runs, e))
			rd_buf_addf(out, ",%" PRId64 ",%u", (int64_t)e->value, e->size);
		rd_buf_addc(out, ']');
	}
	rd_umap_release(&objects);
}

void sketch_record_write(const struct sketch_record *what, const struct sketch_runs *runs,
			 const struct sketch_run *run, struct rd_buf *out)
{
	bool cut = run->cut || run->count > SKETCH_RECORD_EVENTS;

	RD_ASSERT(what->plan && what->run);
	rd_buf_addf(out,
		    "{\"sketch\":\"%s\",\"run\":\"%s\",\"sigma\":%" PRIu32
		    ",\"outcome\":\"%s\",\"thread\":%" PRIu32 ",\"cut\":%s,\"events\":[",
		    what->plan, what->run, what->sigma, sketch_outcome_name(run->outcome), run->failed_thread,
		    cut ? "true" : "false");
	write_events(what, runs, run, out);
	rd_buf_adds(out, "]}");
}

static bool get_count(const json_t *array, size_t i, uint64_t max, uint64_t *to)
{
	return rd_json_is_count(json_array_get(array, i), max, to);
}

static bool read_event(const struct sketch_plan *p, const json_t *array, struct sketch_event *e)
{
	uint64_t thread, statement, object, size = 0;
	const json_t *value = json_array_get(array, 3);

	if (!get_count(array, 0, THREADS_MAX, &thread) ||
	    !get_count(array, 1, p->runs.statement_count - 1, &statement) ||
	    !get_count(array, 2, INT32_MAX, &object) || (value && !json_is_integer(value)) ||
	    (value && !get_count(array, 4, WORD, &size)))
		return false;
	*e = (struct sketch_event){.thread = (uint32_t)thread,
				   .statement = (uint32_t)statement,
				   .address = object,
				   .value = value ? (uint64_t)json_integer_value(value) : 0,
				   .size = (uint8_t)size};
	return true;
}

int sketch_record_read(struct sketch_plan *p, struct rd_json_read *r, const json_t *root, uint32_t *sigma)
{
	const json_t *events = rd_json_member(r, root, "events", JSON_ARRAY);
	struct sketch_run run = {
		.outcome = (enum sketch_outcome)get_name(r, root, "outcome", outcome_name, SKETCH_OUTPUT + 1),
		.cut = rd_json_get_bool(r, root, "cut"),
		.failed_thread = (uint32_t)rd_json_get_number(r, root, "thread", THREADS_MAX)};
	struct sketch_event e;

	*sigma = (uint32_t)rd_json_get_number(r, root, "sigma", SKETCH_PLAN_MAX);
	if (!events || json_array_size(events) > SKETCH_RECORD_EVENTS)
		rd_json_wrong(r, "events", "are missing or too many");
	for (size_t i = 0; !r->err && i < json_array_size(events); i++)
		if (read_event(p, json_array_get(events, i), &e))
			sketch_event_add(&run, &e);
		else
			rd_json_wrong(r, "events", "contain an invalid one");
	if (r->err) {
		free(run.events);
		return r->err;
	}
	if (run.outcome != SKETCH_PASSED)
		run.signature = rd_xstrdup(p->signature);
	*sketch_run_add(&p->runs) = run;
	return RD_OK;
}
