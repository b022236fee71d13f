// SPDX-License-Identifier: Apache-2.0
/*
 * raddle classify: determines the consequences of races by running both orders of their accesses.
 *
 * The program's output is compared, not shown.  The report goes to stderr or to files that the user
 * named.
 */
#include "cmd/cmd-int.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/option.h"
#include "base/outside.h"
#include "base/scratch.h"
#include "check/edits.h"
#include "classify/classify.h"
#include "classify/locate.h"
#include "classify/recorded.h"
#include "classify/shards.h"
#include "classify/techniques.h"
#include "cmd/classes-int.h"
#include "cmd/classify-anew-int.h"
#include "cmd/findings-int.h"
#include "cmd/output-int.h"
#include "cmd/slurm-int.h"
#include "finding/load.h"
#include "finding/rank.h"
#include "finding/save.h"
#include "report/classes.h"
#include "run/input.h"
#include "run/jobs.h"
#include "run/orphan.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIRECTORY "raddle-classify"
#define REPORT_MAX (64u << 20) /* maximum size of a ThreadSanitizer report in bytes */

static const struct cmd_usage usage = {
	"raddle classify [--json[=FILE]] FINDINGS [--] [PROG ARGS...]",
	"Determines what races do to a program: it runs both orders of the two accesses, and other\n"
	"schedules after them, and compares how the program ends and what it writes.\n"
	"FINDINGS is a document of 'raddle check' or 'raddle predict --json', or a schedule file;\n"
	"or --race or --from-tsan names the races.\n"
	"Without PROG the program of the document is run.  The classes are spec-violated,\n"
	"output-differs, k-witness-harmless and single-ordering.  The report goes to standard\n"
	"error.  The exit status is 1 if a finding is confirmed, otherwise 0; see --fail-on.\n"
	"Schedules of witnesses are written to " DIRECTORY " unless --output names another\n"
	"directory.",
	"output race from_tsan id models coherent kernel_threads no_snapshots require without_sync "
	"alternates paths "
	"sym " CMD_DOCUMENTS "fail_on " CMD_BESIDE
	"jobs class_time without no_world plugins executor shards slurm_options resume "
	"shard " CMD_WORDS,
	"  raddle check -- ./bank 4\n"
	"  raddle classify --json classes.json raddle-check/findings.json\n"
	"  raddle classify --race bank.c:31,bank.c:40 -- ./bank 4\n"
	"  raddle replay raddle-classify/15ab370364b3b2af.witness.schedule -- ./bank 4\n",
	false,
};

struct task {
	struct finding_set *set;
	struct replay_led program;
	struct run_input input;
	struct classify_pairs pairs; /* the races of --race and --from-tsan */
	struct classify_techniques techniques;
	struct check_edits edits;
	unsigned models; /* a set of bits, one for each enum finding_model */
	struct sym_selection sym;
	struct classify_result result;
	char **argv;
	char *scratch;
	enum finding_class fail_on;
	struct classify_shard shard;
};

/* ---- findings ---- */

static int choose(struct task *t, const char *path)
{
	struct finding *f = opt.id ? finding_find(t->set, opt.id) : NULL;
	int err = RD_OK;

	if (opt.id && !f)
		return rd_fail(
			RD_ENOTFOUND,
			"classify: %s: no finding, or more than one, has the id '%s' (six digits or more)",
			path, opt.id);
	if (f) {
		t->set->items[0] = f;
		t->set->count = 1;
	}
	for (size_t i = 0; i < t->set->count && !err; i++)
		err = finding_load_schedule(t->set, t->set->items[i]);
	return err;
}

/* Keeps only the races of this shard, which are every n-th race of the set. */
static void keep_part(struct task *t)
{
	size_t kept = 0;

	RD_ASSERT(!t->shard.count || t->shard.number < t->shard.count);
	for (size_t i = 0; t->shard.count && i < t->set->count; i++)
		if (i % t->shard.count == t->shard.number)
			t->set->items[kept++] = t->set->items[i];
	if (t->shard.count)
		t->set->count = kept;
}

static int read_findings(struct task *t, const char *path, char **argv)
{
	int err = finding_load(path, &t->set);

	if (!err)
		err = choose(t, path);
	if (err)
		return err;
	keep_part(t);
	cmd_findings_means(t->set, path, argv[0] != NULL);
	t->argv = finding_set_program(t->set, argv);
	if (!t->argv)
		return cmd_which("classify", "program");
	return check_edits_add(&t->edits, t->set);
}

/* ---- places ---- */

