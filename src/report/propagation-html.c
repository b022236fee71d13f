// SPDX-License-Identifier: Apache-2.0
/*
 * The page about a propagation.  It contains a summary of what happened, the graph next to the
 * source, and a table of the places that the error reached.  The table lists the places in the
 * order in which they were reached, with values and causes.  The page can be read without its
 * script, which shows the rows of a selected mark and animates the propagation.
 */
#include "report/propagation-html-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "report/html-int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* maximum number of rows of a table; set by hand, because a page with more rows is slow in a
 * browser */
#define ROWS_MAX 3000
/* Maximum number of causes that are shown in a row.  Further causes are only counted.  Set by hand,
 * so that the row stays readable. */
#define CAUSES_SHOWN 6

static void put_cell(FILE *out, const char *class, const char *text)
{
	fprintf(out, "<td class=\"%s\">", class);
	html_text(out, text);
	fputs("</td>", out);
}

/* Writes a file name without its directories, which are in the tooltip. */
static void put_file(FILE *out, const struct propagation_place *at)
{
	fputs("<td class=\"mono\" title=\"", out);
	html_text(out, at->file);
	fputs("\">", out);
	if (at->file && at->line) {
		html_text(out, rd_base_name(at->file));
		fprintf(out, ":%" PRIu32, at->line);
		if (at->column)
			fprintf(out, ":%" PRIu32, at->column);
	}
	fputs("</td>", out);
}

static void put_place(FILE *out, const struct propagation_place *at)
{
	put_file(out, at);
	put_cell(out, "mono", at->function);
	put_cell(out, "mono", at->thread);
}

/* ---- causes ---- */

/* The edges, sorted by their targets.  The edges that lead to node i are at[start[i]] ...
 * at[start[i + 1] - 1]. */
struct causes {
	size_t *start, *at;
};

static struct causes find_causes(const struct propagation *p)
{
	struct causes c = {rd_xcalloc(p->node_count + 2, sizeof *c.start),
			   rd_xcalloc(p->edge_count + 1, sizeof *c.at)};

	for (size_t i = 0; i < p->edge_count; i++)
		if (p->edges[i].to < p->node_count && p->edges[i].from < p->node_count)
			c.start[p->edges[i].to + 2]++;
	for (size_t i = 2; i < p->node_count + 2; i++)
		c.start[i] += c.start[i - 1];
	for (size_t i = 0; i < p->edge_count; i++)
		if (p->edges[i].to < p->node_count && p->edges[i].from < p->node_count)
			c.at[c.start[p->edges[i].to + 1]++] = i;
	return c;
}

static void put_causes(FILE *out, const struct propagation *p, const struct causes *c, size_t node)
{
	size_t count = c->start[node + 1] - c->start[node];

	fputs("<td>", out);
	for (size_t i = 0; i < count && i < CAUSES_SHOWN; i++) {
		const struct propagation_edge *e = &p->edges[c->at[c->start[node] + i]];

		fprintf(out, "<span class=\"via w-%s\">%zu by %s", propagation_way_name(e->way), e->from,
			propagation_way_name(e->way));
		if (e->object) {
			fputs(" <code>", out);
			html_text(out, e->object);
			fputs("</code>", out);
		}
		fputs("</span> ", out);
	}
	if (count > CAUSES_SHOWN)
		fprintf(out, "<span class=\"note\">and %zu more</span>", count - CAUSES_SHOWN);
	fputs("</td>", out);
}

/* ---- tables ---- */

static void put_node(FILE *out, const struct propagation *p, const struct causes *c, size_t number)
{
	const struct propagation_node *n = &p->nodes[number];

	fprintf(out, "<tr id=\"n%zu\"><td class=\"r\">%zu</td><td><span class=\"swatch k-", number, number);
	html_text(out, n->kind);
	fputs("\">", out);
	html_text(out, n->kind);
	fputs("</span></td>", out);
	put_place(out, &n->place);
	put_cell(out, "mono", n->what);
	put_cell(out, "mono", n->object);
	put_cell(out, "mono value", n->golden);
	put_cell(out, "mono value", n->run);
	fprintf(out, "<td class=\"r\">%" PRIu64 "</td>", n->count);
	put_causes(out, p, c, number);
	fputs("</tr>\n", out);
}

