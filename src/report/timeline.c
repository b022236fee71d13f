// SPDX-License-Identifier: Apache-2.0
/*
 * Prints a timeline side by side: a column for each thread, a row for each step, with the source line
 * and what the thread does there.  In: steps.  Out: lines of at most 80 columns.
 *
 * With more threads than columns, the threads that appear last share the last column, and each of
 * their steps begins with the name of its thread.
 */
#include "report/timeline-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/name.h"
#include "base/printable.h"
#include "report/source-int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 80  /* the columns of a terminal */
#define HEAD 5	  /* the columns for the number of a step */
#define COLUMNS 3 /* with more threads, the columns would be too narrow for source code */
#define GAP 2	  /* columns between two threads */
#define DOTS ".."

struct table {
	const struct finding_timeline *t;
	const struct finding *f;
	const char *near, *root;
	const char *threads[COLUMNS];
	size_t count;
	size_t width; /* of each column, without the gap */
	bool shared;  /* several threads share the last column */
	FILE *out;
};

/* ---- cells ---- */

/* Returns the number of bytes of the first `most` characters, and stores the number of characters. */
static size_t bytes_of(const char *text, size_t most, size_t *characters)
{
	size_t at = 0, n = 0;

	for (; text[at] && n < most; n++) {
		size_t length =
			(unsigned char)text[at] < 0x80 ? 1 : rd_utf8_length((const unsigned char *)text + at);

		at += length ? length : 1;
	}
	*characters = n;
	return at;
}

static size_t length_of(const char *text)
{
	size_t characters;

	bytes_of(text, SIZE_MAX, &characters);
	return characters;
}

/* Prints a text in a column.  A text that is too long is cut. */
static void put_cell(const struct table *table, size_t column, const char *text)
{
	size_t shown, bytes, left = HEAD + column * (table->width + GAP);
	bool cut = length_of(text) > table->width;

	bytes = bytes_of(text, cut ? table->width - strlen(DOTS) : table->width, &shown);
	while (bytes && text[bytes - 1] == ' ')
		bytes--;
	fprintf(table->out, "%*s%.*s%s\n", (int)(left - HEAD), "", (int)bytes, text, cut ? DOTS : "");
}

char *timeline_source(const struct finding_frame *place, const char *root)
{
	struct rd_buf text = RD_BUF_INIT;
	const char *line = place->file && place->line && source_of(place, root, &text)
				   ? source_line(text.data, place->line)
				   : NULL;
	size_t length = 0;
	char *copy;

	line = line ? line + strspn(line, " \t") : "";
	length = strcspn(line, "\r\n");
	while (length && strchr(" \t", line[length - 1]))
		length--;
	copy = rd_xstrndup(line, length);
	for (size_t i = 0; i < length; i++)
		if (copy[i] == '\t')
			copy[i] = ' ';
	rd_buf_release(&text);
	return copy;
}

/* ---- columns ---- */

static size_t column_of(const struct table *table, const char *thread)
{
	for (size_t i = 0; i < table->count; i++)
		if (thread && table->threads[i] && !strcmp(table->threads[i], thread))
			return i;
	return table->count - 1;
}

static int compare_threads(const void *left, const void *right)
{
	const char *a = *(const char *const *)left, *b = *(const char *const *)right;

	return a && b ? rd_thread_compare(a, b) : 0;
}

static void find_columns(struct table *table)
{
	for (size_t i = 0; i < table->t->count; i++) {
		const char *thread = table->t->steps[i].thread;
		bool known = false;

		for (size_t k = 0; k < table->count; k++)
			known |= !thread || (table->threads[k] && !strcmp(table->threads[k], thread));
		if (known && table->count)
			continue;
		if (table->count < COLUMNS)
			table->threads[table->count++] = thread;
		else
			table->shared = true;
	}
	if (!table->shared)
		qsort(table->threads, table->count, sizeof *table->threads, compare_threads);
	/* Even a lone thread does not need the whole width. */
	table->width = (WIDTH - HEAD - GAP * (table->count - 1)) / (table->count > 1 ? table->count : 1);
}

