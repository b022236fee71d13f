// SPDX-License-Identifier: Apache-2.0
/*
 * Draws how the error spread, next to the source.  On the left are the lines of source, on the
 * right a column for each thread.  A mark in a thread's column shows that the error reached the
 * thread at that line.  The mark contains the number of the first node there.  Arrows connect the
 * marks.  Rows of text and drawing have the same height, so they align without a script.
 *
 * Nodes on the same line of the same thread share a mark.  Edges of the same kind between the same
 * two marks share an arrow.
 */
#include "report/propagation-html-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"
#include "base/name.h"
#include "report/html-int.h"

#include <stdlib.h>
#include <string.h>

/* The layout in pixels, chosen by eye.  ARROWS_MAX is the maximum number of arrows, because a
 * drawing with more arrows is slow in a browser. */
enum { ROW = 20, HEAD = 26, MARK = 30, MARK_HEIGHT = 16, MARGIN = 20, ARROWS_MAX = 3000 };

/* At the head of a column is the name of the thread.  LETTER is the width of a letter and GAP the
 * space between names, both in pixels.  NAME_SHOWN is the maximum number of letters of a name. */
enum { LETTER = 8, GAP = 10, NAME_SHOWN = 24 };

struct mark {
	size_t row, column, first, count; /* `first` is the lowest number of its nodes */
	bool ended;			  /* true if the error disappeared here */
	struct rd_buf nodes;		  /* the numbers of the nodes, such as "3 7 12" */
};

struct arrow {
	/* `from` and `to` are marks, `count` is the number of edges between them, and `first` is
	 * the lowest number of a node to which one of these edges leads. */
	size_t from, to, count, first;
	enum propagation_way way;
};

struct graph {
	FILE *out;
	const struct propagation *p;
	struct propagation_listing listing;
	struct rd_names threads;
	size_t *order; /* the column of each thread */
	int column;    /* the width of a column in pixels */
	struct mark *marks;
	size_t mark_count, mark_capacity;
	struct rd_umap mark_of; /* maps row * threads + column to the mark + 1 */
	size_t *node_marks;
	struct arrow *arrows;
	size_t arrow_count, arrow_capacity;
	struct rd_umap arrow_of;
};

const char *propagation_way_name(enum propagation_way way)
{
	RD_ASSERT((unsigned)way < PROPAGATION_WAYS);
	static const char *const names[PROPAGATION_WAYS] = {"register", "memory", "control",
							    "call",	"return", "thread"};

	return names[way];
}

/* ---- columns ---- */

static uint32_t thread_of(struct graph *g, const struct propagation_place *at)
{
	const char *name = at->thread ? at->thread : RD_UNKNOWN;

	return rd_names_put(&g->threads, name, strlen(name));
}

static int compare_threads(const void *a, const void *b, void *context)
{
	char *const *names = context;

	return rd_thread_compare(names[*(const size_t *)a], names[*(const size_t *)b]);
}

/* Orders the columns by the threads' names: T_0, T_0_2, T_0_10. */
static void find_columns(struct graph *g)
{
	size_t *sorted;

	for (size_t i = 0; i < g->p->node_count; i++)
		thread_of(g, &g->p->nodes[i].place);
	for (size_t i = 0; i < g->p->end_count; i++)
		thread_of(g, &g->p->ends[i].place);
	sorted = rd_xcalloc(g->threads.count + 1, sizeof *sorted);
	g->order = rd_xcalloc(g->threads.count + 1, sizeof *g->order);
	for (size_t i = 0; i < g->threads.count; i++)
		sorted[i] = i;
	qsort_r(sorted, g->threads.count, sizeof *sorted, compare_threads, g->threads.items);
	for (size_t i = 0; i < g->threads.count; i++)
		g->order[sorted[i]] = i;
	g->column = g->threads.count <= 4 ? 110 : g->threads.count <= 10 ? 74 : 52;
	for (size_t i = 0; i < g->threads.count; i++) {
		int length = (int)strnlen(g->threads.items[i], NAME_SHOWN);

		if (g->column < length * LETTER + GAP)
			g->column = length * LETTER + GAP;
	}
	free(sorted);
}

static int x_of(const struct graph *g, size_t column)
{
	return MARGIN + (int)column * g->column + g->column / 2;
}

static int y_of(size_t row)
{
	return HEAD + (int)row * ROW + ROW / 2;
}

/* ---- marks and arrows ---- */

static struct mark *mark_at(struct graph *g, const struct propagation_place *at, size_t row)
{
	size_t column = g->order[thread_of(g, at)];
	uint64_t *number = rd_umap_put(&g->mark_of, row * g->threads.count + column, NULL);

	if (!*number) {
		RD_GROW(g->marks, g->mark_capacity, g->mark_count + 1);
		g->marks[g->mark_count] = (struct mark){.row = row, .column = column, .nodes = RD_BUF_INIT};
		*number = ++g->mark_count;
	}
	return &g->marks[*number - 1];
}

