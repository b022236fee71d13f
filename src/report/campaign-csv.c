// SPDX-License-Identifier: Apache-2.0
/*
 * Campaigns as CSV (RFC 4180; doc/format/campaign-csv.md), for R, pandas and spreadsheets.  The
 * tables are in long format, with one share or one comparison per row.
 */
#include "report/campaign.h"

#include "base/error.h"

#include <inttypes.h>
#include <string.h>

const char *report_contrast_by(const struct campaign_contrast *c)
{
	return c->by == CAMPAIGN_WHOLE ? "campaign" : campaign_by_name(c->by);
}

/* ---- fields ---- */

/* Writes a text as a field.  Control characters, which names from outside may contain, become
 * '?'. */
static void put_text(FILE *out, const char *text, char end)
{
	bool quoted = text && strpbrk(text, ",\"") != NULL;

	if (quoted)
		fputc('"', out);
	for (; text && *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"')
			fputc('"', out);
		fputc(c < 0x20 || c == 0x7f ? '?' : c, out);
	}
	if (quoted)
		fputc('"', out);
	fputc(end, out);
}

static void put_count(FILE *out, uint64_t count)
{
	fprintf(out, "%" PRIu64 ",", count);
}

static void put_end(FILE *out)
{
	fputs("\r\n", out);
}

/* Writes the fields hits, runs, share, low and high.  If there are no runs, the field of the share
 * is empty. */
static void put_rate(FILE *out, const struct campaign_rate *r)
{
	put_count(out, r->hits);
	put_count(out, r->runs);
	if (r->runs)
		fprintf(out, "%.9g", r->value);
	fprintf(out, ",%.9g,%.9g,", r->low, r->high);
}

/* ---- shares ---- */

struct row {
	const struct campaign_statistics *s;
	const char *by;
	const struct campaign_place *place; /* the place; NULL for the whole campaign */
	const char *fault;
};

static void put_share(FILE *out, const struct row *row, unsigned measure, const struct campaign_rate *r)
{
	const struct campaign_results *of = row->s->results;

	put_text(out, of->directory, ',');
	put_text(out, of->name, ',');
	put_text(out, row->by, ',');
	put_text(out, row->place ? row->place->name : NULL, ',');
	put_text(out, row->place && row->place->file ? row->place->file : NULL, ',');
	if (row->place && row->place->line)
		fprintf(out, "%" PRIu32, row->place->line);
	fputc(',', out);
	put_text(out, row->fault ? row->fault : "all", ',');
	put_text(out, campaign_measure_name(measure), ',');
	put_rate(out, r);
	fputs(of->until > 0 ? "confidence-sequence" : "clopper-pearson", out);
	put_end(out);
}

static void put_groups(FILE *out, const struct campaign_statistics *s)
{
	for (size_t i = 0; i < s->group_count; i++) {
		struct row row = {s, "campaign", NULL, s->groups[i].fault};

		for (unsigned m = 0; m < CAMPAIGN_MEASURES; m++)
			put_share(out, &row, m, campaign_group_rate(&s->groups[i], m));
	}
}

static void put_place(FILE *out, const struct campaign_statistics *s, const struct campaign_place *p,
		      unsigned by)
{
	for (size_t i = 0; i < p->cell_count; i++) {
		RD_ASSERT(p->cells[i].group < s->group_count);
		struct row row = {s, campaign_by_name(by), p, s->groups[p->cells[i].group].fault};

		for (unsigned m = 0; m < CAMPAIGN_MEASURES; m++) {
			struct campaign_rate rate;

			if (m == RUNLOG_INACTIVE)
				continue;
			rate = campaign_cell_rate(s, &p->cells[i], m);
			put_share(out, &row, m, &rate);
		}
	}
}

static void put_campaign(FILE *out, const struct campaign_statistics *s)
{
	put_groups(out, s);
	for (unsigned by = 0; by < CAMPAIGN_BYS; by++)
		for (size_t i = 0; i < s->place_count[by]; i++)
			put_place(out, s, &s->places[by][i], by);
}

/* ---- comparisons ---- */

static void put_contrast(FILE *out, const struct campaign_contrast *c)
{
	const struct campaign_difference *d = &c->difference;

	put_text(out, report_contrast_by(c), ',');
	put_text(out, c->place, ',');
	put_text(out, c->fault ? c->fault : "all", ',');
	put_text(out, campaign_measure_name(c->measure), ',');
	put_rate(out, &c->base);
	put_rate(out, &c->rate);
	fprintf(out, "%.9g,%.9g,%.9g,%.9g,%.9g,%s,%s", d->value, d->low, d->high, d->chance, d->adjusted,
		d->exact ? "fisher" : "chi-square", campaign_differs(c) ? "yes" : "no");
	put_end(out);
}

int report_campaign_csv(const struct report_campaigns *c, FILE *out)
{
	RD_ASSERT(c->count > 0);
	if (c->against) {
		fputs("by,name,fault,measure,base_hits,base_runs,base_share,base_low,base_high,hits,runs,"
		      "share,low,high,difference,difference_low,difference_high,p,p_holm,test,differs\r\n",
		      out);
		for (size_t i = 0; i < c->against->count; i++)
			put_contrast(out, &c->against->items[i]);
	} else {
		fputs("campaign,program,by,name,file,line,fault,measure,hits,runs,share,low,high,"
		      "interval\r\n",
		      out);
		for (size_t i = 0; i < c->count; i++)
			put_campaign(out, &c->items[i]);
	}
	return fflush(out) == 0 && !ferror(out) ? RD_OK : rd_fail_errno("cannot write the report");
}
