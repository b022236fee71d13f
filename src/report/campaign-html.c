// SPDX-License-Identifier: Apache-2.0
/*
 * The self-contained page of campaigns.  The figure and the tables can be read without the script.
 * The list of runs needs the script, since there may be very many runs.  Everything from a log
 * either passes through html_text() or is data for the script, which adds it to the page as text.
 */
#include "report/campaign-html-int.h"

#include "base/error.h"
#include "report/html-int.h"

#include <inttypes.h>
#include <string.h>

/* Number of rows of a table, unless the user gives a number.  Set by hand, so that the rows fit on
 * a screen. */
#define PLACES_SHOWN 20

static void put_header(FILE *out, const struct report_campaigns *c)
{
	size_t runs = 0;
	uint64_t blind = 0, harm = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct campaign_group *g = &c->items[i].groups[0];

		runs += c->items[i].results->count;
		harm += campaign_group_count(g, RUNLOG_CRASH) + campaign_group_count(g, RUNLOG_SDC);
		blind += g->count[RUNLOG_CRASH][RUNLOG_NONE] + g->count[RUNLOG_SDC][RUNLOG_NONE];
	}
	fputs("<header><div class=\"top\"><h1>Raddle</h1><code class=\"prog\">fault injection", out);
	for (size_t i = 0; i < c->count; i++) {
		fputs(i ? ", " : ": ", out);
		html_text(out, c->count > 1 ? c->items[i].results->name : c->items[i].results->command);
	}
	fprintf(out,
		"</code><button type=\"button\" id=\"theme\" title=\"dark or light\">Theme</button></div>\n"
		"<p class=\"verdict\">%zu run%s</p>\n<p class=\"lead\">%" PRIu64
		" crashed or gave wrong output; ",
		runs, runs == 1 ? "" : "s", harm);
	if (blind)
		fprintf(out, "<b>%" PRIu64 " of these show no deviation in their trace</b>.</p>", blind);
	else
		fputs("each of these shows in its trace where it departs from the golden run.</p>", out);
	fputs("</header>\n<main>\n", out);
}

/* Writes a coloured square for each outcome or deviation. */
static void put_legend(FILE *out, const char *prefix, const char *(*name)(unsigned), unsigned count)
{
	fputs("<p class=\"legend\">", out);
	for (unsigned i = 0; i < count; i++)
		fprintf(out, "<span class=\"swatch %s-%s\">%s</span>", prefix, name(i), name(i));
	fputs("</p>\n", out);
}

static const char *outcome_name(unsigned i)
{
	return runlog_outcome_name(i);
}

static const char *deviation_name(unsigned i)
{
	return runlog_deviation_name(i);
}

static void put_figure(FILE *out, const struct report_campaigns *c)
{
	fputs("<section class=\"card\"><h2>Fault coverage</h2>\n<p class=\"note\">Of the runs whose fault "
	      "was "
	      "activated, those whose trace departs from the golden one, by outcome; whiskers are 95 % "
	      "confidence intervals of the whole bar (Clopper-Pearson, unless stated otherwise).</p>\n<div "
	      "class=\"figs\">\n",
	      out);
	for (size_t i = 0; i < c->count; i++)
		campaign_figure(out, &c->items[i]);
	fputs("</div>\n", out);
	put_legend(out, "o", outcome_name, RUNLOG_INACTIVE);
	fputs("</section>\n", out);
}

/* ---- tables ---- */

static void put_percent(FILE *out, double share)
{
	fprintf(out, "%.*f", share > 0 && share < 0.00995 ? 2 : 1, 100 * share);
}

static void put_rate(FILE *out, const struct campaign_rate *r)
{
	if (!r->runs) {
		fputs("<td class=\"r\"></td><td class=\"ci\"></td>", out);
		return;
	}
	fputs("<td class=\"r\">", out);
	put_percent(out, r->value);
	fputs("</td><td class=\"ci\">", out);
	put_percent(out, r->low);
	fputs("\xe2\x80\x93", out);
	put_percent(out, r->high);
	fputs("</td>", out);
}

static void put_row(FILE *out, const struct campaign_group *g, unsigned outcome, bool first)
{
	fprintf(out, "<tr%s><th>", first ? " class=\"first\"" : "");
	html_text(out, first ? report_fault_name(g) : "");
	fprintf(out, "</th><td><span class=\"swatch o-%s\">%s</span></td><td class=\"r\">%" PRIu64 "</td>",
		runlog_outcome_name(outcome), runlog_outcome_name(outcome), campaign_group_count(g, outcome));
	put_rate(out, &g->outcome[outcome]);
	fputs("<td>", out);
	if (outcome != RUNLOG_INACTIVE)
		campaign_strip(out, g, outcome);
	fputs("</td>", out);
	put_rate(out, outcome == RUNLOG_INACTIVE ? &(struct campaign_rate){0} : &g->mpfnr[outcome]);
	fputs("</tr>\n", out);
}

