// SPDX-License-Identifier: Apache-2.0
/*
 * raddle inject: faults put into runs of a program.  Makes the full flavour, runs it without a fault to see
 * what it does, and then as often as asked with one; or goes on with a campaign, or repeats one of its runs.
 */
#include "cmd/cmd.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/progress.h"
#include "base/scratch.h"
#include "cmd/inject.h"
#include "cmd/slurm.h"
#include "base/stranger.h"
#include "inject/determinism.h"
#include "inject/model.h"
#include "inject/until.h"
#include "run/program.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
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

#define NO_SIZE (UINT64_C(1) << 50) /* a limit that nothing reaches */

static bool wants_run(void)
{
	return opt.run != RD_OPTION_UNSET;
}

/* --- options into a setup -------------------------------------------------------------------- */

/* A path that leads down from here is kept in the scratch directory; of others the last part is. */
static const char *input_name(const char *path)
{
	while (!strncmp(path, "./", 2))
		path += 2;
	return *path == '/' || strstr(path, "..") ? rd_base_name(path) : path;
}

static int add_input(struct inject_setup *s, const char *path)
{
	char full[PATH_MAX];
	struct stat st;

	if (!realpath(path, full) || stat(full, &st))
		return rd_fail_errno("%s: cannot read it", path);
	if (!S_ISREG(st.st_mode))
		return rd_fail(RD_EUSAGE, "%s: --input takes files", path);
	inject_list_add(&s->inputs, full);
	inject_list_add(&s->names, input_name(path));
	return 0;
}

/* Runs have directories of their own, which is easily forgotten. */
static void warn_of_arguments(const struct inject_setup *s)
{
	for (size_t i = 1; i < s->argv.count; i++) {
		const char *argument = s->argv.items[i];
		struct stat st;
		bool given = *argument == '/' || stat(argument, &st) || !S_ISREG(st.st_mode);

		for (size_t k = 0; k < s->names.count && !given; k++)
			given = !strcmp(input_name(argument), s->names.items[k]);
		if (!given)
			rd_warn("inject: %s is a file here, but runs have directories of their own; --input "
				"%s puts it there",
				argument, argument);
	}
}

static int set_files(struct inject_setup *s)
{
	struct inject_list given = {0};
	char full[PATH_MAX];
	int r = 0;

	inject_list_split(&given, opt.inputs);
	for (size_t i = 0; i < given.count && !r; i++)
		r = add_input(s, given.items[i]);
	inject_list_release(&given);
	if (!r && opt.input) {
		if (!realpath(opt.input, full))
			return rd_fail_errno("%s: cannot read it", opt.input);
		s->input = rd_xstrdup(full);
	}
	if (!r)
		warn_of_arguments(s);
	return r;
}

static void set_seed(struct inject_setup *s)
{
	s->seed = opt.seed;
	if (opt.seed != RD_OPTION_UNSET)
		return;
	if (getrandom(&s->seed, sizeof s->seed, 0) != (ssize_t)sizeof s->seed)
		s->seed = (uint64_t)getpid();
	s->seed %= 1000000000;
}

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

static int check_word(const char *option, const char *word, const char *words)
{
	const char *at = strstr(words, word);

	if (*word && at && (at == words || at[-1] == ' ') && strchr(" ", at[strlen(word)]))
		return 0;
	return rd_fail(RD_EUSAGE, "inject: --%s %s: must be one of: %s", option, word, words);
}

/* As many runs as asked; else those that --until may need, or one. */
static int set_runs(struct inject_setup *s)
{
	enum runlog_outcome outcome;
	int r = opt.until ? inject_until_parse(opt.until, &s->until) : 0;

	s->runs = opt.fault_runs == RD_OPTION_UNSET ? 1 : opt.fault_runs;
	if (r || !opt.until)
		return r;
	s->until_outcome = rd_xstrdup(opt.until_outcome ? opt.until_outcome : "sdc");
	if (!runlog_outcome_find(s->until_outcome, &outcome) || outcome == RUNLOG_INACTIVE)
		return rd_fail(RD_EUSAGE,
			       "inject: --outcome %s: must be one of: crash hang detected sdc masked",
			       s->until_outcome);
	if (strcmp(s->sampling, "uniform") != 0)
		return rd_fail(RD_EUSAGE, "inject: --until needs --sampling uniform");
	if (opt.fault_runs == RD_OPTION_UNSET)
		s->runs = inject_until_most(s->until);
	return s->runs ? 0
		       : rd_fail(RD_ELIMIT, "inject: --until %s: may take more than %d runs; -n limits them",
				 opt.until, INJECT_RUNS_MAX);
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

static int make_setup(struct inject_setup *s, const struct run_program *program, char **argv)
{
	int r;

	set_numbers(s);
	set_seed(s);
	s->program = rd_xstrdup(program->path);
	s->key = copy(program->flavour.key);
	s->mode = copy(program->mode);
	for (; *argv; argv++)
		inject_list_add(&s->argv, *argv);
	s->sampling = rd_xstrdup(opt.sampling ? opt.sampling : "uniform");
	s->keep = rd_xstrdup(opt.keep_traces ? opt.keep_traces : "none");
	set_filter(s);
	r = check_word("sampling", s->sampling, "uniform function opcode thread");
	if (!r)
		r = check_word("keep-traces", s->keep, "all deviating none");
	if (!r)
		r = set_runs(s);
	return r ? r : set_files(s);
}

/* --- kinds that fit ------------------------------------------------------------------------------ */

/* Whether the user named the kind itself, not a group. */
static bool is_named(const char *kind)
{
	size_t n = strlen(kind);

	for (const char *at = opt.faults; at && *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] ? 1 : 0))
		if (strcspn(at, ",") == n && !strncasecmp(at, kind, n))
			return true;
	return false;
}

