// SPDX-License-Identifier: Apache-2.0
/*
 * Failure sketches as text, at most 100 columns wide.  There is a column for each thread and a line
 * for each step, with the failure last.  The predictors follow with their counts.  `>` marks a step
 * of a predictor, `!` the failure, and `*` a step that the passing run does not have.  The oldest
 * steps are folded unless all are requested.
 */
#include "report/sketch.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "report/source-int.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Maximum width of a line in columns.  Set by hand, and wider than 80, since threads are shown side
 * by side. */
#define WIDTH 100
#define COLUMNS 4 /* maximum number of columns of threads; more do not fit in a line */
/* At most this many steps are shown, namely the last ones of the run.  Set by hand, so that they
 * fit on a screen. */
#define MOST_STEPS 40
#define VALUES 26 /* width of the column for the values of a step */
#define HEAD 7	  /* width of the column for number and marks */

char *sketch_source(const struct sketch_report *r, const struct sketch_step *step)
{
	struct finding_frame place = {.file = (char *)step->file, .line = step->line};
	struct rd_buf text = RD_BUF_INIT;
	const char *line;
	char *copy = NULL;
	size_t n;

	if (r->source && (line = r->source(r->context, step)))
		return rd_xstrdup(line);
	if (!r->source && step->file && *step->file && step->line && source_of(&place, r->root, &text) &&
	    (line = source_line(text.data, step->line))) {
		while (*line == ' ' || *line == '\t')
			line++;
		n = strcspn(line, "\r\n");
		while (n && isspace((unsigned char)line[n - 1]))
			n--;
		copy = rd_xstrndup(line, n);
		for (size_t i = 0; copy[i]; i++)
			if ((unsigned char)copy[i] < 0x20 || (unsigned char)copy[i] == 0x7f)
				copy[i] = ' ';
	}
	rd_buf_release(&text);
	return copy;
}

const char *sketch_title(const struct sketch *s)
{
	switch (s->failure.kind) {
	case SKETCH_CRASH: return "crash";
	case SKETCH_ASSERTION: return "failed assertion";
	case SKETCH_HANG: return "hang";
	case SKETCH_EXIT: return "bad exit status";
	case SKETCH_OUTPUT: return "wrong output";
	default: return "failure";
	}
}

void sketch_tries_text(const struct sketch_predictor *p, char *out, size_t size)
{
	RD_ASSERT(size > 0);
	*out = '\0';
	if (p->forced.runs || p->prevented.runs)
		snprintf(out, size, "forced %u/%u fail, prevented %u/%u", p->forced.failed, p->forced.runs,
			 p->prevented.failed, p->prevented.runs);
}

/* ---- threads ---- */

struct columns {
	uint32_t threads[COLUMNS];
	size_t count;
	int width; /* the width of each column */
};

/* Returns the column of a thread.  The first threads that appear have a column each; the others
 * share the last one. */
static size_t column_of(const struct columns *c, uint32_t thread)
{
	RD_ASSERT(c->count > 0);
	for (size_t i = 0; i < c->count; i++)
		if (c->threads[i] == thread)
			return i;
	return c->count - 1;
}

static void find_columns(struct columns *c, const struct sketch_steps *steps, size_t from)
{
	c->count = 0;
	for (size_t i = from; i < steps->count && c->count < COLUMNS; i++) {
		bool known = false;

		for (size_t k = 0; k < c->count; k++)
			known |= c->threads[k] == steps->items[i].thread;
		if (!known)
			c->threads[c->count++] = steps->items[i].thread;
	}
	for (size_t i = 1; i < c->count; i++)
		for (size_t k = i; k && c->threads[k] < c->threads[k - 1]; k--) {
			uint32_t other = c->threads[k];

			c->threads[k] = c->threads[k - 1];
			c->threads[k - 1] = other;
		}
	if (!c->count)
		c->threads[c->count++] = 0;
	c->width = (WIDTH - HEAD - VALUES) / (int)c->count;
}

/* ---- steps ---- */

/* Writes a text in `width` columns.  A text that is too long is cut and ends in ".."; a shorter one
 * is padded with spaces. */
static void put_cell(FILE *out, const char *text, int width)
{
	RD_ASSERT(width > 0);
	int length = (int)strlen(text);

	if (length > width - 1)
		fprintf(out, "%.*s.. ", width - 3, text);
	else
		fprintf(out, "%-*s", width, text);
}

static void put_values(FILE *out, const struct sketch_step *step)
{
	struct rd_buf text = RD_BUF_INIT;
	char value[32];

	for (size_t i = 0; i < step->value_count; i++) {
		sketch_value_text(&step->values[i], value);
		rd_buf_addf(&text, "%s%s=%s", i ? " " : "", step->values[i].name, value);
	}
	if (text.length > VALUES)
		fprintf(out, "%.*s..", VALUES - 2, text.data);
	else
		fputs(text.data, out);
	rd_buf_release(&text);
}

