// SPDX-License-Identifier: Apache-2.0
/*
 * The drawings of a campaign's page.  The figure has a panel for each campaign, like figure 5 of
 * the TraceSanitizer paper.  A panel has a bar for each kind of fault.  The bar's height is the
 * fault coverage; the bar is divided by outcome and has a whisker for the confidence interval.  The
 * strip is a horizontal bar that shows how the runs with one outcome deviated.
 */
#include "report/campaign-html-int.h"

#include "base/error.h"
#include "report/html-int.h"

#include <inttypes.h>

/* Layout in pixels, chosen by eye. */
enum { LEFT = 30, TOP = 40, PLOT = 190, BELOW = 66, SLOT = 34, BAR = 23, WHISKER = 7 };

static double y_of(double share)
{
	return TOP + PLOT * (1 - share);
}

static void put_axis(FILE *out, int width)
{
	for (int i = 0; i <= 5; i++) {
		double y = y_of(i / 5.0);

		fprintf(out,
			"<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>"
			"<text class=\"tick\" x=\"%d\" y=\"%.1f\">%.1f</text>\n",
			LEFT, y, width - 4, y, LEFT - 6, y + 4, i / 5.0);
	}
}

static void put_whisker(FILE *out, const struct campaign_rate *r, double x)
{
	fprintf(out, "<path class=\"whisker\" d=\"M%.1f %.1fV%.1fM%.1f %.1fh%dM%.1f %.1fh%d\"/>\n", x,
		y_of(r->low), y_of(r->high), x - WHISKER / 2.0, y_of(r->low), WHISKER, x - WHISKER / 2.0,
		y_of(r->high), WHISKER);
}

static void put_piece(FILE *out, const struct campaign_group *g, unsigned outcome, double x, double from)
{
	const struct campaign_rate *r = &g->shown[outcome];

	RD_ASSERT(from >= 0 && from + r->value <= 1 + 1e-9); /* outcomes exclude each other */
	fprintf(out, "<rect class=\"o-%s\" x=\"%.1f\" y=\"%.2f\" width=\"%d\" height=\"%.2f\"><title>",
		runlog_outcome_name(outcome), x, y_of(from + r->value), BAR, PLOT * r->value);
	html_text(out, report_fault_name(g));
	fprintf(out,
		": %s with a deviation, %" PRIu64 " of %" PRIu64
		" runs, %.2f %% [%.2f, %.2f]</title></rect>\n",
		runlog_outcome_name(outcome), r->hits, r->runs, 100 * r->value, 100 * r->low, 100 * r->high);
}

static void put_bar(FILE *out, const struct campaign_group *g, size_t slot)
{
	double x = LEFT + (double)slot * SLOT + SLOT / 2.0, from = 0;

	for (unsigned o = 0; o < RUNLOG_INACTIVE; o++) {
		if (g->shown[o].hits)
			put_piece(out, g, o, x - BAR / 2.0, from);
		from += g->shown[o].value;
	}
	if (g->activated) {
		put_whisker(out, &g->coverage, x);
		fprintf(out, "<text class=\"value\" x=\"%.1f\" y=\"%.1f\">%.2f</text>\n", x,
			y_of(g->coverage.high) - 4, g->coverage.value);
	}
	fprintf(out, "<text class=\"fault\" transform=\"translate(%.1f %d) rotate(-48)\">", x + 4,
		TOP + PLOT + 14);
	html_text(out, report_fault_name(g));
	fputs("</text>\n", out);
}

void campaign_figure(FILE *out, const struct campaign_statistics *s)
{
	size_t bars = s->group_count > 1 ? s->group_count - 1 : 1;
	int width = LEFT + (int)bars * SLOT + 8, height = TOP + PLOT + BELOW;

	width = width < 150 ? 150 : width;
	fprintf(out,
		"<svg role=\"img\" aria-label=\"fault coverage\" class=\"fig\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\">\n<text class=\"name\" x=\"%d\" y=\"14\">",
		width, height, width, height, (width + LEFT) / 2);
	html_text(out, s->results->name);
	fputs("</text>\n", out);
	put_axis(out, width);
	for (size_t i = 1; i < s->group_count; i++)
		put_bar(out, &s->groups[i], i - 1);
	fputs("</svg>\n", out);
}

void campaign_strip(FILE *out, const struct campaign_group *g, enum runlog_outcome outcome)
{
	RD_ASSERT((unsigned)outcome < RUNLOG_OUTCOMES);
	enum { WIDTH = 180, HEIGHT = 12 };
	uint64_t all = campaign_group_count(g, outcome);
	double x = 0;

	fprintf(out, "<svg class=\"strip\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">", WIDTH, HEIGHT,
		WIDTH, HEIGHT);
	for (unsigned i = 1; i <= RUNLOG_DEVIATIONS; i++) {
		unsigned d = i % RUNLOG_DEVIATIONS; /* the deviation "none" comes last */
		double width = all ? (double)g->count[outcome][d] / (double)all * WIDTH : 0;

		if (!g->count[outcome][d])
			continue;
		fprintf(out,
			"<rect class=\"d-%s\" x=\"%.2f\" y=\"0\" width=\"%.2f\" height=\"%d\"><title>%s: "
			"%" PRIu64 " of %" PRIu64 "</title></rect>",
			runlog_deviation_name(d), x, width, HEIGHT, runlog_deviation_name(d),
			g->count[outcome][d], all);
		x += width;
	}
	fputs("</svg>", out);
}