static int set_kinds(struct inject_setup *s, const struct inject_ground *ground)
{
	bool *set = rd_xcalloc(inject_kind_count(), sizeof *set);
	int r = inject_kind_parse(opt.faults, set);

	for (size_t i = 0; i < inject_kind_count() && !r; i++) {
		const char *name = inject_kind_at(i)->name;
		if (!set[i])
			continue;
		if (inject_fits(ground, i).instances)
			inject_list_add(&s->kinds, name);
		else if (is_named(name))
			r = rd_fail(RD_EUSAGE,
				    "inject: %s (%s) fits no place that the program executes and the options "
				    "allow; "
				    "'raddle inject --list' shows what fits",
				    name, inject_kind_at(i)->help);
		else
			rd_info("inject: %s fits nothing in this program", name);
	}
	free(set);
	if (!r && !s->kinds.count)
		r = rd_fail(RD_EUSAGE,
			    "inject: no fault of '%s' fits a place that the program executes and the options "
			    "allow",
			    opt.faults);
	return r;
}

/* --- a new campaign --------------------------------------------------------------------------------- */

struct campaign {
	struct run_program program;
	struct inject_models models;
	struct inject_setup setup;
	char *directory;
	bool temporary;
	bool discard; /* the directory: nothing in it is worth keeping */
};

static int open_program(struct campaign *c, const char *name, bool quick)
{
	bool optimised = c->setup.level && !strcmp(c->setup.level, "optimised");
	struct run_build how = {
		.fast = !quick, .quick = quick, .optimised = optimised, .verbose = opt.verbose};
	int r;

	c->program.kind = "full";
	r = run_program_open(&c->program, name, &how);
	if (!r && !c->program.flavour.sites)
		r = rd_fail(RD_ENOTFOUND, "%s: its full flavour has no site table", name);
	return r;
}

/* The user's own faults become kinds like the others. */
static int use_models(struct campaign *c)
{
	int r;

	if (!c->setup.model)
		return 0;
	r = inject_models_parse(&c->models, c->setup.model, strlen(c->setup.model),
				opt.fault_model ? opt.fault_model : "campaign.json");
	return r ? r : inject_models_use(&c->models);
}

static int read_models(struct campaign *c)
{
	struct rd_buf text = RD_BUF_INIT;
	int r = opt.fault_model ? rd_file_read(opt.fault_model, &text) : 0;

	if (!r && opt.fault_model && memchr(text.data, '\0', text.length))
		r = rd_fail(RD_EFORMAT, "%s: this is no text", opt.fault_model);
	if (!r && opt.fault_model)
		c->setup.model = rd_xstrndup(text.data, text.length);
	rd_buf_release(&text);
	return r ? r : use_models(c);
}

static void close_campaign(struct campaign *c)
{
	if (c->discard)
		rd_remove_tree(c->directory);
	if (c->temporary)
		rd_scratch_close(c->directory);
	else
		free(c->directory);
	inject_setup_release(&c->setup);
	run_program_close(&c->program);
	inject_models_release(&c->models);
}

/* A directory for what nobody asked to keep. */
static int make_temporary(struct campaign *c)
{
	int r = rd_scratch_open(&c->directory, NULL, "raddle-inject");

	c->temporary = !r;
	return r;
}

