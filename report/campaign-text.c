// SPDX-License-Identifier: Apache-2.0
/*
 * Campaigns in a terminal.  For each campaign: a table of outcomes with their share and
 * MPFNR, the fault coverage as bars in the manner of the paper's figure 5, and the places
 * where faults did most harm.  Lines have at most 80 columns; a name that is too long is
 * cut, and control characters in names become '?'.
 */
#include "report/campaign.h"

#include "base/error.h"
#include "base/name.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define BAR 44
#define PLACES 8

/* What a bar is drawn with, and the colours of a terminal. */
static const struct mark {
	char letter;
	const char *colour, *name;
} marks[RUNLOG_INACTIVE] = {
	{'#', "\033[31m", "crash"}, {'?', "\033[35m", "hang"},	 {'!', "\033[34m", "detected"},
	{'=', "\033[33m", "SDC"},   {'-', "\033[32m", "masked"},
};
#define PLAIN "\033[0m"
#define BOLD "\033[1m"

const char *report_fault_name(const struct campaign_group *g)
{
	return g->fault ? g->fault : "all";
}

bool report_campaign_is_mixed(const struct campaign_statistics *s)
{
	return s->group_count != 2;
}

/* A name from outside in a column, cut on the left or right. */
static void put_name(FILE *out, const char *name, size_t width, bool keep_end)
{
	size_t length = strlen(name), skip = 0, shown = length < width ? length : width;

	if (keep_end && length > width)
		skip = length - width;
	for (size_t i = 0; i < shown; i++) {
		unsigned char c = (unsigned char)name[skip + i];
		bool cut = length > width && i == (keep_end ? 0 : shown - 1);

		fputc(cut ? '~' : c < 0x20 || c >= 0x7f ? '?' : c, out);
	}
	fprintf(out, "%*s", (int)(width - shown), "");
}

/* Small shares have two digits after the point: bounds of rare things matter. */
static void put_share(FILE *out, double share, int width)
{
	double percent = share * 100;

	fprintf(out, "%*.*f", width, percent > 0 && percent < 0.995 ? 2 : 1, percent);
}

/* 21 columns. */
static void put_rate(FILE *out, const struct campaign_rate *r)
{
	put_share(out, r->value, 7);
	fputs(" [", out);
	put_share(out, r->low, 4);
	fputs(", ", out);
	put_share(out, r->high, 5);
	fputs("]", out);
}

/* ---- outcomes ---- */

static void put_outcome(FILE *out, const struct campaign_group *g, unsigned outcome, bool first)
{
	uint64_t runs = campaign_group_count(g, outcome);

	if (first)
		put_name(out, report_fault_name(g), 10, false);
	else
		fprintf(out, "%10s", "");
	fprintf(out, " %-13s %8" PRIu64, runlog_outcome_name(outcome), runs);
	put_rate(out, &g->outcome[outcome]);
	if (outcome != RUNLOG_INACTIVE)
		put_rate(out, &g->mpfnr[outcome]);
	fputc('\n', out);
}

static void put_group(FILE *out, const struct campaign_group *g)
{
	bool first = true;

	for (unsigned o = 0; o < RUNLOG_OUTCOMES; o++) {
		if (!campaign_group_count(g, o))
			continue;
		put_outcome(out, g, o, first);
		first = false;
	}
}

static void put_outcomes(FILE *out, const struct campaign_statistics *s)
{
	fprintf(out, "\n%-10s %-13s %8s  %-21s %s\n", "fault", "outcome", "runs", "share, %", "MPFNR, %");
	for (size_t i = 1; i < s->group_count; i++)
		put_group(out, &s->groups[i]);
	if (report_campaign_is_mixed(s))
		put_group(out, &s->groups[0]);
}

/* ---- coverage ---- */

/* The bar's pieces end where the sum of shares, rounded, ends. */
static void put_bar(FILE *out, const struct campaign_group *g, bool colour)
{
	double sum = 0;
	int drawn = 0;

	for (unsigned o = 0; o < RUNLOG_INACTIVE; o++) {
		int until;

		sum += g->shown[o].value;
		until = (int)lround(sum * BAR);
		if (until > drawn && colour)
			fputs(marks[o].colour, out);
		for (; drawn < until && drawn < BAR; drawn++)
			fputc(marks[o].letter, out);
	}
	fputs(colour ? PLAIN : "", out);
	fprintf(out, "%*s", BAR - drawn, "");
}

