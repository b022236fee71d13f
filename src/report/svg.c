// SPDX-License-Identifier: Apache-2.0
/*
 * The schedule as a drawing.  Each thread has a column, and time runs from top to bottom.  Each
 * operation is a box.  An arrow leads from an operation to one that it enables.  The bottom shows
 * where the threads are stopped when the failure happens.
 *
 * Boxes are placed on a grid.  Row i shows operation number first + i, and the end is below the
 * last row.  Colours come from the page's style; elements refer to them by classes.
 */
#include "report/html-int.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/map.h"
#include "base/name.h"
#include "report/words-int.h"
#include "trace/words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Layout in pixels, chosen by eye. */
enum { GUTTER = 44, HEAD = 40, ROW = 30, BOX_HEIGHT = 22, END_HEIGHT = 44 };

/* The widths of a column and of a box in it, in pixels, and the maximum length of its label in
 * characters.  Columns are wide if there are few threads, and narrow otherwise, so that many fit on
 * a page. */
static const struct grid {
	int column, box;
	size_t label;
} wide = {216, 172, 23}, narrow = {150, 124, 16};

#define THREADS_WIDE 5 /* maximum number of threads for wide columns: 5 * 216 pixels fit a screen */
#define LABEL_MAX 23   /* characters in the label of a wide column */

struct drawing {
	FILE *out;
	const struct finding *f;
	const struct schedule *s;
	struct rd_names threads; /* the thread of each column */
	size_t first;		 /* the operation in the first row */
	const struct grid *grid;
};

static int column(const struct drawing *d, const char *thread)
{
	uint32_t number = 0;

	rd_names_find(&d->threads, thread, strlen(thread), &number);
	return (int)number;
}

static int middle(const struct drawing *d, int col)
{
	return GUTTER + col * d->grid->column + d->grid->column / 2;
}

static int row_y(const struct drawing *d, size_t op)
{
	return HEAD + (d->first ? ROW : 0) + (int)(op - d->first) * ROW;
}

static int end_y(const struct drawing *d)
{
	return row_y(d, d->s->op_count) + 14;
}

static int height(const struct drawing *d)
{
	return end_y(d) + END_HEIGHT + 12;
}

static void add_column(struct drawing *d, const char *thread)
{
	rd_names_put(&d->threads, thread, strlen(thread));
}

static int compare_names(const void *a, const void *b)
{
	return rd_thread_compare(*(char *const *)a, *(char *const *)b);
}

/* Orders the columns by the threads' names: T_0, T_0_2, T_0_10. */
static void find_columns(struct drawing *d)
{
	struct rd_names found = RD_NAMES_INIT;

	for (size_t i = d->first; i < d->s->op_count; i++)
		add_column(d, d->s->ops[i].thread);
	for (size_t i = 0; i < d->s->goal_count; i++)
		add_column(d, d->s->goals[i].thread);
	for (size_t i = 0; i < d->s->stop_count; i++)
		add_column(d, d->s->stops[i].thread);
	found = d->threads;
	d->threads = (struct rd_names)RD_NAMES_INIT;
	if (found.count)
		qsort(found.items, found.count, sizeof *found.items, compare_names);
	for (size_t i = 0; i < found.count; i++)
		add_column(d, found.items[i]);
	rd_names_release(&found);
}

/* Writes a label, cut to fit in its box.  It is never cut inside a UTF-8 sequence. */
static void put_label(const struct drawing *d, const char *text)
{
	size_t length = strlen(text), most = d->grid->label;
	char cut[LABEL_MAX + 1];

	if (length <= most) {
		html_text(d->out, text);
		return;
	}
	length = most - 1;
	while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--;
	memcpy(cut, text, length);
	cut[length] = '\0';
	html_text(d->out, cut);
	fputs("\xe2\x80\xa6", d->out);
}

static void put_columns(const struct drawing *d)
{
	for (size_t i = 0; i < d->threads.count; i++) {
		int x = middle(d, (int)i);
		const struct finding_thread *t = finding_thread(d->f, d->threads.items[i]);
		struct rd_buf name = RD_BUF_INIT;

		rd_buf_adds(&name, d->threads.items[i]);
		if (t && t->label)
			rd_buf_addf(&name, " %s", t->label);
		fprintf(d->out, "<line class=\"life\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>", x, HEAD - 8,
			x, end_y(d));
		fprintf(d->out, "<text class=\"head\" x=\"%d\" y=\"20\">", x);
		put_label(d, name.data);
		fputs("</text>\n", d->out);
		rd_buf_release(&name);
	}
}

static void put_tip(FILE *out, const char *words, const struct schedule_place *place)
{
	fputs("<title>", out);
	html_text(out, words);
	if (place->file) {
		fputs(" at ", out);
		html_text(out, place->file);
		if (place->line)
			fprintf(out, ":%" PRIu32, place->line);
	}
	fputs("</title>", out);
}

