// SPDX-License-Identifier: Apache-2.0
/*
 * Campaigns in a terminal.  Each campaign has a table of outcomes with their shares and MPFNR.  The
 * fault coverage follows as bars (like figure 5 of the TraceSanitizer paper), and then the places
 * where faults did most harm.  Lines have at most 80 columns.  Names that are too long are cut, and
 * control characters in names become '?'.  If two campaigns are compared, only the comparison is
 * shown.
 */
#include "report/campaign.h"

#include "base/error.h"
#include "base/name.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* maximum width of a bar in columns; with its labels a line has less than 80 */
#define BAR 44
#define PLACES_SHOWN 8 /* number of rows of a table, unless the user gives a number; set by hand */

/* The character and the terminal colour of each part of a bar. */
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

/* Writes an untrusted name.  If the name is wider than its column, cuts off its beginning or its
 * end. */
static void put_name(FILE *out, const char *name, size_t width, bool keep_end)
{
	RD_ASSERT(width > 0);
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

/* Writes a share.  Small shares have two decimals, because the bounds of rare outcomes matter. */
static void put_share(FILE *out, double share, int width)
{
	double percent = share * 100;

	fprintf(out, "%*.*f", width, percent > 0 && percent < 0.995 ? 2 : 1, percent);
}

/* Writes a rate, in 21 columns. */
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

/* Writes a bar.  Each piece of the bar ends at the sum of the shares up to that piece, rounded to a
 * column. */
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

static void put_place(FILE *out, const struct campaign_statistics *s, const struct campaign_place *p,
		      enum campaign_by by)
{
	static const unsigned shown[] = {RUNLOG_CRASH, RUNLOG_HANG, RUNLOG_DETECTED, RUNLOG_SDC,
					 RUNLOG_MASKED};
	static const int widths[] = {7, 5, 6, 6, 7};
	const struct campaign_cell *c = p->cells;
	struct campaign_rate harm = campaign_cell_rate(s, c, CAMPAIGN_HARM);

	put_name(out, p->name, 20, by == CAMPAIGN_BY_LINE);
	fprintf(out, "%7" PRIu64, c->runs);
	for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
		fprintf(out, "%*" PRIu64, widths[i], c->hits[shown[i]]);
	put_rate(out, &harm);
	fputc('\n', out);
}

static void put_places(FILE *out, const struct campaign_statistics *s, enum campaign_by by, size_t most)
{
	fprintf(out, "\n%-20s%7s%7s%5s%6s%6s%7s  %s\n", campaign_by_name(by), "runs", "crash", "hang", "det.",
		"SDC", "masked", "harm, %");
	for (size_t i = 0; i < s->place_count[by] && i < most; i++)
		put_place(out, s, &s->places[by][i], by);
	if (s->place_count[by] > most)
		fprintf(out, "(%zu more)\n", s->place_count[by] - most);
}

/* ---- a campaign ---- */

/* Writes the requested precision, and the kinds of fault that have not reached it. */
static void put_until(FILE *out, const struct campaign_statistics *s)
{
	const struct campaign_results *r = s->results;
	size_t missing = 0;

	fprintf(out, "runs until the share of %s is known to +-%g %%", runlog_outcome_name(r->until_outcome),
		r->until * 100);
	for (size_t i = 1; i < s->group_count; i++)
		missing += !campaign_is_precise(s, &s->groups[i]);
	if (missing || s->group_count < 2)
		fprintf(out, "; not reached yet%s", missing < s->group_count - 1 ? " for all faults" : "");
	fputc('\n', out);
}

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
		fprintf(out, "%zu lines of the log repeat runs and are left out\n", r->repeated);
	if (s->groups[0].weighted)
		fputs("sampling was stratified: shares are weighted by the strata\n", out);
	if (r->until > 0)
		put_until(out, s);
}

static void put_campaign(FILE *out, const struct report_campaigns *c, const struct campaign_statistics *s)
{
	put_heading(out, s, c->colour);
	if (!s->results->count)
		return;
	put_outcomes(out, s);
	put_coverage(out, s, c->colour);
	for (unsigned by = 0; by < CAMPAIGN_BYS; by++)
		put_places(out, s, by, c->places ? c->places : PLACES_SHOWN);
}

/* ---- comparison ---- */

static void put_command(FILE *out, const char *mark, const struct campaign_results *r)
{
	const char *what = r->command && *r->command ? r->command : r->name;
	size_t length = strlen(what);

	fprintf(out, "%-9s ", mark);
	put_name(out, what, length < 46 ? length : 46, false);
	fprintf(out, ", %zu runs\n", r->count);
}