static int read_pairs(struct task *t, char **argv)
{
	int err = RD_OK;

	t->set = finding_set_new();
	t->argv = finding_set_program(t->set, argv);
	if (!t->argv)
		return cmd_which("classify", "program");
	if (opt.race)
		err = classify_pairs_parse(&t->pairs, opt.race);
	if (!err && opt.from_tsan)
		err = RD_WITH_FILE(opt.from_tsan, REPORT_MAX, text,
				   classify_pairs_from_tsan(&t->pairs, text.data, opt.from_tsan));
	if (!err && t->shard.count)
		classify_pairs_part(&t->pairs, t->shard.number, t->shard.count);
	return err;
}

/* Reports a race if the run did not reach its places, because such a race must not look
 * harmless. */
static int judge_places(const struct task *t, size_t missing)
{
	RD_ASSERT(missing > 0 && missing <= t->pairs.count);
	if (missing == t->pairs.count)
		return rd_fail(RD_ENOTFOUND,
			       "classify: in this run no two threads access the same memory at these places");
	rd_warn("%zu races: in this run no two threads access the same memory at their places", missing);
	return RD_OK;
}

/* Finds the races of --race and --from-tsan.  A shard does not report missing places, because the
 * process that joins the shards does. */
static int locate(struct task *t, const struct classify *how)
{
	size_t missing;
	int err = t->pairs.count ? classify_locate(how, &t->pairs, t->set, &missing) : RD_OK;

	if (err || !t->pairs.count || !missing || t->shard.count)
		return err;
	return judge_places(t, missing);
}

/* ---- the program ---- */

/* Opens the input of the program.  This is the input stored in the document, unless the user
 * redirects standard input. */
static int open_input(struct task *t)
{
	char *spool = rd_xasprintf("%s/stdin", t->scratch);
	int err;

	if (isatty(STDIN_FILENO) || t->shard.terminal)
		cmd_findings_stdin(t->set);
	err = run_input_open_whole(&t->input, spool);
	free(spool);
	return err;
}

static int open_program(struct task *t)
{
	struct run_build how = {.verbose = opt.verbose, .plugins = opt.plugins, .edits = t->edits.lines};
	int err = rd_scratch_open(&t->scratch, NULL, "raddle-classify");

	if (!err)
		err = open_input(t);
	if (!err)
		err = replay_led_open(&t->program, t->argv[0], &how);
	return err ? err : check_edits_find(&t->edits, t->program.sites, true);
}

/* ---- classes ---- */

static int classify(struct task *t)
{
	RD_ASSERT(t->scratch && t->argv && t->argv[0]);
	char *directory = rd_xasprintf("%s/runs", t->scratch);
	struct classify how = {.runs = {.input = &t->input,
					.companion = opt.with,
					.setup = opt.setup,
					.kernel_threads = opt.kernel_threads,
					.no_snapshots = opt.no_snapshots,
					.limit_ns = rd_ms_to_ns(cmd_limit(opt.timeout, CMD_FOREVER)),
					.recorded_ns = classify_recorded_ns(t->set),
					.no_world = opt.no_world},
			       .directory = directory,
			       .jobs = run_jobs(opt.jobs, opt.with || opt.setup),
			       .alternates = (unsigned)opt.alternates,
			       .paths = (unsigned)opt.paths,
			       .sym = &t->sym,
			       .time_ns = rd_ms_to_ns(opt.class_time),
			       .model = FINDING_SC,
			       .models = t->models,
			       .coherent = opt.coherent,
			       .techniques = t->techniques};
	struct replay_program program = {
		.program = &t->program.program, .argv = t->argv, .sites = t->program.sites};
	int err;

	how.runs.program = &program;
	err = locate(t, &how);
	check_edits_mark(&t->edits, t->set);
	if (!err)
		err = cmd_classes_run(&t->program, how, t->argv, t->set, &t->result);

	free(directory);
	return err;
}

/* ---- the report ---- */

static int report(struct task *t)
{
	struct report_opts how = {.colour = report_wants_colour(stderr), .others = opt.verbose};
	int err;

	cmd_classes_stats(t->set, &t->result);
	finding_sort_by_class(t->set);
	err = finding_save_witnesses(t->set, opt.output ? opt.output : DIRECTORY);
	if (!err)
		err = cmd_output_write(t->set, &how);
	if (!err && !opt.quiet)
		err = report_text(t->set, &how, stderr);
	if (!err && !opt.quiet)
		report_classes(t->set, &t->result, stderr);
	if (!err && t->result.runs)
		check_edits_warn(&t->edits, t->result.edits);
	return err;
}

/* Fails if the races are those of another program. */
static int check_fit(const struct task *t)
{
	const struct classify_result *r = &t->result;

	if (!r->misfits || r->misfits < r->classified + r->undecided)
		return RD_OK;
	return rd_fail(
		RD_EFORMAT,
		"classify: the findings are not those of %s: it has none of their accesses; the notes of "
		"the findings name the program for which they were made",
		t->argv[0]);
}

