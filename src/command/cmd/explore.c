// SPDX-License-Identifier: Apache-2.0
/*
 * raddle explore: runs a program under many schedules that Raddle generates, and reports those in
 * which it fails.
 *
 * The program's output is captured, not shown.  The report goes to stderr or to files that the user
 * named.
 */
#include "cmd/cmd-int.h"

#include "base/alloc.h"
#include "base/claim.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/option.h"
#include "base/process.h"
#include "base/progress.h"
#include "cmd/findings-int.h"
#include "cmd/led-int.h"
#include "cmd/output-int.h"
#include "cmd/slurm-int.h"
#include "base/stranger.h"
#include "explore/ctest-run.h"
#include "explore/explore.h"
#include "explore/log.h"
#include "finding/save.h"
#include "report/explore.h"
#include "sketch/story.h"
#include "run/jobs.h"
#include "run/orphan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number of schedules on a cluster if the user does not give one.  They take some minutes on
 * 16 machines. */
#define CLUSTER_SCHEDULES 5000

static const struct cmd_usage usage = {
	"raddle explore [--json[=FILE]] [--] PROG ARGS...",
	"Runs a program built by 'raddle cc' again and again, one thread at a time, under schedules\n"
	"that are drawn at random.  A run fails if it crashes, fails an assertion, deadlocks or hangs,\n"
	"if it uses freed memory, or if it ends with a status other than 0 although the default\n"
	"schedule ends with 0; with --fail-if, a command decides instead.  The schedule of a failure is\n"
	"reduced to the few decisions that are needed, run three more times, and reported on standard\n"
	"error with the command that repeats it.  The exit status is 1 if there is a failure,\n"
	"otherwise 0.\n"
	"Schedules, and a log of all runs, are written to " CMD_EXPLORE_DIRECTORY
	" unless --output names another\n"
	"directory.  --resume DIR continues an exploration that was ended or killed.",
	"output resume shard executor shards slurm_options ctest tests_regex " CMD_DOCUMENTS
	"coverage schedules_most strategy points kernel_threads no_snapshots explore_seed fail_if "
	"go_on " CMD_BESIDE "jobs class_time plugins " CMD_WORDS,
	"  raddle cc -g -pthread -o bank bank.c\n"
	"  raddle explore -- ./bank 4\n"
	"  raddle explore --time 10m --all --seed 7 -- ./bank 4\n"
	"  raddle explore --ctest build -R queue --time 1m\n"
	"  raddle explore --resume raddle-explore --time 8h -n 1000000\n",
	false,
};

/* The part of an exploration that this process does.  On a cluster, it first runs EXPLORE_FIRST
 * schedules, because the shards build on their results.  Later it collects the results of the
 * shards. */
enum part { ALL, FIRST, COLLECT };

struct task {
	enum part part;
	unsigned shard, shards; /* the numbers of --shard I/N; 0 without it */
	struct finding_set *set;
	struct cmd_led led;
	struct explore_result result;
	struct rd_progress bar;
	char **argv;
	struct rd_claim claim; /* the claim on the directory */
	char *log;
	struct rd_arena *arena; /* contains the texts from the log */
};

int cmd_strategy(const char *command)
{
	if (!opt.strategy || explore_is_strategy(opt.strategy))
		return RD_OK;
	return rd_fail(RD_EUSAGE, "%s: --strategy is walk, pct, pos, weighted, round or kinds, not %s",
		       command, opt.strategy);
}

/* Checks --points.  The value may come from a log, which may name a kind that this version does not
 * know. */
static int check_points(void)
{
	if (!opt.points || explore_is_points(opt.points))
		return RD_OK;
	return rd_fail(RD_EUSAGE, "explore: --points is operations, racy or accesses, not %s", opt.points);
}

/* ---- running ---- */

static void show(void *context, const struct explore_progress *so_far)
{
	struct task *t = context;
	char text[120];

	snprintf(text, sizeof text, "%" PRIu64 " different, %" PRIu64 " failures", so_far->different,
		 so_far->failures);
	rd_progress_update(&t->bar, so_far->schedules, text);
}

/* Returns the number of schedules that the user wants.  If it is 0, the exploration ends when new
 * schedules show nothing new. */
static uint64_t wanted(void)
{
	return opt.schedules_most == RD_OPTION_UNSET ? 0 : opt.schedules_most;
}

static int explore(struct task *t)
{
	struct explore how = {.runs = cmd_led_runs(&t->led),
			      .jobs = run_jobs(opt.jobs, opt.with || opt.setup),
			      .seed = opt.explore_seed,
			      .most = t->part == FIRST ? EXPLORE_FIRST : wanted(),
			      .time_ns = rd_ms_to_ns(opt.class_time),
			      .strategy = opt.strategy,
			      .points = opt.points,
			      .fail_if = opt.fail_if,
			      .log = t->log,
			      .resume = opt.resume || t->part == COLLECT,
			      .collect = t->part == COLLECT,
			      .shard = t->shard,
			      .shards = t->shards,
			      .go_on = opt.go_on,
			      .progress = show,
			      .context = t};
	int err;

	cmd_progress_start(&t->bar, "schedules", how.most);
	err = explore_run(&how, t->set, &t->result);
	rd_progress_end(&t->bar);
	return err;
}