static char mark_of(unsigned marks)
{
	return marks & SKETCH_MARK_FAILURE     ? '!'
	       : marks & SKETCH_MARK_PREDICTOR ? '>'
	       : marks & SKETCH_MARK_DIFFERS   ? '*'
					       : ' ';
}

static void put_step(const struct sketch_report *r, const struct columns *c, const struct sketch_step *step,
		     size_t number, FILE *out)
{
	char *source = sketch_source(r, step), *cell;
	size_t column = column_of(c, step->thread);

	cell = rd_xasprintf("%" PRIu32 " %s%s", step->line,
			    c->threads[column] != step->thread ? "(other) " : "",
			    source	  ? source
			    : step->event ? step->event
					  : "");
	fprintf(out, "%c%4zu  ", mark_of(step->marks), number);
	for (size_t i = 0; i < c->count; i++)
		put_cell(out, i == column ? cell : "", c->width);
	put_values(out, step);
	fputc('\n', out);
	RD_FREE(source, cell);
}

static void put_steps(const struct sketch_report *r, const struct sketch *s, FILE *out)
{
	const struct sketch_steps *steps = &s->fails;
	size_t from = !r->all && steps->count > MOST_STEPS ? steps->count - MOST_STEPS : 0;
	struct columns c;

	find_columns(&c, steps, from);
	fprintf(out, "\n step  ");
	for (size_t i = 0; i < c.count; i++) {
		char name[32];

		snprintf(name, sizeof name, c.threads[i] ? "thread %" PRIu32 : "main", c.threads[i]);
		put_cell(out, name, c.width);
	}
	fputs("values\n", out);
	if (from)
		fprintf(out, "       ... %zu earlier steps (-v)\n", from);
	for (size_t i = from; i < steps->count; i++)
		put_step(r, &c, &steps->items[i], i + 1, out);
}

/* ---- predictors ---- */

static void put_predictor(const struct sketch *s, size_t i, FILE *out)
{
	const struct sketch_predictor *p = &s->predictors.items[i];
	char tries[96];

	fprintf(out, "  %-6s %-6s F %.2f  P %zu/%zu  R %zu/%zu  passing %zu/%zu\n         %s\n",
		sketch_type_name(p->type), sketch_pattern_name(p->pattern), p->f, p->failing,
		p->failing + p->passing, p->failing, p->all_failing, p->passing, p->all_passing, s->texts[i]);
	sketch_tries_text(p, tries, sizeof tries);
	if (*tries)
		fprintf(out, "         %s%s\n", tries, sketch_is_confirmed(p) ? ": the cause" : "");
}

static void put_predictors(const struct sketch *s, FILE *out)
{
	fprintf(out, "\n why%s\n",
		s->predictors.count ? "" : "   nothing that was tracked tells failing from passing runs");
	for (size_t i = 0; i < s->predictors.count; i++)
		if (sketch_is_shown(s, i))
			put_predictor(s, i, out);
	if (s->predictors.count && !s->passing)
		fputs("  No run passed: the above holds in every run, and may not be a cause.\n", out);
}

static void put_sketch(const struct sketch_report *r, const struct sketch *s, FILE *out)
{
	const struct sketch_failure *f = &s->failure;

	fprintf(out, "FAILURE SKETCH  %.30s  %s%s%.*s\n",
		r->set->program ? rd_base_name(r->set->program) : "", sketch_title(s), f->what ? ": " : "",
		WIDTH - 66, f->what ? f->what : "");
	if (f->file)
		fprintf(out, "at %s:%" PRIu32 "%s%.*s\n", rd_base_name(f->file), f->line,
			f->function ? " in " : "", 40, f->function ? f->function : "");
	fprintf(out, "%zu failing and %zu passing runs; sigma %" PRIu32, s->failing, s->passing, s->sigma);
	if (s->perturbed)
		fprintf(out, "; %zu failed under schedules that Raddle chose", s->perturbed);
	fputc('\n', out);
	put_steps(r, s, out);
	put_predictors(s, out);
	if (s->schedule_path)
		fprintf(out, "\n next  raddle replay %s -- %s\n", s->schedule_path,
			r->set->program ? r->set->program : "PROG");
}

int sketch_text(const struct sketch_report *r, FILE *out)
{
	for (size_t i = 0; i < r->set->count; i++) {
		if (i)
			fputc('\n', out);
		put_sketch(r, &r->set->items[i], out);
	}
	return ferror(out) ? rd_fail_errno("sketch: cannot write the report") : RD_OK;
}
