// SPDX-License-Identifier: Apache-2.0
/*
 * raddle inject: injects faults into runs of a program.  Builds the full flavour, runs it a few
 * times without a fault as the reference, and then runs it many times with faults.  It can also
 * resume a campaign or repeat one of its runs.
 */
#include "cmd/cmd-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "cmd/output-int.h"
#include "cmd/slurm-int.h"
#include "base/stranger.h"
#include "inject/counted.h"
#include "inject/prepare.h"
#include "inject/progress.h"
#include "inject/start.h"
#include "report/campaign.h"
#include "report/inject.h"
#include "report/report.h"
#include "run/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cmd_usage usage = {
	"raddle inject [-o DIR] [-n COUNT] --fault KIND,... [--] PROG ARGS...",
	"Injects a fault into each run of a program built by 'raddle cc': a bit of a value flips,\n"
	"a size is wrong, a call fails.  Each run is compared with a fault-free run, thread by\n"
	"thread, and its outcome is crash, hang, detected, sdc (silent data corruption), masked or\n"
	"not-activated.  Each run is a line of DIR/log, and can be repeated.  --resume DIR\n"
	"continues a campaign that was interrupted.",
	"output faults fault_runs until until_outcome jobs list resume repeat run trace shard executor "
	"shards slurm_options "
	"process thread line site "
	"functions not_functions opcodes not_opcodes instance bit bits fault_count fault_window once "
	"level fault_model sampling seed "
	"golden input inputs timeout cpu_time memory file_size processes trace_size ignore filter "
	"keep_traces json "
	"compare_errors aslr allow_chance force_campaign quick " CMD_WORDS,
	"  raddle inject --list -- ./sort 1000\n"
	"  raddle inject --fault BitFlip --function swap --bit 3 -- ./sort 1000\n"
	"  raddle inject -n 5000 --fault all -o faults -- ./sort 1000\n"
	"  raddle inject --until 1% --fault BitFlip -o bits -- ./sort 1000\n"
	"  raddle inject --resume faults\n"
	"  raddle inject --run 17 -o faults --trace trace-17\n"
	"  raddle compare faults/golden/trace trace-17\n",
	false,
};

#define NO_SIZE (UINT64_C(1) << 50) /* a limit in bytes or processes that no program reaches */

static bool wants_run(void)
{
	return opt.run != RD_OPTION_UNSET;
}

/* --- options into a setup -------------------------------------------------------------------- */

static char *copy(const char *text)
{
	return text ? rd_xstrdup(text) : NULL;
}

static void set_filter(struct inject_setup *s)
{
	s->process = opt.process && strcmp(opt.process, "P_0") != 0 ? copy(opt.process) : NULL;
	s->thread = copy(opt.thread);
	s->line = copy(opt.line);
	s->site = opt.site;
	s->instance = opt.instance;
	inject_list_split(&s->functions, opt.functions);
	inject_list_split(&s->not_functions, opt.not_functions);
	inject_list_split(&s->opcodes, opt.opcodes);
	inject_list_split(&s->not_opcodes, opt.not_opcodes);
	inject_list_split(&s->ignore, opt.ignore);
	s->filter = copy(opt.filter);
	s->errors = opt.compare_errors;
	s->aslr = opt.aslr;
}

static void set_numbers(struct inject_setup *s)
{
	s->wall_ms = cmd_limit(opt.timeout, CMD_FOREVER);
	s->cpu_ms = cmd_limit(opt.cpu_time, CMD_FOREVER);
	s->bit = opt.bit == RD_OPTION_UNSET ? 0 : opt.bit + 1;
	s->bits = opt.bits;
	s->faults = opt.fault_count;
	s->window = opt.fault_window;
	s->once = opt.once;
	s->golden_runs = opt.golden;
	s->memory = cmd_limit(opt.memory, NO_SIZE);
	s->file_size = cmd_limit(opt.file_size, NO_SIZE);
	s->processes = cmd_limit(opt.processes, NO_SIZE);
	s->trace_size = cmd_limit(opt.trace_size, NO_SIZE);
}

static void set_words(struct inject_setup *s)
{
	s->sampling = rd_xstrdup(opt.sampling ? opt.sampling : "uniform");
	s->keep = rd_xstrdup(opt.keep_traces ? opt.keep_traces : "none");
	s->level = copy(opt.level);
}

static int make_setup(struct inject_setup *s, const struct run_program *program, char **argv)
{
	int r;

	set_numbers(s);
	s->seed = inject_seed(opt.seed == RD_OPTION_UNSET ? INJECT_SEED_CHANCE : opt.seed);
	s->program = rd_xstrdup(program->path);
	s->key = copy(program->flavour.key);
	s->mode = copy(program->mode);
	for (; *argv; argv++)
		inject_list_add(&s->argv, *argv);
	set_filter(s);
	r = inject_prepare_runs(s, opt.fault_runs == RD_OPTION_UNSET ? INJECT_RUNS_UNSET : opt.fault_runs,
				opt.until, opt.until_outcome);
	return r ? r : inject_prepare_files(s, opt.inputs, opt.input);
}