static void put_op(const struct drawing *d, size_t i, bool moved)
{
	static const char *const classes[] = {"other", "acq", "rel", "thr"};
	const struct schedule_op *op = &d->s->ops[i];
	int x = middle(d, column(d, op->thread)), y = row_y(d, i);
	struct rd_buf words = RD_BUF_INIT;

	fprintf(d->out, "<text class=\"num%s\" x=\"%d\" y=\"%d\">%zu</text>", moved ? " moved" : "",
		GUTTER - 8, y + 15, i + 1);
	rd_buf_addf(&words, "%s ", op->thread);
	trace_words(&words, op->kind, op->object);
	fprintf(d->out, "<g class=\"op %s%s\">", classes[word_role(op->kind)], moved ? " moved" : "");
	put_tip(d->out, words.data, &op->place);
	fprintf(d->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\"/>", x - d->grid->box / 2,
		y, d->grid->box, BOX_HEIGHT);
	fprintf(d->out, "<text x=\"%d\" y=\"%d\">", x, y + 15);
	rd_buf_clear(&words);
	trace_words_brief(&words, op->kind, op->object);
	put_label(d, words.data);
	fputs("</text></g>\n", d->out);
	rd_buf_release(&words);
}

/* ---- arrows ---- */

static bool same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* Returns true if operation j had to wait for operation i. */
static bool enables(const struct schedule_op *i, const struct schedule_op *j)
{
	if (strcmp(i->thread, j->thread) == 0)
		return false;
	if (same(i->kind, "thread-create"))
		return same(i->object, j->thread);
	if (same(j->kind, "thread-join"))
		return same(j->object, i->thread);
	return same(i->object, j->object) && word_role(i->kind) == WORD_RELEASE &&
	       word_role(j->kind) == WORD_ACQUIRE;
}

/* Returns the last operation before j that enables j, or SIZE_MAX.  The creation of a thread
 * enables only the thread's first operation. */
static size_t find_cause(const struct drawing *d, size_t j)
{
	RD_ASSERT(j < d->s->op_count);
	const struct schedule_op *ops = d->s->ops;
	bool is_first = true;

	for (size_t i = d->first; i < j; i++)
		is_first &= strcmp(ops[i].thread, ops[j].thread) != 0;
	for (size_t i = j; i-- > d->first;)
		if (enables(&ops[i], &ops[j]) && (is_first || !same(ops[i].kind, "thread-create")))
			return i;
	return SIZE_MAX;
}

static void put_arrow(const struct drawing *d, size_t i, size_t j)
{
	int a = column(d, d->s->ops[i].thread), b = column(d, d->s->ops[j].thread);
	int side = a < b ? 1 : -1;
	int x1 = middle(d, a) + side * d->grid->box / 2, y1 = row_y(d, i) + BOX_HEIGHT / 2;
	int x2 = middle(d, b) - side * (d->grid->box / 2 + 2), y2 = row_y(d, j) + BOX_HEIGHT / 2;
	int bend = side * 16;

	fprintf(d->out, "<path class=\"arrow\" d=\"M%d %dC%d %d %d %d %d %d\" marker-end=\"url(#tip)\"/>\n",
		x1, y1, x1 + bend, y1, x2 - bend, y2, x2, y2);
}

static void put_ops(const struct drawing *d)
{
	bool *moved = rd_xcalloc(d->s->op_count + 1, sizeof *moved);

	word_moved(d->s, moved);
	for (size_t j = d->first; j < d->s->op_count; j++) {
		size_t cause = find_cause(d, j);

		if (cause != SIZE_MAX)
			put_arrow(d, cause, j);
	}
	if (d->first)
		fprintf(d->out, "<text class=\"more\" x=\"%d\" y=\"%d\">%zu earlier operations</text>\n",
			GUTTER, HEAD + 15, d->first);
	for (size_t i = d->first; i < d->s->op_count; i++)
		put_op(d, i, moved[i]);
	free(moved);
}

/* ---- the end ---- */

static void put_end(const struct drawing *d, const char *thread, const char *words,
		    const struct schedule_place *place)
{
	int x = middle(d, column(d, thread)), y = end_y(d);
	struct rd_buf where = RD_BUF_INIT;

	fputs("<g class=\"op end\">", d->out);
	put_tip(d->out, words, place);
	fprintf(d->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\"/>", x - d->grid->box / 2,
		y, d->grid->box, END_HEIGHT);
	fprintf(d->out, "<text x=\"%d\" y=\"%d\">", x, y + 18);
	put_label(d, words);
	fprintf(d->out, "</text><text class=\"sub\" x=\"%d\" y=\"%d\">", x, y + 34);
	rd_buf_adds(&where, d->grid == &narrow ? "" : d->s->stop_count ? "stuck at " : "stops at ");
	word_spot(&where, place);
	put_label(d, where.data);
	fputs("</text></g>\n", d->out);
	rd_buf_release(&where);
}

