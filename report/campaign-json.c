// SPDX-License-Identifier: Apache-2.0
/*
 * Campaigns as a JSON document (doc/format/campaign-json.md).  The runs themselves are not in
 * it: the log is JSON already.
 */
#include "report/campaign.h"

#include "base/error.h"
#include "base/json.h"

static void put_rate(struct rd_json *j, const char *name, const struct campaign_rate *r)
{
	rd_json_object(j, name);
	rd_json_unsigned(j, "hits", r->hits);
	rd_json_unsigned(j, "runs", r->runs);
	if (r->runs)
		rd_json_double(j, "value", r->value);
	else
		rd_json_null(j, "value");
	rd_json_double(j, "low", r->low);
	rd_json_double(j, "high", r->high);
	rd_json_end(j);
}

static void put_outcome(struct rd_json *j, const struct campaign_group *g, unsigned outcome)
{
	rd_json_object(j, runlog_outcome_name(outcome));
	rd_json_unsigned(j, "runs", campaign_group_count(g, outcome));
	rd_json_object(j, "deviations");
	for (unsigned d = 0; d < RUNLOG_DEVIATIONS; d++)
		rd_json_unsigned(j, runlog_deviation_name(d), g->count[outcome][d]);
	rd_json_end(j);
	put_rate(j, "share", &g->outcome[outcome]);
	put_rate(j, "mpfnr", &g->mpfnr[outcome]);
	rd_json_end(j);
}

static void put_group(struct rd_json *j, const struct campaign_group *g)
{
	rd_json_object(j, NULL);
	RD_JSON(j, RD_JS("fault", g->fault), RD_JU("runs", g->runs), RD_JU("activated", g->activated),
		RD_JB("weighted", g->weighted));
	put_rate(j, "coverage", &g->coverage);
	rd_json_object(j, "outcomes");
	for (unsigned o = 0; o < RUNLOG_OUTCOMES; o++)
		put_outcome(j, g, o);
	rd_json_end(j);
	rd_json_end(j);
}

static void put_places(struct rd_json *j, const struct campaign_statistics *s, enum campaign_by by)
{
	static const char *const names[CAMPAIGN_BYS] = {"functions", "lines", "opcodes"};

	rd_json_array(j, names[by]);
	for (size_t i = 0; i < s->place_count[by]; i++) {
		const struct campaign_place *p = &s->places[by][i];

		rd_json_object(j, NULL);
		RD_JSON(j, RD_JS("name", p->name), RD_JU("runs", p->runs), RD_JU("deviated", p->deviated));
		for (unsigned o = 0; o < RUNLOG_INACTIVE; o++)
			rd_json_unsigned(j, runlog_outcome_name(o), p->outcome[o]);
		rd_json_end(j);
	}
	rd_json_end(j);
}

static void put_campaign(struct rd_json *j, const struct campaign_statistics *s)
{
	const struct campaign_results *r = s->results;

	rd_json_object(j, NULL);
	RD_JSON(j, RD_JS("directory", r->directory), RD_JS("program", r->name), RD_JS("command", r->command),
		RD_JU("runs", r->count), RD_JU("planned", r->planned), RD_JB("forced", r->forced),
		RD_JU("cut", r->cut), RD_JU("damaged", r->damaged), RD_JU("repeated", r->repeated),
		RD_JD("cpu_ms", s->cpu_ms), RD_JD("wall_ms", s->wall_ms));
	rd_json_array(j, "faults");
	for (size_t i = 1; i < s->group_count; i++)
		put_group(j, &s->groups[i]);
	put_group(j, &s->groups[0]);
	rd_json_end(j);
	for (unsigned by = 0; by < CAMPAIGN_BYS; by++)
		put_places(j, s, by);
	rd_json_end(j);
}

int report_campaign_json(const struct report_campaigns *c, FILE *out)
{
	struct rd_json j;

	rd_json_begin(&j, out);
	j.indent = true;
	rd_json_object(&j, NULL);
	RD_JSON(&j, RD_JN("version", 1), RD_JD("confidence", 0.95), RD_JS("interval", "clopper-pearson"));
	rd_json_array(&j, "campaigns");
	for (size_t i = 0; i < c->count; i++)
		put_campaign(&j, &c->items[i]);
	rd_json_end(&j);
	rd_json_end(&j);
	return fflush(out) == 0 && !ferror(out) ? RD_OK : rd_fail_errno("report: writing");
}
