// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle predict`: the races and deadlocks that other schedules of a recorded run
 * lead to.  Nothing is run again, so nothing is confirmed: the exit status tells
 * only whether the prediction could be made.
 */
#include "cmd/cmd.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/option.h"
#include "cmd/output.h"
#include "cmd/prediction.h"

#include <inttypes.h>
#include <stdio.h>

static struct {
	bool json, verbose;
	bool count, pairs; /* numbers instead of findings */
	const char *schedules;
	uint64_t time; /* seconds; 0: no limit */
	struct predict_batch prediction;
	struct cmd_output output;
	struct cmd_filter filter;
} opt = {.time = 300, .prediction = PREDICT_BATCH_DEFAULT};

static const struct rd_option options[] = {
	RD_FLAG('v', "verbose", &opt.verbose, "show each finding in full"),
	RD_FLAG('j', "json", &opt.json, "write a JSON document"),
	RD_STRING(0, "sarif", &opt.output.sarif, "FILE", "write SARIF 2.1.0 to FILE (-: standard output)"),
	RD_STRING(0, "html", &opt.output.html, "FILE", "write an HTML page to FILE"),
	RD_STRING('o', "schedules", &opt.schedules, "DIR", "write a schedule file for each finding"),
	RD_STRING(0, "baseline", &opt.filter.baseline, "FILE", "mark findings listed in FILE as known"),
	RD_STRING(0, "suppressions", &opt.filter.suppressions, "FILE",
		  "hide findings by rules in ThreadSanitizer's syntax"),
	RD_FLAG(0, "sound-only", &opt.prediction.sound_only, "report only sound findings"),
	RD_FLAG(0, "sync-preserving", &opt.prediction.sync_preserving,
		"only findings that keep the order of critical sections"),
	RD_FLAG(0, "no-races", &opt.prediction.no_races, "do not look for races"),
	RD_FLAG(0, "no-deadlocks", &opt.prediction.no_deadlocks, "do not look for deadlocks"),
	RD_FLAG('c', "count", &opt.count, "print numbers: racy events, their locations and variables"),
	RD_FLAG(0, "count-pairs", &opt.pairs, "also count pairs of racing locations (slower)"),
	RD_NUMBER('n', "limit", &opt.prediction.limit, "COUNT", "describe at most COUNT findings (200)"),
	RD_NUMBER('w', "window", &opt.prediction.window, "EVENTS",
		  "use windows of so many events; 0: the whole trace"),
	RD_NUMBER(0, "work", &opt.prediction.work, "MILLIONS", "limit of search steps, in millions (200)"),
	RD_NUMBER(0, "time", &opt.time, "SECONDS",
		  "stop after SECONDS with what was found; 0: no limit (300)"),
	RD_FLAG('f', "force", &opt.prediction.force, "continue without meta.json or site table"),
	RD_END,
};

static const struct rd_usage usage = {
	"raddle predict [-v] [--json] [--schedules DIR] [--sound-only] TRACE",
	"Finds races and deadlocks that other schedules of a recorded run lead to, each with\n"
	"the order of operations that leads there. Sound findings keep the value of every\n"
	"read, so they can happen; the others are speculative. Nothing is run, so nothing is\n"
	"confirmed, and the exit status is 0 even if something was found. TRACE is a\n"
	"directory, or a file in the STD format of the RAPID tools.",
	options,
	"  raddle record -o trace -- ./prog\n"
	"  raddle predict -v trace\n"
	"  raddle predict --json --schedules found trace >found.json\n"
	"  raddle predict --count account.std\n",
};

static int report(const struct finding_set *set)
{
	struct report_opts how = {.colour = report_wants_colour(stdout),
				  .all = opt.verbose,
				  .baseline = opt.filter.baseline != NULL};
	int err = cmd_output_write(&opt.output, set, &how);

	if (err || cmd_output_is_stdout(&opt.output))
		return err;
	err = report_predictions(set, &how, stdout);
	cmd_prediction_rest(&opt.prediction, stdout, "described");
	return err;
}

/* A line for each model, a column for each number. */
static void print_counts(void)
{
	printf("%-16s%12s%12s%12s", "", "racy events", "locations", "variables");
	printf(opt.pairs ? "%12s%12s%12s%10s\n" : "%.0s%12s%12s%10s\n", "pairs", "deadlocks", "undecided",
	       "CPU s");
	for (unsigned i = 0; i < predict_batch_models(&opt.prediction); i++) {
		const struct predict_count *c = &opt.prediction.counts[i];
		printf("%-16s%12" PRIu64 "%12" PRIu64 "%12" PRIu64, predict_count_name(i), c->events,
		       c->locations, c->variables);
		if (opt.pairs)
			printf("%12" PRIu64, c->pairs);
		printf("%12" PRIu64 "%12" PRIu64 "%10.3f\n", c->deadlocks, c->unknown, c->event_seconds);
	}
	printf("%" PRIu64 " events that matter, of %" PRIu64 " threads; read in %.3f CPU s\n",
	       opt.prediction.considered, opt.prediction.threads, opt.prediction.reading_seconds);
}

static int count_path(const char *path)
{
	struct finding_set *set = finding_set_new();
	int damage = predict_batch_count(&opt.prediction, path, set, opt.pairs), err = damage;

	if (set->tool) {
		predict_batch_stats(&opt.prediction, set);
		if (opt.json)
			err = finding_write(set, stdout);
		else
			print_counts();
	}
	finding_set_free(set);
	return damage || err ? CMD_FAILED : CMD_OK;
}

static int predict_path(const char *path)
{
	struct finding_set *set = finding_set_new();
	int damage = predict_batch_run(&opt.prediction, path, set), err = damage;

	if (set->tool) { /* something could be read */
		finding_set_finish(set);
		predict_batch_stats(&opt.prediction, set);
		err = cmd_filter_apply(&opt.filter, set, true);
		if (!err && opt.schedules)
			err = cmd_write_schedules(set, opt.schedules);
		if (!err)
			err = report(set);
	}
	finding_set_free(set);
	return damage || err ? CMD_FAILED : CMD_OK;
}

int cmd_predict(int argc, char **argv)
{
	const char *path;
	int status = cmd_operand(argc, argv, &usage, "a trace", &path);

	if (status >= 0)
		return status;
	opt.output.json = opt.json ? "-" : NULL;
	if (cmd_prediction_check(&opt.prediction, "predict") || cmd_output_check(&opt.output, "predict"))
		return CMD_FAILED;
	if (opt.time > 1000000) {
		rd_fail(RD_EUSAGE, "predict: --time is out of range");
		return CMD_FAILED;
	}
	if (opt.time && !opt.count && !opt.pairs)
		opt.prediction.deadline_ns = rd_now_ns() + (int64_t)opt.time * 1000000000;
	if (!opt.count && !opt.pairs)
		return predict_path(path);
	if (opt.output.sarif || opt.output.html || opt.schedules || opt.filter.baseline ||
	    opt.filter.suppressions) {
		rd_fail(RD_EUSAGE, "predict: --count writes numbers only, as text or with --json");
		return CMD_FAILED;
	}
	return count_path(path);
}