static void put_chance(FILE *out, double p)
{
	if (p < 0.0001)
		fputs(" <0.0001", out);
	else
		fprintf(out, " %7.4f", p);
}

/* Writes two names and their shares, in at most 78 columns. */
static void put_contrast(FILE *out, const struct campaign_contrast *c)
{
	const struct campaign_difference *d = &c->difference;

	if (c->place)
		put_name(out, c->place, 19, c->by == CAMPAIGN_BY_LINE);
	else
		put_name(out, c->fault ? c->fault : "all", 10, false);
	put_name(out, "", 1, false);
	put_name(out, campaign_measure_name(c->measure), c->place ? 4 : 13, false);
	fprintf(out, "%6.1f%6.1f  %+6.1f [%+6.1f,%+6.1f]", 100 * c->base.value, 100 * c->rate.value,
		100 * d->value, 100 * d->low, 100 * d->high);
	put_chance(out, d->chance);
	put_chance(out, d->adjusted);
	fputs(campaign_differs(c) ? " *\n" : "\n", out);
}

/* Prints one family of comparisons.  Comparisons by fault are all printed.  Of the comparisons by
 * place, only as many are printed as the user requested, beginning with those that differ
 * significantly. */
static void put_family(FILE *out, const struct report_campaigns *c, unsigned by)
{
	const struct campaign_against *a = c->against;
	size_t most = by == CAMPAIGN_WHOLE ? SIZE_MAX
		      : c->places	   ? c->places
					   : PLACES_SHOWN,
	       all = 0, shown = 0;

	for (size_t i = 0; i < a->count; i++)
		all += a->items[i].by == by;
	if (!all)
		return;
	fprintf(out, "\n%-24s%6s%6s  %-22s%8s%8s\n", by == CAMPAIGN_WHOLE ? "fault" : campaign_by_name(by),
		"base,%", "now,%", "now - base, points", "p", "Holm");
	for (int differs = 1; differs >= 0; differs--)
		for (size_t i = 0; i < a->count && shown < most; i++)
			if (a->items[i].by == by &&
			    (by == CAMPAIGN_WHOLE ? differs : campaign_differs(&a->items[i]) == differs)) {
				put_contrast(out, &a->items[i]);
				shown++;
			}
	if (shown < all)
		fprintf(out, "(%zu more)\n", all - shown);
}

static void put_against(FILE *out, const struct report_campaigns *c)
{
	const struct campaign_against *a = c->against;

	put_command(out, "baseline:", a->base->results);
	put_command(out, "now:", a->with->results);
	if (!a->same_program)
		fputs("These are different programs: places are matched by name.\n", out);
	if (!a->same_proportions)
		fputs("The campaigns do not have the same kinds of fault in the same proportions: only\n"
		      "the kinds that both have are compared.  --fault KIND compares places, too.\n",
		      out);
	put_family(out, c, CAMPAIGN_WHOLE);
	for (unsigned by = 0; by < CAMPAIGN_BYS; by++)
		put_family(out, c, by);
	if (!a->count) {
		fputs("\nNothing differs: each share is 0, or 100 %, in both campaigns.\n", out);
		return;
	}
	fprintf(out, "\n%zu of %zu shares differ (*) at 5 %%, by ", a->differ, a->count);
	fputs(a->base->groups[0].weighted || a->with->groups[0].weighted
		      ? "chi-square tests with effective\nsizes"
		      : "Fisher's exact test",
	      out);
	fputs(" with Holm's\ncorrection for each table.  In brackets: 95 % intervals (Newcombe).\n", out);
}

/* ---- the report ---- */

static void put_legend(FILE *out, const struct report_campaigns *c)
{
	size_t until = 0;

	for (size_t i = 0; i < c->count; i++)
		until += c->items[i].results->until > 0;
	fprintf(out, "\nIn brackets: 95 %% confidence intervals (%s).\n",
		!until		    ? "Clopper-Pearson"
		: until == c->count ? "valid at every number of runs"
				    : "Clopper-Pearson; --until: valid at every number of runs");
	fputs("MPFNR: of the runs with that outcome, those whose trace shows no deviation.\n"
	      "Harm: crash, hang or SDC.\n",
	      out);
}

int report_campaign_text(const struct report_campaigns *c, FILE *out)
{
	RD_ASSERT(c->count > 0);
	for (size_t i = 0; i < c->count && !c->against; i++) {
		if (i)
			fputs("\n\n", out);
		put_campaign(out, c, &c->items[i]);
	}
	if (c->against)
		put_against(out, c);
	else
		put_legend(out, c);
	return fflush(out) == 0 && !ferror(out) ? RD_OK : rd_fail_errno("cannot write the report");
}