/* Whether there is nothing in the directory, or only what a campaign begins with. */
static bool is_ours(const char *directory)
{
	static const char *const known[] = {".",   "..",   "campaign.json", "golden",  "scratch",
					    "log", "runs", "slurm",	    "progress"};
	DIR *d = opendir(directory);
	const struct dirent *e;
	bool ours = d != NULL;

	while (d && ours && (e = readdir(d))) {
		ours = !strncmp(e->d_name, "log.", 4) || !strncmp(e->d_name, "progress.", 9);
		for (size_t i = 0; i < sizeof known / sizeof *known && !ours; i++)
			ours = !strcmp(e->d_name, known[i]);
	}
	if (d)
		closedir(d);
	return ours;
}

/* Only a campaign is ever replaced. */
static int make_directory(struct campaign *c)
{
	char *old;
	bool begun;
	int r;

	if (!opt.output && (c->setup.runs <= 1 || opt.list || opt.repeat))
		return make_temporary(c);
	c->directory = rd_xstrdup(opt.output ? opt.output : "raddle-inject");
	old = rd_xasprintf("%s/campaign.json", c->directory);
	begun = rd_file_exists(old);
	free(old);
	if (rd_file_exists(c->directory) && !is_ours(c->directory))
		return rd_fail(RD_EUSAGE, "%s: it exists and is not a campaign", c->directory);
	if (begun && !opt.force_campaign)
		return rd_fail(RD_EUSAGE, "%s: this is a campaign; --resume continues it, -f replaces it",
			       c->directory);
	r = rd_remove_tree(c->directory);
	if (!r)
		r = rd_mkdirs(c->directory);
	c->discard = !r;
	return r;
}

static int make_golden(struct campaign *c, char **argv)
{
	struct rd_progress progress = {0};
	int r = opt.level ? check_word("level", opt.level, "source optimised") : 0;

	c->setup.level = copy(opt.level);
	if (!r)
		r = open_program(c, argv[0], opt.quick);
	if (!r)
		r = make_setup(&c->setup, &c->program, argv);
	if (!r)
		r = make_directory(c);
	if (r)
		return r;
	rd_progress_start(&progress, "running without a fault", 0);
	r = inject_golden_make(c->directory, &c->setup, &c->program, opt.allow_chance);
	if (!r && !opt.list)
		r = inject_determinism_check(c->directory, &c->setup, opt.allow_chance);
	rd_progress_end(&progress);
	return r;
}

static int choose_kinds(struct campaign *c)
{
	char *path = rd_xasprintf("%s/campaign.json", c->directory);
	struct inject_golden golden = {0};
	struct inject_ground ground = {.setup = &c->setup, .census = &golden.census};
	int r = inject_golden_load(&golden, c->directory);

	if (!r) {
		ground.sites = trace_get_sites(golden.trace);
		r = opt.list ? cmd_inject_list(&ground, opt.json) : set_kinds(&c->setup, &ground);
	}
	if (!r && !opt.list)
		r = inject_setup_write(&c->setup, path);
	if (!r && !opt.list)
		c->discard = false;
	inject_golden_release(&golden);
	free(path);
	return r;
}

/* --- running it ------------------------------------------------------------------------------------ */

static void note(void *context, const struct runlog_run *run, bool fresh)
{
	cmd_inject_count(context, run, fresh);
}

/* Shards do not know of one another's runs, and none could say that they are enough. */
static int check_until(const struct campaign *c, bool shards)
{
	return c->setup.until && shards
		       ? rd_fail(RD_EUSAGE, "inject: a campaign with --until cannot be divided into shards")
		       : 0;
}

static int do_runs(struct campaign *c, struct inject_campaign *campaign)
{
	unsigned cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	struct inject_work work = {.jobs = opt.jobs ? (unsigned)opt.jobs : cpus + (cpus + 1) / 2,
				   .done = note};
	struct cmd_inject_summary summary;
	int r = cmd_shard("inject", &work.shard, &work.shards);

	if (!r)
		r = check_until(c, work.shards);
	if (!r && !work.shards)
		r = inject_campaign_merge(c->directory);
	if (r)
		return r;
	cmd_inject_start(&summary, c->directory, campaign, work.shards ? (int)work.shard : -1);
	work.context = &summary;
	r = inject_campaign_run(campaign, &work);
	if (!r)
		r = cmd_inject_report(&summary, opt.json, opt.quiet || work.shards);
	cmd_inject_release(&summary);
	return r;
}

/* The fault that is to be injected again. */
static int get_fault(struct inject_campaign *campaign, struct inject_fault *fault)
{
	struct rd_names texts = RD_NAMES_INIT;
	struct runlog_run run;
	const char *wrong;
	int r;

	if (!opt.repeat)
		return inject_campaign_choose(campaign, opt.run, fault);
	wrong = runlog_parse(&run, opt.repeat, strlen(opt.repeat), &texts);
	r = wrong ? rd_fail(RD_EFORMAT, "inject: --repeat: not a line of a log: %s", wrong)
		  : inject_log_fault(&run, fault);
	rd_names_release(&texts);
	return r;
}

