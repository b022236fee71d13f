// SPDX-License-Identifier: Apache-2.0
/*
 * Selects the source lines that a page about a propagation shows.  Files are in the order in which
 * the error reached them.  For each file, the page shows the lines that the error reached, with a
 * few lines around them; gaps separate these pieces.  If a file cannot be read, each of its places
 * has a row with the name of the function instead.  The same is true of places without a file.  In:
 * nodes and ends.  Out: rows, and the row of each node and end.
 */
#include "report/propagation-html-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"
#include "base/name.h"
#include "report/html-int.h"
#include "report/source-int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Number of lines that are shown before and after a place; set by hand.  Many places of a file are
 * shown together, so each has fewer lines around it than in source.c. */
#define LINES_AROUND 2
/* maximum size of a file in bytes; a larger one is hardly a source file */
#define FILE_MAX (8 << 20)
#define LINE_SHOWN 160 /* maximum number of bytes that are shown of a line */

struct builder {
	struct propagation_listing *l;
	const struct propagation *p;
	struct rd_names files; /* the files; "" for places without a file */
	/* The names of the functions of places without a file.  Such a place has no line number, so
	 * the number of its function plus 1 is used instead. */
	struct rd_names functions;
	struct rd_umap row_of; /* maps file << 32 | line to the row + 1 */
};

/* Returns the place of a node or an end.  Nodes and ends are numbered together, from 0 to
 * node_count + end_count - 1, with the nodes first. */
static const struct propagation_place *place(const struct builder *b, size_t i)
{
	const struct propagation *p = b->p;

	return i < p->node_count ? &p->nodes[i].place : &p->ends[i - p->node_count].place;
}

static size_t place_count(const struct builder *b)
{
	return b->p->node_count + b->p->end_count;
}

static uint32_t file_of(struct builder *b, const struct propagation_place *at)
{
	const char *name = at->file && at->line ? at->file : "";

	return rd_names_put(&b->files, name, strlen(name));
}

static uint32_t line_of(struct builder *b, const struct propagation_place *at)
{
	const char *function = at->function ? at->function : RD_UNKNOWN;

	if (at->file && *at->file && at->line)
		return at->line;
	return rd_names_put(&b->functions, function, strlen(function)) + 1;
}

static struct propagation_row *add_row(struct builder *b, enum propagation_row_kind kind, uint32_t line)
{
	struct propagation_listing *l = b->l;

	RD_GROW(l->rows, l->capacity, l->count + 1);
	l->rows[l->count] = (struct propagation_row){.kind = kind, .line = line};
	return &l->rows[l->count++];
}

static int compare_lines(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Finds the lines of a file that the error reached.  Stores their numbers in `lines`, in ascending
 * order, each of them once.  Returns how many there are. */
static size_t lines_of(struct builder *b, uint32_t file, uint32_t *lines)
{
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < place_count(b); i++)
		if (file_of(b, place(b, i)) == file)
			lines[count++] = line_of(b, place(b, i));
	if (count)
		qsort(lines, count, sizeof *lines, compare_lines);
	for (size_t i = 0; i < count; i++)
		if (!kept || lines[kept - 1] != lines[i])
			lines[kept++] = lines[i];
	return kept;
}

static void name_row(struct builder *b, uint32_t file, uint32_t line)
{
	*rd_umap_put(&b->row_of, (uint64_t)file << 32 | line, NULL) = b->l->count;
}

/* ---- places whose source can be read ---- */

static void add_code(struct builder *b, const char *text, uint32_t line, bool reached)
{
	size_t length = strcspn(text, "\r\n");
	struct propagation_row *row = add_row(b, ROW_CODE, line);

	row->text = rd_xstrndup(text, length < LINE_SHOWN ? length : LINE_SHOWN);
	row->reached = reached;
}

/* Adds the rows of a file in one pass over its text.  `lines` contains the reached lines in
 * ascending order. */
