// SPDX-License-Identifier: Apache-2.0
/*
 * A heat map of the source: how vulnerable each line is to faults.  Each line that had a fault
 * shows the share of its runs that did harm, as a number with its interval and as a colour.
 * Functions and variables have a table with a column for each kind of fault.  The page's script
 * selects the outcome and the kind; without the script the page shows harm by all kinds.
 *
 * If the interval is wide, only the edge of a cell is coloured, because one crash in one run proves
 * little.  The colours have one hue and range from light to dark (on a dark page, from dark to
 * light), so their order is visible even without colour vision.  The number is always shown, too.
 *
 * Each cell carries data for the script, such as "0:25:3,25,313,120;...|2:...".  For each kind of
 * fault, this text contains the number of the kind and the number of its runs.  They are followed,
 * for each measure, by the hits, the two ends of the interval, and the share.  The last three are
 * in thousandths.
 */
#include "report/campaign-html-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "report/html-int.h"
#include "report/propagation-html-int.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Both numbers were set by hand.  A page with more lines is slow in a browser, and nobody reads a
 * table with more rows. */
#define LINES_MAX 3000 /* maximum number of source lines that are shown */
/* maximum number of functions and of variables, unless the user gives a number */
#define TABLE_ROWS 20

/* The measures, in the order of the page's menu. */
static const unsigned measures[] = {CAMPAIGN_HARM, RUNLOG_SDC, RUNLOG_CRASH, RUNLOG_HANG, RUNLOG_DETECTED};
enum { MEASURES = sizeof measures / sizeof *measures };

/* ---- cells ---- */

/* Returns the number of the colour for a share, or 0 for no colour. */
static unsigned heat(const struct campaign_rate *r)
{
	RD_ASSERT(r->runs == 0 || r->hits <= r->runs);
	static const double steps[] = {0.1, 0.25, 0.5, 0.75};
	unsigned n = 1;

	if (!r->hits)
		return 0;
	while (n <= sizeof steps / sizeof *steps && r->value > steps[n - 1])
		n++;
	return n;
}

static void put_data(FILE *out, const struct campaign_statistics *s, const struct campaign_cell *c)
{
	fprintf(out, "%zu:%" PRIu64 ":", c->group, c->runs);
	for (size_t m = 0; m < MEASURES; m++) {
		struct campaign_rate r = campaign_cell_rate(s, c, measures[m]);

		fprintf(out, "%s%" PRIu64 ",%.0f,%.0f,%.0f", m ? ";" : "", r.hits, floor(r.low * 1000),
			ceil(r.high * 1000), r.value * 1000);
	}
}

/* Writes the share and its interval in the same form in which the script writes them. */
static void put_value(FILE *out, const struct campaign_rate *r)
{
	if (r->runs)
		fprintf(out, "%.0f <small>%.0f\xe2\x80\x93%.0f</small>", 100 * r->value,
			floor(r->low * 1000) / 10, ceil(r->high * 1000) / 10);
}

/* Writes a cell that shows the first of `cells`; the script may show another one. */
static void put_cell(FILE *out, const struct campaign_statistics *s, const struct campaign_cell *cells,
		     size_t count)
{
	RD_ASSERT(count > 0);
	struct campaign_rate harm = campaign_cell_rate(s, cells, CAMPAIGN_HARM);

	fprintf(out, "<td class=\"heat h%u%s\" title=\"%" PRIu64 " of %" PRIu64 " runs\" data-v=\"",
		heat(&harm), ceil(harm.high * 1000) - floor(harm.low * 1000) > 500 ? " few" : "", harm.hits,
		harm.runs);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? "|" : "", out);
		put_data(out, s, &cells[i]);
	}
	fputs("\">", out);
	put_value(out, &harm);
	fputs("</td>", out);
}

/* ---- functions and variables ---- */

static void put_table(FILE *out, const struct campaign_statistics *s, enum campaign_by by, size_t most)
{
	fprintf(out,
		"<div class=\"wide\"><table class=\"stat\"><thead><tr><th>%s</th><th class=\"r\">Runs</th>",
		by == CAMPAIGN_BY_FUNCTION ? "Function" : "Variable");
	for (size_t g = 0; g < s->group_count; g++) {
		if (!g && !report_campaign_is_mixed(s))
			continue;
		fputs("<th>", out);
		html_text(out, report_fault_name(&s->groups[g]));
		fputs("</th>", out);
	}
	fputs("</tr></thead><tbody>\n", out);
	for (size_t i = 0; i < s->place_count[by] && i < most; i++) {
		const struct campaign_place *p = &s->places[by][i];

		fputs("<tr><th class=\"mono\">", out);
		html_text(out, p->name);
		fprintf(out, "</th><td class=\"r\">%" PRIu64 "</td>", p->cells[0].runs);
		for (size_t g = report_campaign_is_mixed(s) ? 0 : 1; g < s->group_count; g++) {
			const struct campaign_cell *c = campaign_cell(p, g);

			if (c)
				put_cell(out, s, c, 1);
			else
				fputs("<td></td>", out);
		}
		fputs("</tr>\n", out);
	}
	if (s->place_count[by] > most)
		fprintf(out, "<tr><td class=\"note\" colspan=\"2\">%zu more</td></tr>\n",
			s->place_count[by] - most);
	fputs("</tbody></table></div>\n", out);
}