static int do_repeat(struct inject_campaign *campaign)
{
	struct rd_buf line = RD_BUF_INIT;
	struct inject_fault fault;
	int r = get_fault(campaign, &fault);

	if (!r)
		r = inject_campaign_repeat(campaign, &fault, opt.trace, &line);
	if (!r)
		fputs(line.data, stdout);
	rd_buf_release(&line);
	return r;
}

/* What jobs of a cluster have done is then put together here, where nothing is left to do. */
static int run_campaign(struct campaign *c)
{
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

static void tell_stranger(const struct inject_setup *s, const char *path)
{
	struct rd_stranger said = {
		.argv = (const char *const *)s->argv.items, .argc = s->argv.count, .filter = s->filter};

	rd_stranger_warn(path, &said);
}

static int old_campaign(struct campaign *c, const char *directory)
{
	char *path = rd_xasprintf("%s/campaign.json", directory);
	int r;

	c->directory = rd_xstrdup(directory);
	if (!rd_file_exists(path))
		r = rd_fail(RD_ENOTFOUND, "%s: there is no campaign, or it was never started", directory);
	else
		r = inject_setup_read(&c->setup, path);
	if (!r)
		tell_stranger(&c->setup, path);
	free(path);
	if (!r)
		r = use_models(c);
	if (!r)
		r = open_program(c, c->setup.program, c->setup.mode && !strcmp(c->setup.mode, "quick"));
	if (!r && c->setup.key && c->program.flavour.key && strcmp(c->setup.key, c->program.flavour.key) != 0)
		r = rd_fail(RD_EUSAGE, "%s: %s or Raddle has changed since the campaign began", directory,
			    c->setup.program);
	return r ? r : run_campaign(c);
}

static int new_campaign(struct campaign *c, char **argv)
{
	int r;

	if (opt.repeat)
		opt.faults = "all";
	r = make_golden(c, argv);
	if (!r)
		r = choose_kinds(c);
	return r || opt.list ? r : run_campaign(c);
}

static int check_executor(void)
{
	if (cmd_is_slurm() && (opt.repeat || wants_run() || opt.shard || opt.list))
		return rd_fail(RD_EUSAGE, "inject: --executor slurm is for whole campaigns");
	return cmd_executor("inject");
}

/* What can be said before the program was run. */
static int check_faults(void)
{
	bool *set = rd_xcalloc(inject_kind_count(), sizeof *set);
	int r = opt.faults ? inject_kind_parse(opt.faults, set) : 0;

	free(set);
	return r;
}

static int check_process(void)
{
	struct run_fault f;

	if (!opt.process || run_fault_process(&f, opt.process, strlen(opt.process)))
		return RD_OK;
	return rd_fail(RD_EUSAGE, "inject: --process %s: a process is P_0, P_0_0, P_0_1, ...", opt.process);
}

static int check_options(bool program)
{
	int r = check_executor();

	if (!r)
		r = check_faults();
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
		return !program
			       ? 0
			       : rd_fail(RD_EUSAGE, "inject: the program is that of the campaign; name none");
	}
	if (wants_run())
		return rd_fail(
			RD_EUSAGE,
			"inject: --run is for a campaign that is there; -o DIR names it, and the program");
	if (!program)
		return rd_fail(RD_EUSAGE, "inject: which program? 'raddle help inject' shows the usage");
	if (!opt.list && !opt.repeat && !opt.faults)
		return rd_fail(RD_EUSAGE,
			       "inject: which fault? --fault names it, --list shows those that fit");
	if (opt.shard)
		return rd_fail(RD_EUSAGE, "inject: --shard I/N needs --resume");
	return 0;
}

int cmd_inject(int argc, char **argv)
{
	struct campaign c = {0};
	struct cmd_words words;
	int status = cmd_program(argc, argv, &usage, NULL, &words), r;

	if (status != CMD_GO_ON)
		return status;
	r = *words.program || !opt.fault_model ? read_models(&c)
					       : rd_fail(RD_EUSAGE, "inject: a campaign has its own --model");
	if (!r)
		r = check_options(*words.program != NULL);
	if (!r && !*words.program)
		r = old_campaign(&c, opt.resume ? opt.resume : opt.output);
	else if (!r)
		r = new_campaign(&c, words.program);
	close_campaign(&c);
	return r ? CMD_FAILED : CMD_OK;
}