/* ---- the report ---- */

/* Writes the document in which `raddle replay` finds ids. */
static int write_findings(const struct task *t)
{
	char *path = rd_xasprintf("%s/" CMD_FINDINGS_FILE, t->claim.path);
	int err = cmd_write_findings(path, t->set);

	free(path);
	return err;
}

static int report(struct task *t)
{
	struct report_opts how = {.colour = report_wants_colour(stderr),
				  .others = opt.verbose,
				  .ids = !strcmp(t->claim.path, CMD_EXPLORE_DIRECTORY)};
	struct replay_conditions runs = cmd_led_runs(&t->led);
	int err = RD_OK;

	RD_ASSERT(!t->shards && t->claim.path);
	report_explore_numbers(t->set, &t->result);
	finding_set_finish(t->set);
	if (t->result.stop != EXPLORE_INTERRUPTED)
		story_tell(&runs, t->set);
	if (t->set->count)
		err = finding_save_schedules(t->set, t->claim.path);
	if (!err)
		err = write_findings(t);
	if (!err)
		err = cmd_output_write(t->set, &how);
	if (!err)
		err = cmd_write_coverage(t->set, &how, t->result.schedules);
	if (!err && !opt.quiet)
		err = report_text(t->set, &how, stderr);
	if (!err && !opt.quiet)
		report_explore_text(t->set, &t->result, stderr);
	return err;
}

/* ---- the directory ---- */

/* Reads the program, the seed and some options from the log of the exploration that is resumed.
 * The user must not give these options. */
static int read_log(struct task *t, struct cmd_words *words)
{
	struct log_head head = {0};
	struct rd_stranger said = {0};
	int err;

	if (*words->program || opt.output || opt.strategy || opt.points || opt.fail_if || opt.with ||
	    opt.setup)
		return rd_fail(
			RD_EUSAGE,
			"explore: --resume takes the program and its options from the log; name "
			"no program, and none of -o, --strategy, --points, --fail-if, --with, --setup");
	t->log = rd_xasprintf("%s/log", opt.resume);
	err = log_read_head(t->log, &head, t->arena);
	if (err)
		return err;
	said = (struct rd_stranger){.argv = head.argv,
				    .argc = head.argc,
				    .with = head.with,
				    .setup = head.setup,
				    .filter = head.fail_if};
	rd_stranger_warn(t->log, &said);
	words->program = (char **)head.argv;
	opt.explore_seed = head.seed;
	opt.strategy = head.strategy;
	opt.points = head.points;
	opt.fail_if = head.fail_if;
	opt.with = head.with;
	opt.setup = head.setup;
	return RD_OK;
}

/* Claims the directory, because only one exploration at a time may write there. */
static int open_directory(struct task *t)
{
	const char *wish = opt.resume ? opt.resume : opt.output ? opt.output : CMD_EXPLORE_DIRECTORY;
	int err;

	if (t->shards) /* the process that holds the claim is waiting for its shards */
		return RD_OK;
	err = rd_claim(&t->claim, wish, !opt.resume && !opt.output);

	free(t->log);
	t->log = err ? NULL : rd_xasprintf("%s/log", t->claim.path);
	return err;
}

/* Determines the exit status.  If no run could be judged, "no failure" would be wrong. */
static int judge(const struct task *t)
{
	const struct explore_result *r = &t->result;

	RD_ASSERT(!t->shards && t->claim.path);
	if (t->set->count)
		return RD_OK;
	if (r->stop == EXPLORE_INTERRUPTED)
		return rd_fail(RD_ESYSTEM, "explore: interrupted; --resume %s continues", t->claim.path);
	if (!r->schedules)
		return rd_fail(RD_ESYSTEM, "explore: no run ended with a usable result: %s",
			       r->why ? r->why : "none was started");
	return RD_OK;
}

/* Submits the shards with the options that determine the amount of work. */
static int submit(const struct task *t)
{
	struct rd_argv more = RD_ARGV_INIT;
	uint64_t most = wanted() ? wanted() : CLUSTER_SCHEDULES;
	int err;

	rd_argv_addf(&more, "--schedules=%" PRIu64, most);
	rd_argv_add_number(&more, "time", opt.class_time, "ms");
	rd_argv_add_limit(&more, "timeout", opt.timeout);
	rd_argv_add_flag(&more, "kernel-threads", opt.kernel_threads);
	rd_argv_add_flag(&more, "no-snapshots", opt.no_snapshots);
	rd_argv_add_text(&more, "plugins", opt.plugins);
	rd_argv_add_flag(&more, "all", opt.go_on);
	err = cmd_slurm(&(struct cmd_slurm){
		.command = "explore", .directory = t->claim.path, .runs = most, .more = more.items});
	rd_argv_release(&more);
	return err;
}

/* This process first runs a few schedules, because the shards build on their results.  Then the
 * shards run their schedules, and finally all results are merged. */