static void put_group(FILE *out, const struct campaign_group *g)
{
	bool first = true;

	fputs("<tbody>", out);
	for (unsigned o = 0; o < RUNLOG_OUTCOMES; o++) {
		if (!campaign_group_count(g, o))
			continue;
		put_row(out, g, o, first);
		first = false;
	}
	fputs("</tbody>\n", out);
}

static void put_outcomes(FILE *out, const struct campaign_statistics *s)
{
	fputs("<div class=\"wide\"><table class=\"stat\"><thead><tr><th>Fault</th><th>Outcome</th><th "
	      "class=\"r\">Runs"
	      "</th><th class=\"r\">Share&nbsp;%</th><th>95 %</th><th>First deviation</th><th class=\"r\">"
	      "<abbr title=\"maximal possible false negative rate: runs with this outcome whose trace shows "
	      "no "
	      "deviation\">MPFNR</abbr>&nbsp;%</th><th>95 %</th></tr></thead>\n",
	      out);
	for (size_t i = 1; i < s->group_count; i++)
		put_group(out, &s->groups[i]);
	if (report_campaign_is_mixed(s))
		put_group(out, &s->groups[0]);
	fputs("</table></div>\n", out);
	put_legend(out, "d", deviation_name, RUNLOG_DEVIATIONS);
}

static void put_place(FILE *out, const struct campaign_place *p)
{
	enum { WIDTH = 90 };
	const struct campaign_cell *c = p->cells;
	double x = 0;

	fputs("<tr><th class=\"mono\">", out);
	html_text(out, p->name);
	fprintf(out,
		"</th><td class=\"r\">%" PRIu64 "</td><td><svg class=\"strip\" width=\"%d\" height=\"12\">",
		c->runs, WIDTH);
	for (unsigned o = 0; o < RUNLOG_INACTIVE; o++) {
		double width = (double)c->hits[o] / (double)c->runs * WIDTH;

		if (c->hits[o])
			fprintf(out,
				"<rect class=\"o-%s\" x=\"%.2f\" y=\"0\" width=\"%.2f\" "
				"height=\"12\"><title>%s: "
				"%" PRIu64 "</title></rect>",
				runlog_outcome_name(o), x, width, runlog_outcome_name(o), c->hits[o]);
		x += width;
	}
	fputs("</svg></td></tr>\n", out);
}

static void put_places(FILE *out, const struct report_campaigns *c, const struct campaign_statistics *s)
{
	static const char *const names[CAMPAIGN_BYS] = {"Function", "Line", "Variable", "Opcode"};
	size_t most = c->places ? c->places : PLACES_SHOWN;

	fputs("<details class=\"where\"><summary>Where the faults were</summary><div class=\"places\">\n",
	      out);
	for (unsigned by = 0; by < CAMPAIGN_BYS; by++) {
		fprintf(out,
			"<table class=\"stat\"><thead><tr><th>%s</th><th "
			"class=\"r\">Runs</th><th>Outcomes</th>"
			"</tr></thead><tbody>\n",
			names[by]);
		for (size_t i = 0; i < s->place_count[by] && i < most; i++)
			put_place(out, &s->places[by][i]);
		if (s->place_count[by] > most)
			fprintf(out, "<tr><td colspan=\"3\" class=\"note\">%zu more</td></tr>\n",
				s->place_count[by] - most);
		fputs("</tbody></table>\n", out);
	}
	fputs("</div></details>\n", out);
}

static void put_notes(FILE *out, const struct campaign_statistics *s)
{
	const struct campaign_results *r = s->results;

	fprintf(out, "<p class=\"note\">%zu", r->count);
	if (r->planned > r->count)
		fprintf(out, " of %" PRIu64, r->planned);
	fprintf(out, " runs, %" PRIu64 " with their fault activated, %.1f CPU seconds.",
		s->groups[0].activated, s->cpu_ms / 1000);
	if (s->groups[0].weighted)
		fputs(" Sampling was stratified: shares are weighted by the strata.", out);
	if (r->until > 0)
		fprintf(out,
			" Runs continue until the share of %s is known to \xc2\xb1%g %%: intervals are "
			"valid at every "
			"number of runs.",
			runlog_outcome_name(r->until_outcome), 100 * r->until);
	if (r->forced)
		fputs(" <b>Runs without a fault failed or differed: a deviation may have another cause.</b>",
		      out);
	if (r->cut + r->damaged)
		fprintf(out, " %zu lines of the log are incomplete or damaged and left out.",
			r->cut + r->damaged);
	fputs("</p>\n", out);
}

static void put_campaign(FILE *out, const struct report_campaigns *c, const struct campaign_statistics *s)
{
	fputs("<section class=\"card\"><h2>", out);
	html_text(out, s->results->name);
	fputs(" <code>", out);
	html_text(out, s->results->command);
	fputs("</code></h2>\n", out);
	put_notes(out, s);
	if (s->results->count) {
		put_outcomes(out, s);
		campaign_heat(out, s, c->places);
		put_places(out, c, s);
	}
	fputs("</section>\n", out);
}

/* ---- comparison ---- */