/* --- a new campaign --------------------------------------------------------------------------------- */

static int make_directory(struct inject_start *c)
{
	if (!opt.output && (c->setup.runs <= 1 || opt.list || opt.repeat))
		return inject_start_temporary(c);
	return inject_start_directory(c, opt.output ? opt.output : "raddle-inject", opt.force_campaign);
}

static int make_golden(struct inject_start *c, char **argv)
{
	struct rd_progress progress = {0};
	int r;

	set_words(&c->setup);
	r = inject_check_words(&c->setup);
	if (!r)
		r = inject_start_program(c, argv[0], opt.quick, opt.verbose);
	if (!r)
		r = make_setup(&c->setup, &c->program, argv);
	if (!r)
		r = make_directory(c);
	if (r)
		return r;
	cmd_progress_start(&progress, "running without a fault", 0);
	r = inject_start_golden(c, !opt.list, opt.allow_chance);
	rd_progress_end(&progress);
	return r;
}

static int write_kinds(const void *what, FILE *out)
{
	return report_inject_kinds_json(what, out);
}

static int list_kinds(const struct inject_start *c)
{
	struct inject_golden golden = {0};
	struct inject_ground ground;
	int r = inject_start_ground(c, &golden, &ground);

	if (!r && opt.json)
		r = cmd_document(opt.json, write_kinds, &ground);
	else if (!r)
		report_inject_kinds_text(&ground, stdout);
	inject_golden_release(&golden);
	return r;
}

/* --- running a campaign ------------------------------------------------------------------- */

/* Rejects the combination of --until and shards.  A shard does not know the runs of the other
 * shards, so it cannot decide whether there have been enough runs. */
static int check_until(const struct inject_start *c, bool shards)
{
	return c->setup.until && shards
		       ? rd_fail(RD_EUSAGE, "inject: a campaign with --until cannot be divided into shards")
		       : 0;
}

static int write_campaign(const void *what, FILE *out)
{
	return report_campaign_json(what, out);
}

/* Prints the statistics of a campaign.  If it has only one run, prints `last` instead, which is the
 * text about that run. */
static int report_runs(char *directory, uint64_t runs, const char *last, bool text)
{
	struct campaign_counted all;
	struct report_campaigns c = {.count = 1, .colour = report_wants_colour(stdout)};
	int r;

	RD_ASSERT(directory && last);
	if (text && runs == 1)
		fputs(last, stdout);
	if (!opt.json && (!text || runs == 1))
		return 0;
	r = campaign_count(&all, &directory, 1, NULL, NULL);
	c.items = all.statistics;
	if (!r && text && runs > 1)
		r = report_campaign_text(&c, stdout);
	if (!r)
		r = cmd_document(opt.json, write_campaign, &c);
	campaign_counted_release(&all);
	return r;
}

/* The state of a campaign while its runs are being done. */
struct runs {
	struct inject_progress progress;
	struct rd_buf last; /* the text about the run, if there is only one */
};

static void note(void *context, const struct runlog_run *run, bool fresh)
{
	struct runs *runs = context;

	if (runs->progress.runs == 1)
		report_inject_run(run, &runs->last);
	inject_progress_count(&runs->progress, run, fresh);
}

static int do_runs(struct inject_start *c, struct inject_campaign *campaign)
{
	unsigned cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	struct runs runs = {.last = RD_BUF_INIT};
	struct inject_work work = {
		.jobs = opt.jobs ? (unsigned)opt.jobs : inject_jobs(cpus), .done = note, .context = &runs};
	int r = cmd_shard("inject", &work.shard, &work.shards);

	if (!r)
		r = check_until(c, work.shards);
	if (!r && !work.shards)
		r = inject_campaign_merge(c->directory);
	if (r)
		return r;
	inject_progress_start(&runs.progress, c->directory, campaign, work.shards ? (int)work.shard : -1);
	if (opt.quiet)
		rd_progress_end(&runs.progress.line);
	r = inject_campaign_run(campaign, &work);
	inject_progress_hide(&runs.progress);
	if (!r)
		r = report_runs(c->directory, runs.progress.runs, runs.last.data,
				!opt.quiet && !work.shards && !cmd_is_stdout(opt.json));
	inject_progress_release(&runs.progress);
	rd_buf_release(&runs.last);
	return r;
}