static void put_heads(const struct table *table)
{
	static const char rule[] =
		"--------------------------------------------------------------------------------";
	struct rd_buf name = RD_BUF_INIT;

	fprintf(table->out, "%*s", HEAD, "");
	for (size_t i = 0; i < table->count; i++) {
		size_t shown, bytes;

		if (i + 1 == table->count && table->shared)
			rd_buf_adds(&name, "other threads");
		else
			finding_thread_name(&name, table->f, table->threads[i]);
		rd_make_printable(name.data, name.length, false);
		bytes = bytes_of(name.data, table->width, &shown);
		fprintf(table->out, "%.*s%*s", (int)bytes, name.data,
			i + 1 < table->count ? (int)(table->width - shown + GAP) : 0, "");
		rd_buf_clear(&name);
	}
	fprintf(table->out, "\n%*s", HEAD, "");
	for (size_t i = 0; i < table->count; i++)
		fprintf(table->out, "%.*s%*s", (int)table->width, rule, i + 1 < table->count ? GAP : 0, "");
	fputc('\n', table->out);
	rd_buf_release(&name);
}

/* ---- steps ---- */

static void add_place(const struct table *table, const struct finding_frame *place, struct rd_buf *cell)
{
	/* A schedule has only the names of files, without their directories. */
	if (place->file &&
	    (!table->near || strcmp(rd_base_name(place->file), rd_base_name(table->near)) != 0))
		rd_buf_addf(cell, "%s:", rd_base_name(place->file));
	if (place->line)
		rd_buf_addf(cell, "%" PRIu32 " ", place->line);
}

/* Prints a step in one row, or in two if source and event do not fit into one. */
static void put_step(const struct table *table, size_t number, const struct finding_step *step)
{
	size_t column = column_of(table, step->thread), indent;
	struct rd_buf cell = RD_BUF_INIT, event = RD_BUF_INIT;
	char *source = timeline_source(&step->place, table->root);

	if (column + 1 == table->count && table->shared) {
		finding_thread_name(&cell, table->f, step->thread);
		rd_buf_adds(&cell, ": ");
	}
	add_place(table, &step->place, &cell);
	indent = step->place.line ? strcspn(cell.data, " ") + 1 : 0;
	rd_buf_adds(&cell, *source || !step->place.function ? source : step->place.function);
	rd_buf_addf(&event, "%s%s", step->last ? "<-- " : "", step->event ? step->event : "");
	rd_make_printable(cell.data, cell.length, false);
	rd_make_printable(event.data, event.length, false);
	fprintf(table->out, "%3zu  ", number);
	if (event.length && length_of(cell.data) + GAP + length_of(event.data) <= table->width) {
		rd_buf_addf(&cell, "%*s%s",
			    (int)(table->width - length_of(cell.data) - length_of(event.data)), "",
			    event.data);
		rd_buf_clear(&event);
	}
	put_cell(table, column, cell.data);
	if (event.length) {
		rd_buf_clear(&cell);
		rd_buf_addf(&cell, "%*s%s", (int)(indent < table->width / 2 ? indent : 2), "", event.data);
		fprintf(table->out, "%*s", HEAD, "");
		put_cell(table, column, cell.data);
	}
	rd_buf_release(&cell);
	rd_buf_release(&event);
	free(source);
}

void timeline_print(const struct finding_timeline *t, const struct finding *f, const char *near,
		    const char *root, FILE *out)
{
	struct table table = {.t = t, .f = f, .near = near, .root = root, .out = out};

	if (!t->count)
		return;
	find_columns(&table);
	RD_ASSERT(table.count > 0 && table.width > strlen(DOTS));
	put_heads(&table);
	for (size_t i = 0; i < t->count; i++)
		put_step(&table, i + 1, &t->steps[i]);
}
