// SPDX-License-Identifier: Apache-2.0
/*
 * raddle check: recording, prediction, replay and classification in one command.  The code in
 * check/ does the work; this file handles the arguments, the report and the exit status.
 *
 * The first run uses Raddle's standard streams, so the report goes to stderr or to files that the
 * user named.  If a document goes to standard output, the output of the first run goes to stderr.
 */
#include "cmd/cmd-int.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/map.h"
#include "base/progress.h"
#include "check/check.h"
#include "cmd/classes-int.h"
#include "cmd/output-int.h"
#include "cmd/prediction-int.h"
#include "finding/bug.h"
#include "finding/rank.h"
#include "finding/save.h"
#include "report/check.h"
#include "run/guard.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number of nanoseconds between two progress lines in a log.  Lines at this interval are enough
 * to show that the work proceeds. */
#define LOG_NS (10 * 1000000000ll)

static const struct cmd_usage usage = {
	"raddle check [-o DIR] [--json[=FILE]] [--html FILE] [--] PROG ARGS...",
	"Runs a program built by 'raddle cc' once and records it; predicts the races and deadlocks\n"
	"that other schedules lead to; and tries each one by running the program again under that\n"
	"schedule.  Confirmed bugs are reported on standard error, with the command that\n"
	"repeats them.  For races, the report states what they do to the program, as with\n"
	"'raddle classify'.  A share of the time is used for runs under other schedules, as with\n"
	"'raddle explore'; these are analysed in the same way until they show nothing new.  The exit\n"
	"status is 1 if something was confirmed, otherwise 0; see --fail-on.  Everything is kept\n"
	"in " CMD_CHECK_DIRECTORY " unless --output names another directory.",
	"output " CMD_DOCUMENTS "coverage " CMD_KNOWN "write_baseline gen_suppressions " CMD_BESIDE
	"jobs runs strategy kernel_threads no_snapshots explore_seed no_explore no_replay no_classify "
	"no_world "
	"all_accesses require "
	"without_sync "
	"check_models coherent fail_on pass_status " CMD_EFFORT CMD_BUILD CMD_WORDS,
	"  raddle cc -g -pthread -o bank bank.c\n"
	"  raddle check -- ./bank 4\n"
	"  raddle check --baseline known.txt --sarif found.sarif -- ./bank 4\n",
	false,
};

/* ---- while it runs ---- */

/* The progress lines of a check. */
struct show {
	struct rd_progress predicting, under_way; /* `under_way` shows replays or classification */
	int64_t logged_ns;			  /* when the latest line was printed to a log */
	struct rd_names announced;		  /* ids of the bugs that were announced */
};

/* If --verbose is given and standard error is not a terminal, prints a line every LOG_NS. */
static void log_progress(struct show *s, const struct replay_progress *so_far, const char *detail)
{
	int64_t at = rd_now_ns();

	if (!opt.verbose || s->under_way.shown >= 0 || at - s->logged_ns < LOG_NS)
		return;
	s->logged_ns = at;
	rd_info("replaying: %" PRIu64 " of %" PRIu64 "  %s", so_far->done, so_far->total, detail);
}

static void show_replays(struct show *s, const struct replay_progress *so_far)
{
	char *detail = rd_xasprintf("confirmed %" PRIu64 ", at most %.0f s more", so_far->confirmed,
				    so_far->seconds_left);

	s->under_way.total = so_far->total;
	rd_progress_update(&s->under_way, so_far->done, detail);
	log_progress(s, so_far, detail);
	free(detail);
}

/* Announces the first confirmed finding of each bug.  The report at the end describes the bug. */
static void show_confirmed(struct show *s, const struct check_event *e)
{
	struct report_opts how = {.colour = report_wants_colour(stderr)};
	size_t before = s->announced.count;

	RD_ASSERT(e->finding && e->set);
	e->finding->announced = true;
	if (!*e->finding->bug)
		finding_group(e->set);
	if (rd_names_put(&s->announced, e->finding->bug, strlen(e->finding->bug)) < before)
		return;
	rd_progress_hide(&s->under_way);
	report_confirmed(e->set, e->finding, &how, stderr);
}

static void show(void *context, const struct check_event *e)
{
	struct show *s = context;

	switch (e->kind) {
	case CHECK_PREDICTING:
		if (!opt.quiet)
			rd_progress_say(&s->predicting, "predicting");
		break;
	case CHECK_PREDICTED: rd_progress_end(&s->predicting); break;
	case CHECK_REPLAYING:
		cmd_progress_start(&s->under_way, "replaying", 0);
		s->logged_ns = rd_now_ns();
		break;
	case CHECK_REPLAY_PROGRESS: show_replays(s, e->replays); break;
	case CHECK_CLASSIFYING: cmd_progress_start(&s->under_way, "classifying", 0); break;
	case CHECK_CLASSIFY_PROGRESS: cmd_classes_progress(&s->under_way, e->classes); break;
	case CHECK_REPLAYED:
	case CHECK_CLASSIFIED: rd_progress_end(&s->under_way); break;
	case CHECK_CONFIRMED: show_confirmed(s, e); break;
	}
}