/* ---- source ---- */

/* Returns the file of a place.  Without a site table, only a name such as "pca.c:88" is known, and
 * the file is the part before the colon. */
static char *file_of(const struct campaign_place *p)
{
	const char *colon = strrchr(p->name, ':');

	return p->file ? rd_xstrdup(p->file) : rd_xstrndup(p->name, colon ? (size_t)(colon - p->name) : 0);
}

static void put_row(FILE *out, const struct campaign_statistics *s, const struct propagation_row *row,
		    const struct campaign_place *place)
{
	if (row->kind == ROW_FILE) {
		fputs("<tr class=\"file\"><th colspan=\"4\">", out);
		html_text(out, row->text);
		fputs("</th></tr>\n", out);
		return;
	}
	if (row->kind == ROW_GAP) {
		fputs("<tr class=\"gap\"><td colspan=\"4\">\xe2\x8b\xae</td></tr>\n", out);
		return;
	}
	fputs("<tr>", out);
	if (place)
		put_cell(out, s, place->cells, place->cell_count);
	else
		fputs("<td></td>", out);
	fprintf(out, "<td class=\"r runs-of\">");
	if (place)
		fprintf(out, "%" PRIu64, place->cells[0].runs);
	fputs("</td><td class=\"r\">", out);
	if (row->line)
		fprintf(out, "%" PRIu32, row->line);
	fputs("</td><td class=\"code\">", out);
	html_text(out, row->text);
	fputs("</td></tr>\n", out);
}

static void put_source(FILE *out, const struct campaign_statistics *s)
{
	const struct campaign_place *places = s->places[CAMPAIGN_BY_LINE];
	size_t all = s->place_count[CAMPAIGN_BY_LINE], count = all < LINES_MAX ? all : LINES_MAX;
	struct propagation_node *nodes = rd_xcalloc(count + 1, sizeof *nodes);
	struct propagation p = {.nodes = nodes, .node_count = count};
	struct propagation_listing listing;
	const struct campaign_place **of;

	for (size_t i = 0; i < count; i++)
		nodes[i].place = (struct propagation_place){
			.file = file_of(&places[i]), .function = places[i].name, .line = places[i].line};
	propagation_listing(&listing, &p);
	of = rd_xcalloc(listing.count + 1, sizeof *of);
	for (size_t i = count; i-- > 0;) {
		RD_ASSERT(listing.node_rows[i] < listing.count);
		of[listing.node_rows[i]] = &places[i];
	}
	fputs("<div class=\"wide\"><table class=\"stat source\"><thead><tr><th>%</th><th "
	      "class=\"r\">Runs</th><th class=\"r\">Line</th><th>Source</th></tr></thead><tbody>\n",
	      out);
	for (size_t i = 0; i < listing.count; i++)
		put_row(out, s, &listing.rows[i], of[i]);
	fputs("</tbody></table></div>\n", out);
	if (count < all)
		fprintf(out, "<p class=\"note\">%zu lines with fewer harmful runs are left out.</p>\n",
			all - count);
	propagation_listing_release(&listing);
	for (size_t i = 0; i < count; i++)
		free((char *)nodes[i].place.file);
	RD_FREE(of, nodes);
}

/* ---- the heat map ---- */

/* Writes the menus.  The values of their entries are the numbers that the data of the cells
 * uses. */
static void put_choices(FILE *out, const struct campaign_statistics *s)
{
	fputs("<p class=\"tools\" hidden><select class=\"measure\" aria-label=\"outcome\">", out);
	for (size_t m = 0; m < MEASURES; m++)
		fprintf(out, "<option value=\"%zu\">%s</option>", m,
			m ? campaign_measure_name(measures[m]) : "harm (crash, hang, sdc)");
	fputs("</select> <select class=\"kind\" aria-label=\"fault in the source\"><option value=\"0\">every "
	      "fault</option>",
	      out);
	for (size_t g = 1; g < s->group_count; g++) {
		fprintf(out, "<option value=\"%zu\">", g);
		html_text(out, s->groups[g].fault);
		fputs("</option>", out);
	}
	fputs("</select></p>\n", out);
}

static void put_legend(FILE *out)
{
	static const char *const names[] = {"0",	  "up to 10 %", "up to 25 %",
					    "up to 50 %", "up to 75 %", "more"};

	fputs("<p class=\"legend\">", out);
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		fprintf(out, "<span class=\"heat h%u key\">%s</span>", i, names[i]);
	fputs("</p>\n", out);
}

void campaign_heat(FILE *out, const struct campaign_statistics *s, size_t most)
{
	fputs("<details class=\"where vulnerable\" open><summary>Vulnerability</summary>\n<p "
	      "class=\"note\">Of the "
	      "runs whose fault was activated there, the share that did harm, in percent, with its 95 % "
	      "interval; in colour where that is at most 50 points wide.</p>\n",
	      out);
	put_choices(out, s);
	put_legend(out);
	put_table(out, s, CAMPAIGN_BY_FUNCTION, most ? most : TABLE_ROWS);
	put_table(out, s, CAMPAIGN_BY_VARIABLE, most ? most : TABLE_ROWS);
	put_source(out, s);
	fputs("</details>\n", out);
}