static void put_coverage(FILE *out, const struct campaign_statistics *s, bool colour)
{
	fputs("\nFault coverage, % (activated faults whose run departs from the golden one)\n", out);
	for (size_t i = 1; i <= s->group_count; i++) {
		const struct campaign_group *g = &s->groups[i % s->group_count];

		if (i == s->group_count && !report_campaign_is_mixed(s))
			break;
		put_name(out, report_fault_name(g), 10, false);
		fputs(" |", out);
		put_bar(out, g, colour);
		fputs("|", out);
		if (g->activated)
			put_rate(out, &g->coverage);
		fputc('\n', out);
	}
	fprintf(out, "%11s", "");
	for (unsigned o = 0; o < RUNLOG_INACTIVE; o++)
		fprintf(out, "%s%s%c%s %s", o ? "  " : " ", colour ? marks[o].colour : "", marks[o].letter,
			colour ? PLAIN : "", marks[o].name);
	fputc('\n', out);
}

/* ---- places ---- */

static void put_places(FILE *out, const struct campaign_statistics *s, enum campaign_by by, size_t most)
{
	static const char *const names[CAMPAIGN_BYS] = {"function", "line", "opcode"};

	fprintf(out, "\n%-27s %8s %7s %6s %8s %6s %7s\n", names[by], "runs", "crash", "hang", "detected",
		"SDC", "masked");
	for (size_t i = 0; i < s->place_count[by] && i < most; i++) {
		const struct campaign_place *p = &s->places[by][i];

		put_name(out, p->name, 27, by == CAMPAIGN_BY_LINE);
		fprintf(out,
			" %8" PRIu64 " %7" PRIu64 " %6" PRIu64 " %8" PRIu64 " %6" PRIu64 " %7" PRIu64 "\n",
			p->runs, p->outcome[RUNLOG_CRASH], p->outcome[RUNLOG_HANG],
			p->outcome[RUNLOG_DETECTED], p->outcome[RUNLOG_SDC], p->outcome[RUNLOG_MASKED]);
	}
	if (s->place_count[by] > most)
		fprintf(out, "(%zu more)\n", s->place_count[by] - most);
}

/* ---- the whole ---- */

static void put_heading(FILE *out, const struct campaign_statistics *s, bool colour)
{
	const struct campaign_results *r = s->results;
	const char *what = r->command && *r->command ? r->command : r->name ? r->name : RD_UNKNOWN;
	size_t length = strlen(what);

	fputs(colour ? BOLD : "", out);
	put_name(out, what, length < 80 ? length : 80, false);
	fprintf(out, "%s\n%zu", colour ? PLAIN : "", r->count);
	if (r->planned > r->count)
		fprintf(out, " of %" PRIu64, r->planned);
	fprintf(out, " runs, %" PRIu64 " with their fault activated, %.1f CPU seconds\n",
		s->groups[0].activated, s->cpu_ms / 1000);
	if (r->forced)
		fputs("runs without a fault failed or differed: a deviation may have another cause\n", out);
	if (r->cut || r->damaged)
		fprintf(out, "%zu lines of the log are incomplete or damaged and left out\n",
			r->cut + r->damaged);
	if (r->repeated)
		fprintf(out, "%zu lines of the log are about runs that it has already and left out\n",
			r->repeated);
	if (s->groups[0].weighted)
		fputs("sampling was stratified: shares are weighted by the strata\n", out);
}

static void put_campaign(FILE *out, const struct report_campaigns *c, const struct campaign_statistics *s)
{
	put_heading(out, s, c->colour);
	if (!s->results->count)
		return;
	put_outcomes(out, s);
	put_coverage(out, s, c->colour);
	for (unsigned by = 0; by < CAMPAIGN_BYS; by++)
		put_places(out, s, by, c->places ? c->places : PLACES);
}

int report_campaign_text(const struct report_campaigns *c, FILE *out)
{
	for (size_t i = 0; i < c->count; i++) {
		if (i)
			fputs("\n\n", out);
		put_campaign(out, c, &c->items[i]);
	}
	fputs("\nIn brackets: 95 % confidence intervals (Clopper-Pearson).  MPFNR: of the runs\n"
	      "that ended so, those whose trace shows no deviation.\n",
	      out);
	return fflush(out) == 0 && !ferror(out) ? RD_OK : rd_fail_errno("report: writing");
}