/* ---- the report ---- */

static int write_documents(const struct check *c, const struct report_opts *how)
{
	char *path = check_path(c, CMD_FINDINGS_FILE);
	int err = cmd_write_findings(path, c->set);

	if (!err)
		err = cmd_output_write(c->set, how);
	if (!err)
		err = cmd_write_coverage(c->set, how, c->explored.schedules);
	if (!err && opt.write_baseline)
		err = cmd_write_baseline(c->set, opt.write_baseline);
	if (!err)
		err = cmd_write_suppressions(c->set, opt.gen_suppressions);
	free(path);
	return err;
}

static int report(struct check *c)
{
	struct report_opts how = {.colour = report_wants_colour(stderr),
				  .others = opt.verbose,
				  .ids = !strcmp(c->claim.path, CMD_CHECK_DIRECTORY),
				  .baseline = opt.baseline != NULL};
	int err;

	RD_ASSERT(c->set && c->claim.path);
	check_stats(c);
	cmd_classes_stats(c->set, &c->classes);
	err = cmd_filter_apply(c->set, true);
	if (!err)
		err = finding_save_schedules(c->set, c->claim.path);
	if (!err)
		err = write_documents(c, &how);
	if (err || opt.quiet)
		return err;
	fputc('\n', stderr);
	err = report_text(c->set, &how, stderr);
	report_check_rest(c, stderr);
	return err;
}

/* ---- the command ---- */

static int run(struct check *c)
{
	int err = cmd_filter_apply(c->set, false); /* reports an unreadable file before the run */

	if (!err)
		err = check_directory(c, opt.output ? opt.output : CMD_CHECK_DIRECTORY, !opt.output);
	if (!err)
		err = check_run(c);
	return err ? err : report(c);
}

static int check(const struct check_opts *opts, enum finding_class fail_on)
{
	struct check c;
	int err = check_open(&c, opts), status = CMD_FAILED;

	if (!err)
		err = run(&c);
	if (!err && finding_any_as_bad(c.set, fail_on))
		status = CMD_FOUND;
	else if (!err && !check_conclude(&c))
		status = opt.pass_status ? check_ending_status(&c.recorded.runs[0].ending) : CMD_OK;
	check_close(&c);
	return status;
}

/* Makes the options of check/ from those of the command line. */
static struct check_opts wishes(char **argv, struct show *s)
{
	struct check_opts o = {.argv = argv,
			       .build = {.fast = opt.fast,
					 .quick = opt.quick,
					 .often = true,
					 .verbose = opt.verbose,
					 .plugins = opt.plugins},
			       .time_ms = opt.time,
			       .timeout_ms = cmd_limit(opt.timeout, 0),
			       .runs = opt.runs,
			       .jobs = opt.jobs,
			       .with = opt.with,
			       .setup = opt.setup,
			       .output = cmd_output_is_stdout() ? STDERR_FILENO : STDOUT_FILENO,
			       .require = opt.require,
			       .without_sync = opt.without_sync,
			       .no_world = opt.no_world,
			       .all_accesses = opt.all_accesses,
			       .no_replay = opt.no_replay,
			       .no_explore = opt.no_explore,
			       .no_classify = opt.no_classify,
			       .kernel_threads = opt.kernel_threads,
			       .no_snapshots = opt.no_snapshots,
			       .quiet = opt.quiet,
			       .strategy = opt.strategy,
			       .seed = opt.explore_seed,
			       .coherent = opt.coherent,
			       .filter = {.baseline = opt.baseline, .suppressions = opt.suppressions},
			       .notify = show,
			       .context = s};

	cmd_prediction_start(&o.prediction);
	return o;
}

int cmd_check(int argc, char **argv)
{
	struct show s = {.predicting = {.shown = -1}, .under_way = {.shown = -1}};
	enum finding_class fail_on;
	struct check_opts o;
	struct cmd_words words;
	unsigned models = 0;
	int status = cmd_program(argc, argv, &usage, NULL, &words), ended;

	if (status != CMD_GO_ON)
		return status;
	if (!*words.program)
		return cmd_which("check", "program");
	if (cmd_classes_option(opt.fail_on, "check", &fail_on) || cmd_strategy("check") ||
	    cmd_classes_models(opt.check_models, "check", "--memory-models", &models))
		return CMD_FAILED;
	if (run_guard(&ended))
		return run_exit_like(ended);
	o = wishes(words.program, &s);
	o.models = models;
	status = check(&o, fail_on);
	rd_progress_end(&s.predicting);
	rd_names_release(&s.announced);
	return status;
}