static void find_marks(struct graph *g)
{
	g->node_marks = rd_xcalloc(g->p->node_count + 1, sizeof *g->node_marks);
	for (size_t i = 0; i < g->p->node_count; i++) {
		struct mark *m = mark_at(g, &g->p->nodes[i].place, g->listing.node_rows[i]);

		if (!m->count++)
			m->first = i;
		rd_buf_addf(&m->nodes, "%s%zu", m->nodes.length ? " " : "", i);
		g->node_marks[i] = (size_t)(m - g->marks);
	}
	for (size_t i = 0; i < g->p->end_count; i++)
		mark_at(g, &g->p->ends[i].place, g->listing.end_rows[i])->ended = true;
}

static void find_arrows(struct graph *g)
{
	for (size_t i = 0; i < g->p->edge_count; i++) {
		const struct propagation_edge *e = &g->p->edges[i];
		size_t from, to;
		uint64_t *number;

		if (e->from >= g->p->node_count || e->to >= g->p->node_count)
			continue;
		from = g->node_marks[e->from];
		to = g->node_marks[e->to];
		if (from == to)
			continue;
		number = rd_umap_put(&g->arrow_of, (from * g->mark_count + to) * PROPAGATION_WAYS + e->way,
				     NULL);
		if (!*number) {
			RD_GROW(g->arrows, g->arrow_capacity, g->arrow_count + 1);
			g->arrows[g->arrow_count] =
				(struct arrow){.from = from, .to = to, .first = e->to, .way = e->way};
			*number = ++g->arrow_count;
		}
		g->arrows[*number - 1].count++;
		if (e->to < g->arrows[*number - 1].first)
			g->arrows[*number - 1].first = e->to;
	}
}

/* ---- drawing ---- */

static void put_columns(const struct graph *g, int height)
{
	for (size_t i = 0; i < g->threads.count; i++) {
		int x = x_of(g, g->order[i]);

		fprintf(g->out,
			"<line class=\"life\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/><text class=\"head\" "
			"x=\"%d\" "
			"y=\"17\">",
			x, HEAD, x, height, x);
		html_text(g->out, g->threads.items[i]);
		fputs("</text>\n", g->out);
	}
	for (size_t i = 0; i < g->listing.count; i++)
		if (g->listing.rows[i].reached)
			fprintf(g->out,
				"<rect class=\"lane\" x=\"0\" y=\"%d\" width=\"100%%\" height=\"%d\"/>\n",
				HEAD + (int)i * ROW, ROW);
}

/* Draws an arrow.  Within a column it bends to the side; between columns it connects their nearest
 * edges. */
static void put_path(const struct graph *g, const struct arrow *a)
{
	const struct mark *from = &g->marks[a->from], *to = &g->marks[a->to];
	int x1 = x_of(g, from->column), y1 = y_of(from->row), x2 = x_of(g, to->column), y2 = y_of(to->row);

	if (from->column == to->column) {
		int side = a->way == PROPAGATION_REGISTER || a->way == PROPAGATION_CONTROL ? -1 : 1;
		int reach = abs(y2 - y1) / 6 + 14, most = g->column / 2 - 6;
		int x = x1 + side * (MARK / 2), bend = x1 + side * (MARK / 2 + (reach < most ? reach : most));

		fprintf(g->out, "M%d %dC%d %d %d %d %d %d", x, y1, bend, y1, bend, y2, x, y2);
	} else {
		int side = x2 > x1 ? 1 : -1;
		int a1 = x1 + side * (MARK / 2), a2 = x2 - side * (MARK / 2 + 1), half = (a2 - a1) / 2;

		fprintf(g->out, "M%d %dC%d %d %d %d %d %d", a1, y1, a1 + half, y1, a2 - half, y2, a2, y2);
	}
}

static void put_arrows(const struct graph *g)
{
	for (size_t i = 0; i < g->arrow_count && i < ARROWS_MAX; i++) {
		const struct arrow *a = &g->arrows[i];
		const char *way = propagation_way_name(a->way);
		bool crosses = g->marks[a->from].column != g->marks[a->to].column;

		fprintf(g->out,
			"<path class=\"w w-%s%s\" data-from=\"%zu\" data-to=\"%zu\" data-n=\"%zu\" d=\"", way,
			crosses ? " cross" : "", a->from, a->to, a->first);
		put_path(g, a);
		fprintf(g->out, "\" marker-end=\"url(#tip-%s)\"><title>%s: %zu to %zu</title></path>\n", way,
			way, g->marks[a->from].first, g->marks[a->to].first);
	}
}

/* Writes the tooltip of a mark. */
static void put_tip(const struct graph *g, const struct mark *m)
{
	const struct propagation_node *n = &g->p->nodes[m->first];

	fputs("<title>", g->out);
	if (m->count) {
		fprintf(g->out, "%zu: ", m->first);
		html_text(g->out, n->kind);
		fputs(" ", g->out);
		html_text(g->out, n->what);
		fputs(" ", g->out);
		html_text(g->out, n->object);
		if (n->golden || n->run) {
			fputs(" ", g->out);
			html_text(g->out, n->golden ? n->golden : "-");
			fputs(" became ", g->out);
			html_text(g->out, n->run ? n->run : "-");
		}
	}
	if (m->ended)
		fputs(m->count ? "; masked here" : "masked here", g->out);
	fputs("</title>", g->out);
}

