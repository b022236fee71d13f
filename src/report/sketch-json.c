// SPDX-License-Identifier: Apache-2.0
/* Failure sketches as JSON; doc/format/sketch.md describes the document. */
#include "report/sketch.h"

#include "base/error.h"
#include "base/json.h"

#include <inttypes.h>
#include <stdlib.h>

static void put_thread(struct rd_json *j, uint32_t thread)
{
	char name[32];

	snprintf(name, sizeof name, thread ? "T%" PRIu32 : "main", thread);
	rd_json_string(j, "thread", name);
}

static void put_place(struct rd_json *j, const char *file, uint32_t line, const char *function)
{
	rd_json_string(j, "file", file && *file ? file : NULL);
	if (line)
		rd_json_unsigned(j, "line", line);
	else
		rd_json_null(j, "line");
	rd_json_string(j, "function", function && *function ? function : NULL);
}

static void put_failure(struct rd_json *j, const struct sketch_failure *f)
{
	rd_json_object(j, "failure");
	put_thread(j, f->thread);
	put_place(j, f->file, f->line, f->function);
	rd_json_string(j, "what", f->what);
	rd_json_end(j);
}

void sketch_put_values(struct rd_json *j, const struct sketch_step *step,
		       void (*put)(struct rd_json *j, const char *name, const char *value))
{
	RD_ASSERT(j != NULL && step != NULL);
	char value[32];

	for (size_t i = 0; i < step->value_count; i++) {
		sketch_value_text(&step->values[i], value);
		put(j, step->values[i].name, value);
	}
}

static void put_values(struct rd_json *j, const struct sketch_step *step)
{
	char value[32];

	RD_JSON_OBJECTS (j, "values", i, step->value_count) {
		sketch_value_text(&step->values[i], value);
		RD_JSON(j, RD_JS("name", step->values[i].name), RD_JS("value", value));
		if (step->writers && step->writers[i])
			rd_json_unsigned(j, "writer", step->writers[i]);
	}
}

static void put_marks(struct rd_json *j, unsigned marks)
{
	static const char *const names[] = {"predictor", "failure", "differs"};

	rd_json_array(j, "marks");
	for (unsigned i = 0; i < 3; i++)
		if (marks & 1u << i)
			rd_json_string(j, NULL, names[i]);
	rd_json_end(j);
}

static void put_steps(struct rd_json *j, const struct sketch_report *r, const char *name,
		      const struct sketch_steps *steps)
{
	rd_json_array(j, name);
	for (size_t i = 0; i < steps->count; i++) {
		const struct sketch_step *step = &steps->items[i];
		char *source = sketch_source(r, step);

		rd_json_object(j, NULL);
		rd_json_unsigned(j, "step", i + 1);
		put_thread(j, step->thread);
		put_place(j, step->file, step->line, step->function);
		RD_JSON(j, RD_JS("event", step->event), RD_JS("source", source));
		put_values(j, step);
		put_marks(j, step->marks);
		rd_json_end(j);
		free(source);
	}
	rd_json_end(j);
}

/* Writes the places of a predictor.  For an order, the letters A and B show which statements ran in
 * different threads.  The names of threads are omitted, because they vary between runs. */
static void put_places(struct rd_json *j, const struct sketch *s, const struct sketch_predictor *p)
{
	RD_JSON_OBJECTS (j, "places", i, p->count) {
		RD_ASSERT(p->statements[i] < s->runs->statement_count);
		const struct slice_statement *st = &s->runs->statements[p->statements[i]];

		rd_json_string(j, "thread", p->type != SKETCH_ORDER ? NULL : i == 1 ? "B" : "A");
		put_place(j, st->file, st->line, st->function);
		rd_json_string(j, "variable", st->variable);
	}
}

static void put_tries(struct rd_json *j, const char *name, const struct sketch_tries *t)
{
	if (!t->runs) {
		rd_json_null(j, name);
		return;
	}
	rd_json_object(j, name);
	RD_JSON(j, RD_JU("runs", t->runs), RD_JU("failed", t->failed));
	rd_json_end(j);
}

static void put_predictor(struct rd_json *j, const struct sketch *s, size_t i)
{
	RD_ASSERT(i < s->predictors.count);
	const struct sketch_predictor *p = &s->predictors.items[i];
	char value[32];

	RD_ASSERT(p->failing <= p->all_failing);
	rd_json_object(j, NULL);
	RD_JSON(j, RD_JS("type", sketch_type_name(p->type)),
		RD_JS("pattern", sketch_pattern_name(p->pattern)));
	put_places(j, s, p);
	sketch_value_text(&(struct sketch_value){.value = p->value, .size = 8}, value);
	rd_json_string(j, "value", p->type == SKETCH_ORDER ? NULL : value);
	RD_JSON(j, RD_JS("text", s->texts[i]), RD_JD("precision", p->precision), RD_JD("recall", p->recall),
		RD_JD("f", p->f));
	rd_json_object(j, "counts");
	RD_JSON(j, RD_JU("failing_with", p->failing), RD_JU("failing_without", p->all_failing - p->failing),
		RD_JU("passing_with", p->passing), RD_JU("passing_without", p->all_passing - p->passing));
	rd_json_end(j);
	put_tries(j, "forced", &p->forced);
	put_tries(j, "prevented", &p->prevented);
	rd_json_bool(j, "confirmed", sketch_is_confirmed(p));
	rd_json_end(j);
}

static void put_sketch(struct rd_json *j, const struct sketch_report *r, const struct sketch *s)
{
	rd_json_object(j, NULL);
	RD_JSON(j, RD_JS("signature", s->signature), RD_JS("kind", sketch_outcome_name(s->failure.kind)),
		RD_JU("failing", s->failing), RD_JU("failing_before", s->before),
		RD_JU("passing", s->passing), RD_JU("perturbed", s->perturbed), RD_JU("sigma", s->sigma),
		RD_JS("schedule", s->schedule_path));
	put_failure(j, &s->failure);
	put_steps(j, r, "steps", &s->fails);
	put_steps(j, r, "passing_steps", &s->passes);
	rd_json_array(j, "predictors");
	for (size_t i = 0; i < s->predictors.count; i++)
		if (sketch_is_shown(s, i))
			put_predictor(j, s, i);
	rd_json_end(j);
	rd_json_end(j);
}

int sketch_json(const struct sketch_report *r, FILE *out)
{
	struct rd_json j;

	rd_json_begin(&j, out);
	rd_json_object(&j, NULL);
	RD_JSON(&j, RD_JU("version", SKETCH_VERSION), RD_JS("program", r->set->program),
		RD_JU("runs", r->set->runs), RD_JS("note", r->set->note));
	rd_json_array(&j, "sketches");
	for (size_t i = 0; i < r->set->count; i++)
		put_sketch(&j, r, &r->set->items[i]);
	rd_json_end(&j);
	rd_json_end(&j);
	return ferror(out) ? rd_fail_errno("sketch: cannot write the document") : RD_OK;
}