static void put_contrast(FILE *out, const struct campaign_contrast *c)
{
	const struct campaign_difference *d = &c->difference;

	fprintf(out, "<tr%s><th class=\"mono\">", campaign_differs(c) ? " class=\"differs\"" : "");
	html_text(out, c->place ? c->place : c->fault ? c->fault : "all");
	fprintf(out, "</th><td>%s</td>", campaign_measure_name(c->measure));
	put_rate(out, &c->base);
	put_rate(out, &c->rate);
	fprintf(out,
		"<td class=\"r\">%+.1f</td><td class=\"ci\">%+.1f to %+.1f</td><td class=\"r\">%.2g</td><td "
		"class=\"r\">%.2g</td><td>%s</td></tr>\n",
		100 * d->value, 100 * d->low, 100 * d->high, d->chance, d->adjusted,
		campaign_differs(c) ? "differs" : "");
}

/* Writes one family of tests.  For places, writes all places that differ and a few others. */
static void put_family(FILE *out, const struct report_campaigns *c, unsigned by)
{
	const struct campaign_against *a = c->against;
	size_t others = by == CAMPAIGN_WHOLE ? SIZE_MAX : c->places ? c->places : PLACES_SHOWN, shown = 0;

	for (size_t i = 0; i < a->count; i++) {
		if (a->items[i].by != by || (!campaign_differs(&a->items[i]) && !others))
			continue;
		if (!shown++)
			fprintf(out,
				"<div class=\"wide\"><table class=\"stat\"><thead><tr><th>By "
				"%s</th><th>Outcome</th><th class=\"r\">Base&nbsp;%%</th><th>95 %%</th><th "
				"class=\"r\">Now&nbsp;%%</th><th>95 %%</th><th "
				"class=\"r\">Points</th><th>95 %%</th><th class=\"r\">p</th><th "
				"class=\"r\">Holm</th><th></th></tr></thead><tbody>\n",
				by == CAMPAIGN_WHOLE ? "fault" : campaign_by_name(by));
		others -= !campaign_differs(&a->items[i]);
		put_contrast(out, &a->items[i]);
	}
	if (shown)
		fputs("</tbody></table></div>\n", out);
}

static void put_against(FILE *out, const struct report_campaigns *c)
{
	const struct campaign_against *a = c->against;

	fputs("<section class=\"card\"><h2>Against ", out);
	html_text(out, a->base->results->directory);
	fputs(" <code>", out);
	html_text(out, a->base->results->command);
	fprintf(out,
		"</code></h2>\n<p class=\"note\">%zu of %zu shares differ at 5 %%, by %s with Holm's "
		"correction "
		"for each table; intervals of differences are Newcombe's.%s%s</p>\n",
		a->differ, a->count,
		a->base->groups[0].weighted || a->with->groups[0].weighted
			? "chi-square tests with effective sizes"
			: "Fisher's exact test",
		a->same_program ? "" : " These are different programs: places are matched by name.",
		a->same_proportions
			? ""
			: " The campaigns do not have the same kinds of fault in the same proportions: "
			  "only the kinds that both have are compared.");
	put_family(out, c, CAMPAIGN_WHOLE);
	for (unsigned by = 0; by < CAMPAIGN_BYS; by++)
		put_family(out, c, by);
	fputs("</section>\n", out);
}

/* ---- runs ---- */

static void put_runs(FILE *out, const struct report_campaigns *c)
{
	size_t shown, all;

	fputs("<section class=\"card\" id=\"list\"><h2>Runs</h2>\n<noscript><p class=\"note\">The list of "
	      "runs needs "
	      "the page's script.</p></noscript>\n<div class=\"tools\"><input id=\"filter\" type=\"search\" "
	      "placeholder=\"Filter: function, file, thread, opcode, signal\" aria-label=\"filter\">"
	      "<span id=\"choices\"></span></div>\n<p class=\"note\" id=\"found\"></p>\n<div "
	      "class=\"wide\"><table "
	      "class=\"stat runs\"><thead id=\"head\"></thead><tbody id=\"rows\"></tbody></table></div>\n"
	      "<p><button type=\"button\" id=\"more\" hidden>More</button></p>\n</section>\n",
	      out);
	campaign_runs(out, c, &shown, &all);
	if (shown < all)
		fprintf(out, "<p class=\"note\">%zu of %zu runs are in this page; the log has all.</p>\n",
			shown, all);
}

int report_campaign_html(const struct report_campaigns *c, FILE *out)
{
	RD_ASSERT(c->count > 0);
	html_head(out, "Raddle: fault injection", campaign_style);
	put_header(out, c);
	if (c->against)
		put_against(out, c);
	put_figure(out, c);
	for (size_t i = 0; i < c->count; i++)
		put_campaign(out, c, &c->items[i]);
	put_runs(out, c);
	fprintf(out, "</main>\n<footer><p>Raddle %s</p></footer>\n<script>\n%s%s</script></body></html>\n",
		RADDLE_VERSION, html_theme, campaign_script);
	return fflush(out) == 0 && !ferror(out) ? RD_OK : rd_fail_errno("cannot write the report");
}