static void put_nodes(FILE *out, const struct propagation *p)
{
	struct causes c = find_causes(p);

	fputs("<section class=\"card\"><h2>In order</h2>\n<div class=\"wide\"><table class=\"stat\" "
	      "id=\"nodes\"><thead><tr>"
	      "<th "
	      "class=\"r\">#</th><th>Deviation</th><th>Place</th><th>Function</th><th>Thread</th><th>What</"
	      "th>"
	      "<th>Object</th><th>Golden</th><th>This run</th><th class=\"r\">Times</th><th>Reached "
	      "from</th></tr>"
	      "</thead><tbody>\n",
	      out);
	for (size_t i = 0; i < p->node_count && i < ROWS_MAX; i++)
		put_node(out, p, &c, i);
	fputs("</tbody></table></div>\n", out);
	if (p->node_count > ROWS_MAX)
		fprintf(out, "<p class=\"note\">%zu more are not listed.</p>\n", p->node_count - ROWS_MAX);
	fputs("</section>\n", out);
	free(c.start);
	free(c.at);
}

static void put_ends(FILE *out, const struct propagation *p)
{
	if (!p->end_count)
		return;
	fputs("<section class=\"card\"><h2>Where it was masked</h2>\n<div class=\"wide\"><table "
	      "class=\"stat\"><thead><tr>"
	      "<th>Place</th><th>Function</th><th>Thread</th><th>Object</th><th>How</th><th "
	      "class=\"r\">Times</th>"
	      "</tr></thead><tbody>\n",
	      out);
	for (size_t i = 0; i < p->end_count && i < ROWS_MAX; i++) {
		fputs("<tr>", out);
		put_place(out, &p->ends[i].place);
		put_cell(out, "mono", p->ends[i].object);
		put_cell(out, "", p->ends[i].how);
		fprintf(out, "<td class=\"r\">%" PRIu64 "</td></tr>\n", p->ends[i].count);
	}
	fputs("</tbody></table></div></section>\n", out);
}

/* ---- the page ---- */

static void put_header(FILE *out, const struct propagation *p)
{
	fputs("<header><div class=\"top\"><h1>Raddle</h1><code class=\"prog\">", out);
	html_text(out, p->run);
	fputs(" compared with ", out);
	html_text(out, p->golden);
	fputs("</code><button type=\"button\" id=\"theme\" title=\"dark or light\">Theme</button></div>\n",
	      out);
	if (!p->first) {
		fputs("<p class=\"verdict good\">No deviation</p></header>\n<main>\n", out);
		return;
	}
	fprintf(out, "<p class=\"verdict bad\">The error reached %zu place%s</p>\n<p class=\"lead\">",
		p->node_count + p->nodes_left_out, p->node_count + p->nodes_left_out == 1 ? "" : "s");
	html_text(out, p->first);
	if (p->fault) {
		fputs("<br>Injected: ", out);
		html_text(out, p->fault);
	}
	fputs("</p></header>\n<main>\n", out);
}

static void put_legend(FILE *out)
{
	static const char *const kinds[] = {"fault",   "data",	"address", "control",
					    "missing", "extra", "masked"};

	fputs("<p class=\"legend\">", out);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		fprintf(out, "<span class=\"swatch k-%s\">%s</span>", kinds[i], kinds[i]);
	for (unsigned w = 0; w < PROPAGATION_WAYS; w++)
		fprintf(out, "<span class=\"line w-%s\">%s</span>", propagation_way_name(w),
			propagation_way_name(w));
	fputs("</p>\n", out);
}

static void put_graph(FILE *out, const struct propagation *p)
{
	fputs("<section class=\"card\"><h2>Over the source</h2>\n<p class=\"note\">A column for each thread; "
	      "numbers are "
	      "the order in which places were reached.</p>\n<div class=\"tools steps\" id=\"steps\" hidden>"
	      "<button type=\"button\" id=\"back\">Back</button><button type=\"button\" "
	      "id=\"next\">Next</button>"
	      "<input type=\"range\" id=\"step\" min=\"0\" aria-label=\"step\"><span "
	      "id=\"at\"></span></div>\n",
	      out);
	propagation_graph(out, p);
	put_legend(out);
	if (p->nodes_left_out)
		fprintf(out, "<p class=\"note\">%zu more places are left out.</p>\n", p->nodes_left_out);
	fputs("</section>\n<aside id=\"panel\" hidden><button type=\"button\" id=\"close\">Close</button>"
	      "<div class=\"wide\" id=\"chosen\"></div></aside>\n",
	      out);
}

int report_propagation_html(const struct propagation *p, FILE *out)
{
	RD_ASSERT(p->golden && p->run);
	html_head(out, "Raddle: propagation of an error", propagation_style);
	put_header(out, p);
	if (p->node_count) {
		put_graph(out, p);
		put_nodes(out, p);
	}
	put_ends(out, p);
	fprintf(out, "</main>\n<footer><p>Raddle %s</p></footer>\n<script>\n%s%s</script></body></html>\n",
		RADDLE_VERSION, html_theme, propagation_script);
	return fflush(out) == 0 && !ferror(out) ? RD_OK : rd_fail_errno("cannot write the report");
}
