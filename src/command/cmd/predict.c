// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle predict`: finds races and deadlocks that happen in other schedules of a recorded run.
 * Nothing is run again, so nothing is confirmed.  The exit status shows only whether the
 * prediction could be made.
 */
#include "cmd/cmd-int.h"

#include "base/clock.h"
#include "base/error.h"
#include "cmd/output-int.h"
#include "cmd/prediction-int.h"
#include "finding/save.h"
#include "report/prediction.h"

#include <inttypes.h>
#include <stdio.h>

static const struct cmd_usage usage = {
	"raddle predict [-v] [--json[=FILE]] [-o DIR] [--sound-only] TRACE",
	"Finds races and deadlocks that other schedules of a recorded run lead to, each with\n"
	"the order of operations that leads there. Sound findings keep the value of every\n"
	"read, so they can happen; the others are speculative. Nothing is run, so nothing is\n"
	"confirmed, and the exit status is 0 even if something was found. TRACE is a\n"
	"directory, or a file in the STD format of the RAPID tools.",
	CMD_DOCUMENTS "schedules " CMD_KNOWN CMD_EFFORT "sync_preserving count count_pairs force verbose",
	"  raddle record -o trace -- ./prog\n"
	"  raddle predict -v trace\n"
	"  raddle predict --json --schedules found trace >found.json\n"
	"  raddle predict --count account.std\n",
	false,
};

static struct predict_batch prediction;

static int report(const struct finding_set *set)
{
	struct report_opts how = {
		.colour = report_wants_colour(stdout), .all = opt.verbose, .baseline = opt.baseline != NULL};
	int err = cmd_output_write(set, &how);

	if (err || cmd_output_is_stdout())
		return err;
	err = report_predictions(set, &how, stdout);
	report_prediction_rest(&prediction, stdout, "described");
	return err;
}

/* Prints the counts, with a line for each semantics and a column for each number. */
static void print_counts(void)
{
	printf("%-16s%12s%12s%12s", "", "racy events", "locations", "variables");
	printf(opt.count_pairs ? "%12s%12s%12s%10s\n" : "%.0s%12s%12s%10s\n", "pairs", "deadlocks",
	       "undecided", "CPU s");
	for (unsigned i = 0; i < predict_batch_semantics(&prediction); i++) {
		const struct predict_count *c = &prediction.counts[i];
		printf("%-16s%12" PRIu64 "%12" PRIu64 "%12" PRIu64, predict_count_name(i), c->events,
		       c->locations, c->variables);
		if (opt.count_pairs)
			printf("%12" PRIu64, c->pairs);
		printf("%12" PRIu64 "%12" PRIu64 "%10.3f\n", c->deadlocks, c->unknown, c->event_seconds);
	}
	printf("%" PRIu64 " events that matter, of %" PRIu64 " threads; read in %.3f CPU s\n",
	       prediction.considered, prediction.threads, prediction.reading_seconds);
}

static int count_path(const char *path)
{
	struct finding_set *set = finding_set_new();
	int damage = predict_batch_count(&prediction, path, set, opt.count_pairs), err = damage;

	if (set->tool) {
		predict_batch_stats(&prediction, set);
		err = cmd_write_findings(opt.json, set);
		if (!cmd_is_stdout(opt.json))
			print_counts();
	}
	finding_set_free(set);
	return damage || err ? CMD_FAILED : CMD_OK;
}

static int predict_path(const char *path)
{
	struct finding_set *set = finding_set_new();
	int damage = predict_batch_run(&prediction, path, set), err = damage;

	RD_ASSERT(damage <= 0);
	if (set->tool) { /* at least one trace could be read */
		finding_set_finish(set);
		predict_batch_stats(&prediction, set);
		err = cmd_filter_apply(set, true);
		if (!err && opt.schedules)
			err = finding_save_schedules(set, opt.schedules);
		if (!err)
			err = report(set);
	}
	finding_set_free(set);
	return damage || err ? CMD_FAILED : CMD_OK;
}

static int predict(const char *path)
{
	cmd_prediction_start(&prediction);
	if (opt.time && !opt.count && !opt.count_pairs)
		prediction.deadline_ns = rd_now_ns() + (int64_t)opt.time * 1000000;
	if (!opt.count && !opt.count_pairs)
		return predict_path(path);
	if (opt.sarif || opt.html || opt.schedules || opt.baseline || opt.suppressions) {
		rd_fail(RD_EUSAGE, "predict: --count writes numbers only, as text or with --json");
		return CMD_FAILED;
	}
	return count_path(path);
}

int cmd_predict(int argc, char **argv)
{
	return cmd_operand(argc, argv, &usage, "a trace", predict);
}