static void put_mark(const struct graph *g, size_t number)
{
	const struct mark *m = &g->marks[number];
	int x = x_of(g, m->column), y = y_of(m->row);

	if (m->count) {
		fprintf(g->out, "<g class=\"mark k-");
		html_text(g->out, g->p->nodes[m->first].kind);
		fprintf(g->out, "%s\" tabindex=\"0\" data-mark=\"%zu\" data-n=\"%zu\" data-nodes=\"%s\">",
			m->first ? "" : " origin", number, m->first, m->nodes.data);
	} else {
		fprintf(g->out, "<g class=\"mark k-masked\" data-mark=\"%zu\" data-n=\"0\" data-nodes=\"\">",
			number);
	}
	put_tip(g, m);
	if (m->count > 1) /* a second box shows that there are more nodes */
		fprintf(g->out,
			"<rect class=\"more\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"8\"/>",
			x - MARK / 2 + 3, y - MARK_HEIGHT / 2 + 3, MARK, MARK_HEIGHT);
	fprintf(g->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"8\"/>", x - MARK / 2,
		y - MARK_HEIGHT / 2, MARK, MARK_HEIGHT);
	if (m->count)
		fprintf(g->out, "<text x=\"%d\" y=\"%d\">%zu</text>", x, y + 4, m->first);
	else
		fprintf(g->out, "<path class=\"tick\" d=\"M%d %dl3 3l6 -7\"/>", x - 4, y);
	if (m->ended && m->count)
		fprintf(g->out, "<circle class=\"done\" cx=\"%d\" cy=\"%d\" r=\"4\"/>", x + MARK / 2,
			y - MARK_HEIGHT / 2 + 1);
	fputs("</g>\n", g->out);
}

static void put_tips(FILE *out)
{
	fputs("<defs>", out);
	for (unsigned w = 0; w < PROPAGATION_WAYS; w++)
		fprintf(out,
			"<marker id=\"tip-%s\" class=\"t-%s\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" "
			"markerWidth=\"6\" markerHeight=\"6\" orient=\"auto\"><path d=\"M0 0L8 4L0 "
			"8z\"/></marker>",
			propagation_way_name(w), propagation_way_name(w));
	fputs("</defs>\n", out);
}

static void put_drawing(const struct graph *g)
{
	int width = 2 * MARGIN + (int)g->threads.count * g->column;
	int height = HEAD + (int)g->listing.count * ROW + 4;

	fprintf(g->out,
		"<svg role=\"img\" aria-label=\"propagation\" class=\"ways\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\">\n",
		width, height, width, height);
	put_tips(g->out);
	put_columns(g, height);
	put_arrows(g);
	for (size_t i = 0; i < g->mark_count; i++)
		put_mark(g, i);
	fputs("</svg>", g->out);
}

static void put_row(FILE *out, const struct propagation_row *row)
{
	static const char *const classes[] = {
		[ROW_FILE] = "file", [ROW_CODE] = "code", [ROW_GAP] = "gap", [ROW_PLACE] = "code only"};

	fprintf(out, "<div class=\"row %s%s\">", classes[row->kind], row->reached ? " hit" : "");
	if (row->line)
		fprintf(out, "<i>%u</i>", (unsigned)row->line);
	else if (row->kind != ROW_FILE)
		fputs("<i></i>", out);
	if (row->kind == ROW_GAP)
		fputs("\xe2\x8b\xaf", out);
	fputs("<span>", out); /* tabs are counted from here */
	html_text(out, row->text);
	fputs("</span></div>\n", out);
}

void propagation_graph(FILE *out, const struct propagation *p)
{
	RD_ASSERT(p->node_count > 0 || p->edge_count == 0);
	struct graph g = {.out = out, .p = p};

	propagation_listing(&g.listing, p);
	find_columns(&g);
	find_marks(&g);
	find_arrows(&g);
	fputs("<div class=\"graph\"><div class=\"listing\"><div class=\"row top\"></div>\n", out);
	for (size_t i = 0; i < g.listing.count; i++)
		put_row(out, &g.listing.rows[i]);
	fputs("</div><div class=\"drawing\">\n", out);
	put_drawing(&g);
	fputs("</div></div>\n", out);
	if (g.arrow_count > ARROWS_MAX)
		fprintf(out, "<p class=\"note\">%zu of %zu arrows are drawn.</p>\n", (size_t)ARROWS_MAX,
			g.arrow_count);
	for (size_t i = 0; i < g.mark_count; i++)
		rd_buf_release(&g.marks[i].nodes);
	RD_FREE(g.marks, g.arrows, g.order, g.node_marks);
	rd_names_release(&g.threads);
	RD_UMAP_RELEASE(&g.mark_of, &g.arrow_of);
	propagation_listing_release(&g.listing);
}
