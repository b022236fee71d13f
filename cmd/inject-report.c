// SPDX-License-Identifier: Apache-2.0
/* What `raddle inject` shows.  In: fits and lines of the log.  Out: tables, for people or as JSON; those of a
 * campaign are report/campaign.h's. */
#include "cmd/inject.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "base/name.h"
#include "cmd/output.h"
#include "inject/results.h"
#include "report/campaign.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- which fit ------------------------------------------------------------------------------- */

static int list_json(const void *what, FILE *out)
{
	const struct inject_ground *ground = what;
	struct rd_json j = {.indent = true};

	rd_json_begin(&j, out);
	rd_json_object(&j, NULL);
	rd_json_number(&j, "version", 1);
	rd_json_array(&j, "kinds");
	for (size_t i = 0; i < inject_kind_count(); i++) {
		const struct inject_kind *k = inject_kind_at(i);
		struct inject_fit fit = inject_fits(ground, i);
		rd_json_object(&j, NULL);
		RD_JSON(&j, RD_JS("fault", k->name), RD_JS("group", k->group), RD_JS("meaning", k->help),
			RD_JU("sites", fit.sites), RD_JU("instances", fit.instances));
		rd_json_end(&j);
	}
	rd_json_end(&j);
	rd_json_end(&j);
	return RD_OK;
}

int cmd_inject_list(const struct inject_ground *ground, const char *json)
{
	if (json)
		return cmd_document(json, list_json, ground);
	printf("%-10s %-8s %6s %11s  %s\n", "fault", "group", "sites", "executions", "what happens");
	for (size_t i = 0; i < inject_kind_count(); i++) {
		const struct inject_kind *k = inject_kind_at(i);
		struct inject_fit fit = inject_fits(ground, i);
		if (fit.sites)
			printf("%-10s %-8s %6" PRIu64 " %11" PRIu64 "  %s\n", k->name, k->group, fit.sites,
			       fit.instances, k->help);
		else
			printf("%-10s %-8s %6s %11s  %s\n", k->name, k->group, "-", "-", k->help);
	}
	return 0;
}

/* --- runs ------------------------------------------------------------------------------------ */

void cmd_inject_start(struct cmd_inject_summary *s, const char *directory, uint64_t runs)
{
	*s = (struct cmd_inject_summary){.directory = directory, .runs = runs, .last = RD_BUF_INIT};
	rd_progress_start(&s->progress, "injecting", runs);
}

static void describe(const struct runlog_run *r, struct rd_buf *out)
{
	rd_buf_addf(out, "%s in %s at %s (%s, execution %" PRIu64 ")\n  ", r->fault,
		    r->thread ? r->thread : RD_UNKNOWN, r->where ? r->where : RD_UNKNOWN,
		    r->opcode ? r->opcode : RD_UNKNOWN, r->instance);
	if (!r->fired || !r->before || !r->after)
		rd_buf_adds(out, "did not happen\n");
	else if (r->action && !strcmp(r->action, "call"))
		rd_buf_addf(out, "the call was left out and returned %s\n", r->after);
	else
		rd_buf_addf(out, "%s became %s\n", r->before, r->after);
	rd_buf_addf(out, "outcome: %s", runlog_outcome_name(r->outcome));
	if (r->signal)
		rd_buf_addf(out, ", %s", r->signal);
	else if (r->exit >= 0)
		rd_buf_addf(out, ", exit status %" PRId64, r->exit);
	if (r->place)
		rd_buf_addf(out, " at %s", r->place);
	rd_buf_addf(out, "\nfirst deviation: %s", runlog_deviation_name(r->deviation));
	if (r->deviation_at)
		rd_buf_addf(out, " in %s at %s", r->deviation_thread ? r->deviation_thread : RD_UNKNOWN,
			    r->deviation_at);
	rd_buf_addc(out, '\n');
}

void cmd_inject_count(struct cmd_inject_summary *s, const struct runlog_run *run)
{
	s->outcomes[run->outcome]++;
	if (s->runs == 1)
		describe(run, &s->last);
	if (!isatty(STDERR_FILENO)) {
		s->done++;
		return;
	}
	rd_buf_clear(&s->detail);
	for (int o = 0; o < RUNLOG_OUTCOMES; o++)
		if (s->outcomes[o])
			rd_buf_addf(&s->detail, "%s%s %" PRIu64, s->detail.length ? ", " : "",
				    runlog_outcome_name(o), s->outcomes[o]);
	rd_progress_update(&s->progress, ++s->done, s->detail.data);
}

void cmd_inject_release(struct cmd_inject_summary *s)
{
	rd_progress_end(&s->progress);
	rd_buf_release(&s->last);
	rd_buf_release(&s->detail);
}

static int write_json(const void *what, FILE *out)
{
	return report_campaign_json(what, out);
}

int cmd_inject_report(struct cmd_inject_summary *s, const char *json, bool quiet)
{
	struct campaign_results results = EPA_RESULTS_INIT;
	struct campaign_statistics statistics;
	struct report_campaigns c = {
		.items = &statistics, .count = 1, .colour = report_wants_colour(stdout)};
	bool text = !quiet && !cmd_is_stdout(json);
	int r;

	rd_progress_end(&s->progress);
	if (text && s->runs == 1)
		fputs(s->last.data, stdout);
	if (!json && (!text || s->runs == 1))
		return 0;
	r = campaign_results_read(&results, s->directory);
	if (r)
		return r;
	campaign_statistics(&statistics, &results);
	if (text && s->runs > 1)
		r = report_campaign_text(&c, stdout);
	if (!r)
		r = cmd_document(json, write_json, &c);
	campaign_statistics_release(&statistics);
	campaign_results_release(&results);
	return r;
}