static int do_repeat(struct inject_campaign *campaign)
{
	RD_ASSERT(opt.repeat || wants_run());
	struct rd_buf line = RD_BUF_INIT;
	struct inject_fault fault;
	int r = opt.repeat ? inject_log_fault_line(opt.repeat, &fault)
			   : inject_campaign_choose(campaign, opt.run, &fault);

	if (!r)
		r = inject_campaign_repeat(campaign, &fault, opt.trace, &line);
	if (!r)
		fputs(line.data, stdout);
	rd_buf_release(&line);
	return r;
}

/* Runs a campaign.  On a cluster, the jobs do the runs first.  Then do_runs() merges their logs,
 * and has no run left to do. */
static int run_campaign(struct inject_start *c)
{
	RD_ASSERT(c->directory);
	struct inject_campaign *campaign = NULL;
	const struct cmd_slurm cluster = {
		.command = "inject", .directory = c->directory, .runs = c->setup.runs * c->setup.kinds.count};
	int r = check_until(c, cmd_is_slurm());

	if (!r && cmd_is_slurm())
		r = cmd_slurm(&cluster);
	if (!r)
		r = inject_campaign_open(&campaign, c->directory, &c->setup, &c->program);
	if (!r)
		r = opt.repeat || wants_run() ? do_repeat(campaign) : do_runs(c, campaign);
	inject_campaign_close(campaign);
	return r;
}

static void warn_about_commands(const struct inject_setup *s, const char *path)
{
	struct rd_stranger said = {
		.argv = (const char *const *)s->argv.items, .argc = s->argv.count, .filter = s->filter};

	rd_stranger_warn(path, &said);
}

static int new_campaign(struct inject_start *c, char **argv)
{
	int r;

	RD_ASSERT(argv[0] && !opt.resume);
	if (opt.repeat)
		opt.faults = "all";
	r = make_golden(c, argv);
	if (!r)
		r = opt.list ? list_kinds(c) : inject_start_kinds(c, opt.faults);
	return r || opt.list ? r : run_campaign(c);
}

static int check_executor(void)
{
	if (cmd_is_slurm() && (opt.repeat || wants_run() || opt.shard || opt.list))
		return rd_fail(RD_EUSAGE, "inject: --executor slurm is for whole campaigns");
	return cmd_executor("inject");
}

static int check_process(void)
{
	struct run_fault f;

	if (!opt.process || run_fault_process(&f, opt.process, strlen(opt.process)))
		return RD_OK;
	return rd_fail(
		RD_EUSAGE,
		"inject: --process %s: not the name of a process; processes are named P_0, P_0_0, P_0_1, ...",
		opt.process);
}

static int check_options(bool program)
{
	int r = check_executor();

	if (!r && opt.faults)
		r = inject_kind_check(opt.faults);
	if (!r)
		r = check_process();
	if (r)
		return r;
	if (opt.until_outcome && !opt.until)
		return rd_fail(RD_EUSAGE, "inject: --outcome is for --until");
	if (opt.until && (program ? opt.list || opt.repeat : true))
		return rd_fail(RD_EUSAGE, "inject: --until is for new campaigns");
	if (opt.resume || ((wants_run() || opt.repeat) && !program)) {
		if (!opt.resume && !opt.output)
			return rd_fail(RD_EUSAGE, "inject: which campaign? -o DIR names it");
		return !program ? 0
				: rd_fail(RD_EUSAGE, "inject: the program is that of the campaign; name no "
						     "other program");
	}
	if (wants_run())
		return rd_fail(
			RD_EUSAGE,
			"inject: --run is for an existing campaign, which has its program; -o DIR names it");
	if (!program)
		return rd_fail(RD_EUSAGE, "inject: which program? 'raddle help inject' shows the usage");
	if (!opt.list && !opt.repeat && !opt.faults)
		return rd_fail(RD_EUSAGE,
			       "inject: no fault is given; name one with --fault, or list those of this "
			       "program with --list");
	if (opt.shard)
		return rd_fail(RD_EUSAGE, "inject: --shard I/N needs --resume");
	return 0;
}

int cmd_inject(int argc, char **argv)
{
	struct inject_start c = {0};
	struct cmd_words words;
	int status = cmd_program(argc, argv, &usage, NULL, &words), r;

	if (status != CMD_GO_ON)
		return status;
	r = *words.program || !opt.fault_model
		    ? inject_start_models(&c, opt.fault_model)
		    : rd_fail(RD_EUSAGE, "inject: the campaign already has its fault models; remove --model");
	if (!r)
		r = check_options(*words.program != NULL);
	if (!r && !*words.program)
		r = inject_start_resume(&c, opt.resume ? opt.resume : opt.output, opt.verbose,
					warn_about_commands);
	if (!r)
		r = *words.program ? new_campaign(&c, words.program) : run_campaign(&c);
	inject_start_release(&c);
	return r ? CMD_FAILED : CMD_OK;
}