/* ---- a cluster ---- */

static int classify_on_cluster(struct task *t)
{
	RD_ASSERT(!t->shard.count); /* a shard is not divided again */
	size_t races = t->pairs.count ? t->pairs.count : t->set->count;
	int err = races ? cmd_slurm(&(struct cmd_slurm){
				  .command = "classify", .directory = opt.output, .runs = races})
			: RD_OK;

	if (!err)
		err = classify_shards_collect(opt.output, t->set, &t->result);
	check_edits_mark(&t->edits, t->set);
	if (!err && t->set->count < t->pairs.count)
		err = judge_places(t, t->pairs.count - t->set->count);
	return err;
}

static void release(struct task *t)
{
	finding_set_free(t->set);
	classify_result_release(&t->result);
	classify_pairs_release(&t->pairs);
	check_edits_close(&t->edits);
	sym_selection_release(&t->sym);
	replay_led_close(&t->program);
	run_input_close(&t->input);
	rd_scratch_close(t->scratch);
}

static int classify_path(struct task *t, const char *path, char **argv)
{
	int status, err;

	classify_pairs_init(&t->pairs);
	err = path ? read_findings(t, path, argv) : read_pairs(t, argv);

	if (!err)
		err = open_program(t);
	run_orphans_adopt();
	if (!err)
		err = cmd_is_slurm() ? classify_on_cluster(t) : classify(t);
	if (!err)
		err = report(t);
	if (!err)
		err = check_fit(t);
	if (!err && t->result.interrupted)
		err = rd_fail(RD_ESYSTEM, "classify: interrupted");
	status = err							     ? CMD_FAILED
		 : !t->shard.count && finding_any_as_bad(t->set, t->fail_on) ? CMD_FOUND
									     : CMD_OK;
	release(t);
	return status;
}

/* ---- the command line ---- */

static bool is_usable(struct task *t)
{
	return !cmd_executor("classify") &&
	       !cmd_classes_models(opt.models, "classify", "--memory", &t->models) &&
	       !sym_selection_parse(&t->sym, opt.sym) &&
	       !cmd_classes_option(opt.fail_on, "classify", &t->fail_on) &&
	       !classify_techniques_without(opt.without, &t->techniques) &&
	       !check_edits_open(&t->edits, opt.require, opt.without_sync);
}

/* Makes a shard write a findings file for the process that joins the shards.  The shard does not
 * write the documents that the user requested. */
static void become_shard(const struct classify_shard *shard)
{
	opt.executor = opt.slurm_options = opt.sarif = opt.html = opt.resume = opt.shard = NULL;
	opt.shards = 0;
	opt.quiet = true;
	opt.jobs = shard->jobs;
	opt.output = shard->directory;
	opt.json = classify_shard_path(shard->directory, shard->number);
}

static int classify_words(int argc, char **argv, const struct classify_shard *shard);

/* Handles `--resume DIR --shard I/N`: does a part of the work that DIR describes. */
static int classify_part(void)
{
	struct classify_shard shard = {.directory = opt.resume, .jobs = opt.jobs};
	struct rd_argv words = RD_ARGV_INIT;
	int status = CMD_FAILED;

	if (!opt.shard)
		rd_fail(RD_EUSAGE, "classify: --resume needs --shard");
	else if (!cmd_shard("classify", &shard.number, &shard.count) && !classify_shard_load(&shard, &words))
		status = classify_words((int)words.count, words.items, &shard);
	rd_argv_release(&words);
	return status;
}

static int classify_words(int argc, char **argv, const struct classify_shard *shard)
{
	struct task t = {.input = {.first = STDIN_FILENO}, .shard = *shard};
	struct rd_argv all = RD_ARGV_INIT;
	struct cmd_words words;
	int status;

	for (int i = 0; i < argc; i++)
		rd_argv_add(&all, argv[i]);
	status = cmd_program(argc, argv, &usage, "findings", &words);
	if (status == CMD_GO_ON && shard->count)
		become_shard(shard);
	if (status == CMD_GO_ON && opt.resume) {
		status = classify_part();
	} else if (status == CMD_GO_ON && opt.without_sync && !words.operand && !opt.race && !opt.from_tsan &&
		   *words.program && !cmd_is_slurm()) {
		status = cmd_classify_anew(words.program);
	} else if (status == CMD_GO_ON) {
		bool usable =
			is_usable(&t) && (!cmd_is_slurm() || !classify_shards_save(opt.output, all.items));

		status = usable ? classify_path(&t, words.operand, words.program) : CMD_FAILED;
		if (!usable)
			check_edits_close(&t.edits);
	}
	rd_argv_release(&all);
	return status;
}

int cmd_classify(int argc, char **argv)
{
	return classify_words(argc, argv, &(struct classify_shard){0});
}