/* Draws a line between the two accesses of a race.  At the end of the schedule, the threads are
 * stopped before these accesses. */
static void put_clash(const struct drawing *d)
{
	int a = column(d, d->s->goals[0].thread), b = column(d, d->s->goals[1].thread);
	int left = middle(d, a < b ? a : b) + d->grid->box / 2,
	    right = middle(d, a < b ? b : a) - d->grid->box / 2;
	int y = end_y(d) + END_HEIGHT / 2;

	if (a != b)
		fprintf(d->out, "<line class=\"clash\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n", left, y,
			right, y);
}

/* Returns the operation by which another thread took the lock that this one waits for, or SIZE_MAX
 * if there is none. */
static size_t find_owner(const struct drawing *d, const struct schedule_stop *t)
{
	for (size_t i = d->s->op_count; i-- > d->first;) {
		const struct schedule_op *op = &d->s->ops[i];

		if (same(op->object, t->object) && word_role(op->kind) == WORD_ACQUIRE &&
		    strcmp(op->thread, t->thread) != 0)
			return i;
	}
	return SIZE_MAX;
}

/* Draws an arrow from a blocked thread to the operation that took the lock it waits for. */
static void put_want(const struct drawing *d, const struct schedule_stop *t)
{
	size_t i = find_owner(d, t);

	if (i == SIZE_MAX)
		return;
	int a = column(d, t->thread), b = column(d, d->s->ops[i].thread), side = a < b ? 1 : -1;
	int x1 = middle(d, a) + side * d->grid->box / 2, y1 = end_y(d) + END_HEIGHT / 2;
	int x2 = middle(d, b) - side * (d->grid->box / 2 + 2), y2 = row_y(d, i) + BOX_HEIGHT / 2;
	int bend = side * 22;

	fprintf(d->out, "<path class=\"want\" d=\"M%d %dC%d %d %d %d %d %d\" marker-end=\"url(#want)\"/>\n",
		x1, y1, x1 + bend, y1, x2 - bend, y2, x2, y2);
}

/* Appends a text such as "free struct conn.refs".  Leaves out the place of an allocation, because
 * there is no room for it. */
static void add_goal(struct rd_buf *words, const struct schedule_goal *h, const struct finding_access *a)
{
	const char *object = h->object ? h->object : "", *place = strstr(object, " (");

	rd_buf_addf(words, "%s %.*s",
		    finding_op_name(a	       ? a->op
				    : h->write ? FINDING_WRITE
					       : FINDING_READ),
		    (int)(place ? (size_t)(place - object) : strlen(object)), object);
}

static void put_ends(const struct drawing *d)
{
	struct rd_buf words = RD_BUF_INIT;

	if (d->s->goal_count == 2)
		put_clash(d);
	for (size_t i = 0; i < d->s->stop_count; i++)
		put_want(d, &d->s->stops[i]);
	for (size_t i = 0; i < d->s->goal_count; i++) {
		const struct schedule_goal *h = &d->s->goals[i];

		rd_buf_clear(&words);
		add_goal(&words, h, i < d->f->access_count ? &d->f->accesses[i] : NULL);
		put_end(d, h->thread, words.data, &h->place);
	}
	for (size_t i = 0; i < d->s->stop_count; i++) {
		const struct schedule_stop *t = &d->s->stops[i];

		rd_buf_clear(&words);
		trace_words_brief(&words, t->kind, t->object);
		put_end(d, t->thread, words.data, &t->place);
	}
	rd_buf_release(&words);
}

void html_schedule(FILE *out, const struct finding *f, size_t steps)
{
	RD_ASSERT(steps > 0);
	struct drawing d = {.out = out, .f = f, .s = f->schedule, .threads = RD_NAMES_INIT};

	d.first = d.s->op_count > steps ? d.s->op_count - steps : 0;
	find_columns(&d);
	d.grid = d.threads.count > THREADS_WIDE ? &narrow : &wide;
	if (d.threads.count) {
		int width = GUTTER + (int)d.threads.count * d.grid->column;

		fprintf(out,
			"<div class=\"scroll\"><svg role=\"img\" aria-label=\"schedule\" width=\"%d\" "
			"height=\"%d\" viewBox=\"0 0 %d %d\">\n",
			width, height(&d), width, height(&d));
		put_columns(&d);
		put_ops(&d);
		put_ends(&d);
		fputs("</svg></div>\n", out);
	}
	rd_names_release(&d.threads);
}
