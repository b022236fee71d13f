// SPDX-License-Identifier: Apache-2.0
/*
 * The progress of a campaign.  In: finished runs.  Out: a line on the terminal with an estimate,
 * and lines in a file of the campaign's directory, for other programs and machines.
 */
#include "inject/progress.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json-text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Nanoseconds between two lines of the file.  A campaign that takes a day writes several thousand
 * lines. */
#define LOG_EVERY_NS INT64_C(10000000000)
/* Nanoseconds between two estimates on the terminal, so that a person can read them. */
#define SAY_EVERY_NS INT64_C(500000000)

struct inject_pace inject_pace(uint64_t fresh, double seconds, uint64_t done, uint64_t expected)
{
	struct inject_pace p = {-1, -1};

	if (fresh && seconds > 0) {
		p.rate = (double)fresh / seconds;
		p.left = expected > done ? (double)(expected - done) / p.rate : 0;
	}
	return p;
}

static struct inject_pace pace_of(const struct inject_progress *s, uint64_t expected)
{
	return inject_pace(s->fresh, (double)(rd_now_ns() - s->start_ns) / 1e9, s->done, expected);
}

/* Writes one line of JSON (doc/format/campaign.md).  If that fails, the failure is ignored, because
 * the campaign does not need the line. */
static void log_progress(struct inject_progress *s)
{
	uint64_t expected = inject_campaign_expected(s->campaign);
	struct inject_pace p = pace_of(s, expected);
	struct rd_buf line = RD_BUF_INIT;
	struct rd_json_text text;
	struct rd_json *j;
	char now[32];
	time_t t = time(NULL);
	struct tm tm;

	s->logged_ns = rd_now_ns();
	if (s->log < 0)
		return;
	strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
	j = rd_json_text_begin(&text);
	rd_json_object(j, NULL);
	RD_JSON(j, RD_JS("time", now), RD_JU("done", s->done), RD_JU("expected", expected),
		RD_JU("planned", s->runs));
	if (p.rate < 0)
		rd_json_null(j, "runs_per_s");
	else
		rd_json_double(j, "runs_per_s", p.rate);
	if (p.left < 0)
		rd_json_null(j, "left_s");
	else
		rd_json_double(j, "left_s", p.left);
	rd_json_object(j, "outcomes");
	for (unsigned o = 0; o < RUNLOG_OUTCOMES; o++)
		rd_json_unsigned(j, runlog_outcome_name(o), s->outcomes[o]);
	rd_json_end(j);
	rd_json_end(j);
	rd_json_text_end(&text, &line);
	rd_write_all(s->log, line.data, line.length);
	rd_buf_release(&line);
}

void inject_progress_start(struct inject_progress *s, const char *directory,
			   const struct inject_campaign *campaign, int shard)
{
	char *path = shard < 0 ? rd_xasprintf("%s/progress", directory)
			       : rd_xasprintf("%s/progress.%d", directory, shard);

	*s = (struct inject_progress){.campaign = campaign,
				      .runs = inject_campaign_runs(campaign),
				      .start_ns = rd_now_ns(),
				      .log = -1,
				      .detail = RD_BUF_INIT};
	if (s->runs > 1)
		s->log = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	s->logged_ns = s->start_ns;
	rd_progress_start(&s->line, "injecting", s->runs);
	free(path);
}

void inject_time_text(struct rd_buf *out, double seconds)
{
	uint64_t s = seconds < 1e9 ? (uint64_t)(seconds + 0.5) : 1000000000;

	if (s >= 3600)
		rd_buf_addf(out, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s / 60 % 60);
	else if (s >= 60)
		rd_buf_addf(out, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
	else
		rd_buf_addf(out, "%" PRIu64 " s", s);
}

/* Updates the text after "injecting: 120 of 5000". */
static void say_progress(struct inject_progress *s)
{
	uint64_t expected = inject_campaign_expected(s->campaign);
	struct inject_pace p = pace_of(s, expected);

	s->said_ns = rd_now_ns();
	s->line.total = expected;
	rd_buf_clear(&s->detail);
	if (p.left >= 0) {
		rd_buf_adds(&s->detail, "about ");
		inject_time_text(&s->detail, p.left);
		rd_buf_adds(&s->detail, " left");
	}
	for (int o = 0; o < RUNLOG_OUTCOMES; o++)
		if (s->outcomes[o])
			rd_buf_addf(&s->detail, "%s%s %" PRIu64, s->detail.length ? ", " : "",
				    runlog_outcome_name(o), s->outcomes[o]);
}

void inject_progress_count(struct inject_progress *s, const struct runlog_run *run, bool fresh)
{
	int64_t now = rd_now_ns();

	RD_ASSERT(run->outcome < RUNLOG_OUTCOMES);
	s->outcomes[run->outcome]++;
	s->done++;
	s->fresh += fresh;
	if (!fresh)
		return;
	if (s->fresh == 1 || now - s->logged_ns >= LOG_EVERY_NS)
		log_progress(s);
	if (!isatty(STDERR_FILENO))
		return;
	if (now - s->said_ns >= SAY_EVERY_NS)
		say_progress(s);
	rd_progress_update(&s->line, s->done, s->detail.data);
}

void inject_progress_release(struct inject_progress *s)
{
	rd_progress_end(&s->line);
	if (s->log >= 0) {
		if (s->fresh)
			log_progress(s);
		close(s->log);
	}
	rd_buf_release(&s->detail);
}

void inject_progress_hide(struct inject_progress *s)
{
	rd_progress_end(&s->line);
}
