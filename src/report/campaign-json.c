// SPDX-License-Identifier: Apache-2.0
/*
 * Campaigns as a JSON document (doc/format/campaign-json.md).  The document omits the individual
 * runs, because the log is already in JSON.
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
	put_rate(j, "harm", &g->harm);
	rd_json_object(j, "outcomes");
	for (unsigned o = 0; o < RUNLOG_OUTCOMES; o++)
		put_outcome(j, g, o);
	rd_json_end(j);
	rd_json_end(j);
}

static void put_cell(struct rd_json *j, const struct campaign_statistics *s, const struct campaign_cell *c)
{
	RD_JSON(j, RD_JU("runs", c->runs), RD_JU("deviated", c->hits[CAMPAIGN_COVERAGE]));
	for (unsigned o = 0; o < RUNLOG_INACTIVE; o++)
		rd_json_unsigned(j, runlog_outcome_name(o), c->hits[o]);
	rd_json_object(j, "shares");
	for (unsigned m = 0; m < CAMPAIGN_MEASURES; m++) {
		struct campaign_rate rate;

		if (m == RUNLOG_INACTIVE)
			continue;
		rate = campaign_cell_rate(s, c, m);
		put_rate(j, campaign_measure_name(m), &rate);
	}
	rd_json_end(j);
}

static void put_place(struct rd_json *j, const struct campaign_statistics *s, const struct campaign_place *p)
{
	rd_json_object(j, NULL);
	rd_json_string(j, "name", p->name);
	if (p->line)
		RD_JSON(j, RD_JS("file", p->file), RD_JU("line", p->line));
	put_cell(j, s, &p->cells[0]);
	rd_json_array(j, "faults");
	for (size_t i = 1; i < p->cell_count; i++) {
		rd_json_object(j, NULL);
		rd_json_string(j, "fault", s->groups[p->cells[i].group].fault);
		put_cell(j, s, &p->cells[i]);
		rd_json_end(j);
	}
	rd_json_end(j);
	rd_json_end(j);
}

static void put_places(struct rd_json *j, const struct campaign_statistics *s, enum campaign_by by)
{
	static const char *const names[CAMPAIGN_BYS] = {"functions", "lines", "variables", "opcodes"};

	rd_json_array(j, names[by]);
	for (size_t i = 0; i < s->place_count[by]; i++)
		put_place(j, s, &s->places[by][i]);
	rd_json_end(j);
}

static void put_until(struct rd_json *j, const struct campaign_statistics *s)
{
	const struct campaign_results *r = s->results;
	bool reached = s->group_count > 1;

	if (!(r->until > 0)) {
		rd_json_null(j, "until");
		return;
	}
	for (size_t i = 1; i < s->group_count; i++)
		reached &= campaign_is_precise(s, &s->groups[i]);
	rd_json_object(j, "until");
	RD_JSON(j, RD_JD("half_width", r->until), RD_JS("outcome", runlog_outcome_name(r->until_outcome)),
		RD_JB("reached", reached));
	rd_json_end(j);
}

static void put_campaign(struct rd_json *j, const struct campaign_statistics *s)
{
	const struct campaign_results *r = s->results;

	rd_json_object(j, NULL);
	RD_JSON(j, RD_JS("directory", r->directory), RD_JS("program", r->name), RD_JS("command", r->command),
		RD_JU("runs", r->count), RD_JU("planned", r->planned), RD_JB("forced", r->forced),
		RD_JU("cut", r->cut), RD_JU("damaged", r->damaged), RD_JU("repeated", r->repeated),
		RD_JD("cpu_ms", s->cpu_ms), RD_JD("wall_ms", s->wall_ms),
		RD_JS("interval", r->until > 0 ? "confidence-sequence" : "clopper-pearson"));
	put_until(j, s);
	rd_json_array(j, "faults");
	for (size_t i = 1; i < s->group_count; i++)
		put_group(j, &s->groups[i]);
	put_group(j, &s->groups[0]);
	rd_json_end(j);
	for (unsigned by = 0; by < CAMPAIGN_BYS; by++)
		put_places(j, s, by);
	rd_json_end(j);
}

static void put_contrast(struct rd_json *j, const struct campaign_contrast *c)
{
	rd_json_object(j, NULL);
	RD_JSON(j, RD_JS("by", report_contrast_by(c)), RD_JS("name", c->place), RD_JS("fault", c->fault),
		RD_JS("measure", campaign_measure_name(c->measure)));
	put_rate(j, "baseline", &c->base);
	put_rate(j, "share", &c->rate);
	RD_JSON(j, RD_JD("difference", c->difference.value), RD_JD("low", c->difference.low),
		RD_JD("high", c->difference.high), RD_JD("p", c->difference.chance),
		RD_JD("p_holm", c->difference.adjusted),
		RD_JS("test", c->difference.exact ? "fisher" : "chi-square"),
		RD_JB("differs", campaign_differs(c)));
	rd_json_end(j);
}

static void put_against(struct rd_json *j, const struct campaign_against *a)
{
	rd_json_object(j, "against");
	RD_JSON(j, RD_JS("baseline", a->base->results->directory), RD_JS("program", a->base->results->name),
		RD_JS("command", a->base->results->command), RD_JU("runs", a->base->results->count),
		RD_JB("same_mix", a->same_proportions), RD_JU("differ", a->differ));
	rd_json_array(j, "comparisons");
	for (size_t i = 0; i < a->count; i++)
		put_contrast(j, &a->items[i]);
	rd_json_end(j);
	rd_json_end(j);
}

int report_campaign_json(const struct report_campaigns *c, FILE *out)
{
	RD_ASSERT(c->count > 0);
	struct rd_json j;

	rd_json_begin(&j, out);
	j.indent = true;
	rd_json_object(&j, NULL);
	RD_JSON(&j, RD_JN("version", 1), RD_JD("confidence", 0.95), RD_JS("interval", "clopper-pearson"));
	rd_json_array(&j, "campaigns");
	for (size_t i = 0; i < c->count; i++)
		put_campaign(&j, &c->items[i]);
	rd_json_end(&j);
	if (c->against)
		put_against(&j, c->against);
	rd_json_end(&j);
	return fflush(out) == 0 && !ferror(out) ? RD_OK : rd_fail_errno("cannot write the report");
}
