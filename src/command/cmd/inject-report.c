// SPDX-License-Identifier: Apache-2.0
/* What `raddle inject` shows.  In: fits and lines of the log.  Out: tables, for people or as JSON; those of a
 * campaign are report/campaign.h's. */
#include "cmd/inject.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/name.h"
#include "cmd/output.h"
#include "inject/results.h"
#include "report/campaign.h"
#include "report/report.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOG_NS INT64_C(10000000000) /* between lines of the log of progress */
#define SAY_NS INT64_C(500000000)   /* between estimates on the terminal */

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

/* What is known of how far a campaign is. */
struct pace {
	uint64_t expected;
	double rate, left; /* runs a second, seconds; negative: unknown */
};

static struct pace pace_of(const struct cmd_inject_summary *s)
{
	double seconds = (double)(rd_now_ns() - s->start_ns) / 1e9;
	struct pace p = {inject_campaign_expected(s->campaign), -1, -1};

	if (s->fresh && seconds > 0) {
		p.rate = (double)s->fresh / seconds;
		p.left = p.expected > s->done ? (double)(p.expected - s->done) / p.rate : 0;
	}
	return p;
}

/* One line of JSON: doc/format/campaign.md.  Progress is a courtesy: a line that cannot be written is not
 * missed. */
static void log_progress(struct cmd_inject_summary *s)
{
	struct pace p = pace_of(s);
	struct rd_json j = {0};
	char *text = NULL, now[32];
	size_t length = 0;
	FILE *out = s->log < 0 ? NULL : open_memstream(&text, &length);
	time_t t = time(NULL);
	struct tm tm;

	s->logged_ns = rd_now_ns();
	if (!out)
		return;
	strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
	rd_json_begin(&j, out);
	rd_json_object(&j, NULL);
	RD_JSON(&j, RD_JS("time", now), RD_JU("done", s->done), RD_JU("expected", p.expected),
		RD_JU("planned", s->runs));
	if (p.rate < 0)
		rd_json_null(&j, "runs_per_s");
	else
		rd_json_double(&j, "runs_per_s", p.rate);
	if (p.left < 0)
		rd_json_null(&j, "left_s");
	else
		rd_json_double(&j, "left_s", p.left);
	rd_json_object(&j, "outcomes");
	for (unsigned o = 0; o < RUNLOG_OUTCOMES; o++)
		rd_json_unsigned(&j, runlog_outcome_name(o), s->outcomes[o]);
	rd_json_end(&j);
	rd_json_end(&j);
	fclose(out);
	rd_write_all(s->log, text, length);
	free(text);
}

void cmd_inject_start(struct cmd_inject_summary *s, const char *directory,
		      const struct inject_campaign *campaign, int shard)
{
	char *path = shard < 0 ? rd_xasprintf("%s/progress", directory)
			       : rd_xasprintf("%s/progress.%d", directory, shard);

	*s = (struct cmd_inject_summary){.directory = directory,
					 .campaign = campaign,
					 .runs = inject_campaign_runs(campaign),
					 .start_ns = rd_now_ns(),
					 .log = -1,
					 .last = RD_BUF_INIT,
					 .detail = RD_BUF_INIT};
	if (s->runs > 1)
		s->log = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	s->logged_ns = s->start_ns;
	rd_progress_start(&s->progress, "injecting", s->runs);
	free(path);
}

/* "2 h 10 min", "3 min 20 s", "40 s". */
static void add_time(struct rd_buf *out, double seconds)
{
	uint64_t s = seconds < 1e9 ? (uint64_t)(seconds + 0.5) : 1000000000;

	if (s >= 3600)
		rd_buf_addf(out, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s / 60 % 60);
	else if (s >= 60)
		rd_buf_addf(out, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
	else
		rd_buf_addf(out, "%" PRIu64 " s", s);
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

/* What stands behind "injecting: 120 of 5000". */
static void say_progress(struct cmd_inject_summary *s)
{
	struct pace p = pace_of(s);

	s->said_ns = rd_now_ns();
	s->progress.total = p.expected;
	rd_buf_clear(&s->detail);
	if (p.left >= 0) {
		rd_buf_adds(&s->detail, "about ");
		add_time(&s->detail, p.left);
		rd_buf_adds(&s->detail, " left");
	}
	for (int o = 0; o < RUNLOG_OUTCOMES; o++)
		if (s->outcomes[o])
			rd_buf_addf(&s->detail, "%s%s %" PRIu64, s->detail.length ? ", " : "",
				    runlog_outcome_name(o), s->outcomes[o]);
}

void cmd_inject_count(struct cmd_inject_summary *s, const struct runlog_run *run, bool fresh)
{
	int64_t now = rd_now_ns();

	s->outcomes[run->outcome]++;
	s->done++;
	s->fresh += fresh;
	if (s->runs == 1)
		describe(run, &s->last);
	if (!fresh)
		return;
	if (s->fresh == 1 || now - s->logged_ns >= LOG_NS)
		log_progress(s);
	if (!isatty(STDERR_FILENO))
		return;
	if (now - s->said_ns >= SAY_NS)
		say_progress(s);
	rd_progress_update(&s->progress, s->done, s->detail.data);
}

void cmd_inject_release(struct cmd_inject_summary *s)
{
	rd_progress_end(&s->progress);
	if (s->log >= 0) {
		if (s->fresh)
			log_progress(s);
		close(s->log);
	}
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
	struct report_campaigns c = {.items = &statistics, .count = 1, .colour = report_wants_colour(stdout)};
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