static int explore_on_cluster(struct task *t)
{
	int err;

	RD_ASSERT(t->part == ALL && !t->shards);
	t->part = FIRST;
	err = explore(t);
	if (err || t->result.stop == EXPLORE_INTERRUPTED || (t->set->count && !opt.go_on))
		return err;
	err = submit(t);
	if (err)
		return err;
	finding_set_free(t->set);
	explore_result_release(&t->result);
	t->set = finding_set_new();
	t->argv = finding_set_program(t->set, t->argv);
	t->led.program.argv = t->argv;
	t->part = COLLECT;
	return explore(t);
}

static int explore_program(struct task *t, char **program)
{
	int err;

	t->argv = finding_set_program(t->set, program);
	run_orphans_adopt();
	err = cmd_led_open(&t->led, "explore", t->argv, false);
	if (!err)
		err = open_directory(t);
	if (!err)
		err = cmd_is_slurm() ? explore_on_cluster(t) : explore(t);
	if (!err && !t->shards)
		err = report(t);
	if (!err && t->shards && t->result.stop == EXPLORE_INTERRUPTED)
		err = rd_fail(RD_ESYSTEM, "explore: shard %u was interrupted", t->shard);
	return err || t->shards ? err : judge(t);
}

/* ---- the tests of a build directory ---- */

void cmd_explore_test_options(struct rd_argv *argv)
{
	RD_ASSERT(!argv->count);
	rd_argv_add_number(argv, "schedules", opt.schedules_most, "");
	rd_argv_add_number(argv, "seed", opt.explore_seed, "");
	rd_argv_add_number(argv, "jobs", opt.jobs, "");
	rd_argv_add_limit(argv, "timeout", opt.timeout);
	rd_argv_add_number(argv, "time", opt.class_time, "ms");
	rd_argv_add_text(argv, "strategy", opt.strategy);
	rd_argv_add_text(argv, "points", opt.points);
	rd_argv_add_flag(argv, "kernel-threads", opt.kernel_threads);
	rd_argv_add_flag(argv, "no-snapshots", opt.no_snapshots);
	rd_argv_add_text(argv, "fail-if", opt.fail_if);
	rd_argv_add_text(argv, "with", opt.with);
	rd_argv_add_text(argv, "setup", opt.setup);
	rd_argv_add_text(argv, "plugins", opt.plugins);
	rd_argv_add_flag(argv, "all", opt.go_on);
	rd_argv_add_flag(argv, "quiet", opt.quiet);
	rd_argv_add_flag(argv, "verbose", opt.verbose);
}

/* Explores each test of a build directory.  Each test gets its own documents. */
static int explore_suite(const struct cmd_words *words)
{
	struct rd_argv options = RD_ARGV_INIT;
	struct ctest_run how = {.build = opt.ctest,
				.regex = opt.tests_regex,
				.output = opt.output ? opt.output : CMD_EXPLORE_DIRECTORY,
				.said = opt.quiet ? NULL : stderr};
	struct ctest_result result;
	int err;

	if (*words->program || opt.resume || opt.json || opt.sarif || opt.html || opt.coverage ||
	    opt.executor) {
		rd_fail(RD_EUSAGE,
			"explore: --ctest takes neither a program nor --resume, --executor, --json, --sarif, "
			"--html, --coverage: the results of a test are in the directory with its name");
		return CMD_FAILED;
	}
	if (cmd_strategy("explore") || check_points())
		return CMD_FAILED;
	cmd_explore_test_options(&options);
	how.options = options.items;
	err = ctest_explore(&how, &result);
	rd_argv_release(&options);
	return result.failed ? CMD_FOUND : err ? CMD_FAILED : CMD_OK;
}

int cmd_explore(int argc, char **argv)
{
	struct task t = {.led = CMD_LED_INIT};
	struct cmd_words words;
	int status = cmd_program(argc, argv, &usage, NULL, &words), err = RD_OK;

	if (status != CMD_GO_ON)
		return status;
	if (opt.ctest)
		return explore_suite(&words);
	if (opt.tests_regex)
		return cmd_which("explore", "build directory (--ctest)");
	if (!opt.resume && !*words.program)
		return cmd_which("explore", "program");
	t.arena = rd_arena_new();
	if (opt.resume)
		err = read_log(&t, &words);
	if (!err)
		err = cmd_strategy("explore");
	if (!err)
		err = check_points();
	if (!err)
		err = cmd_executor("explore");
	if (!err)
		err = cmd_shard("explore", &t.shard, &t.shards);
	setenv("CK_FORK", "no", 0); /* tests of the framework Check then run in the led process */
	t.set = finding_set_new();
	if (!err)
		err = explore_program(&t, words.program);
	status = err ? CMD_FAILED : t.set->count && !t.shards ? CMD_FOUND : CMD_OK;
	finding_set_free(t.set);
	explore_result_release(&t.result);
	cmd_led_close(&t.led);
	rd_claim_release(&t.claim);
	rd_arena_free(t.arena);
	free(t.log);
	return status;
}