static void add_source(struct builder *b, uint32_t file, const char *text, const uint32_t *lines,
		       size_t count)
{
	uint32_t number = 1, shown = 0;
	size_t next = 0;

	for (const char *s = text; *s && next < count; number++) {
		bool reached = number == lines[next];
		bool near = lines[next] <= number + LINES_AROUND ||
			    (next && number <= (uint64_t)lines[next - 1] + LINES_AROUND);

		if (near) {
			if (shown && shown + 1 < number)
				add_row(b, ROW_GAP, 0);
			add_code(b, s, number, reached);
			shown = number;
		}
		if (reached) {
			name_row(b, file, number);
			next++;
		}
		s += strcspn(s, "\n");
		s += *s == '\n';
		if (next == count) {
			for (unsigned i = 1; i <= LINES_AROUND && *s; i++) {
				add_code(b, s, number + i, false);
				s += strcspn(s, "\n");
				s += *s == '\n';
			}
		}
	}
}

static bool read_file(struct builder *b, const char *name, struct rd_buf *text)
{
	struct rd_buf path = RD_BUF_INIT;
	bool good;

	if (b->p->root && name[0] != '/')
		rd_buf_addf(&path, "%s/", b->p->root);
	rd_buf_adds(&path, name);
	good = source_read(path.data, FILE_MAX, text);
	rd_buf_release(&path);
	return good;
}

static bool has_line(const char *text, uint32_t line)
{
	for (; line > 1 && *text; line--) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return *text != '\0';
}

/* ---- places whose source cannot be read ---- */

/* Returns the function of a line whose text cannot be shown. */
static const char *function_at(struct builder *b, uint32_t file, uint32_t line)
{
	if (!*b->files.items[file])
		return b->functions.items[line - 1];
	for (size_t i = 0; i < place_count(b); i++)
		if (place(b, i)->line == line && place(b, i)->function && file_of(b, place(b, i)) == file)
			return place(b, i)->function;
	return "(source not found)";
}

static void add_places(struct builder *b, uint32_t file, const uint32_t *lines, size_t count)
{
	bool known = *b->files.items[file];

	for (size_t i = 0; i < count; i++) {
		struct propagation_row *row = add_row(b, ROW_PLACE, known ? lines[i] : 0);

		row->text = rd_xstrdup(function_at(b, file, lines[i]));
		row->reached = true;
		name_row(b, file, lines[i]);
	}
}

static void add_file(struct builder *b, uint32_t file, uint32_t *lines)
{
	const char *name = b->files.items[file];
	size_t count = lines_of(b, file, lines);
	struct rd_buf text = RD_BUF_INIT;

	add_row(b, ROW_FILE, 0)->text = rd_xstrdup(*name ? name : "outside the source");
	if (*name && read_file(b, name, &text) && has_line(text.data, lines[count - 1]))
		add_source(b, file, text.data, lines, count);
	else
		add_places(b, file, lines, count);
	rd_buf_release(&text);
}

void propagation_listing(struct propagation_listing *l, const struct propagation *p)
{
	RD_ASSERT(p->nodes != NULL || p->node_count == 0);
	struct builder b = {.l = l, .p = p};
	uint32_t *lines;

	*l = (struct propagation_listing){0};
	lines = rd_xcalloc(place_count(&b) + 1, sizeof *lines);
	l->node_rows = rd_xcalloc(p->node_count + 1, sizeof *l->node_rows);
	l->end_rows = rd_xcalloc(p->end_count + 1, sizeof *l->end_rows);
	for (size_t i = 0; i < place_count(&b); i++)
		file_of(&b, place(&b, i));
	for (uint32_t i = 0; i < b.files.count; i++)
		add_file(&b, i, lines);
	for (size_t i = 0; i < place_count(&b); i++) {
		uint64_t key = (uint64_t)file_of(&b, place(&b, i)) << 32 | line_of(&b, place(&b, i));
		size_t row = *rd_umap_get(&b.row_of, key) - 1;

		*(i < p->node_count ? &l->node_rows[i] : &l->end_rows[i - p->node_count]) = row;
	}
	rd_names_release(&b.files);
	rd_names_release(&b.functions);
	rd_umap_release(&b.row_of);
	free(lines);
}

void propagation_listing_release(struct propagation_listing *l)
{
	RD_FREE_EACH(l->rows, l->count, .text);
	RD_FREE(l->rows, l->node_rows, l->end_rows);
	*l = (struct propagation_listing){0};
}
