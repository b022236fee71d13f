// SPDX-License-Identifier: Apache-2.0
/*
 * raddle check: the whole way in one command.  A program is recorded in an ordinary run, the
 * races and deadlocks of other schedules are predicted, each is tried by a replay, and what
 * came about is reported.
 *
 * The first run has our standard streams, so the report goes to stderr, or to files that
 * the user named.  Everything worth keeping is in one directory: traces, schedules,
 * findings.json, the input if it came through a pipe.
 */
#include "cmd/cmd.h"

#include "base/alloc.h"
#include "base/claim.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/option.h"
#include "base/progress.h"
#include "cmd/classes.h"
#include "cmd/edits.h"
#include "cmd/ending.h"
#include "cmd/output.h"
#include "cmd/prediction.h"
#include "cmd/standing.h"
#include "explore/further.h"
#include "explore/sighted.h"
#include "explore/known.h"
#include "finding/pair.h"
#include "predict/pass.h"
#include "record/prepare.h"
#include "record/run.h"
#include "replay/settle.h"
#include "run/companion.h"
#include "run/guard.h"
#include "run/input.h"
#include "run/launch.h"
#include "run/orphan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXTRA 50	/* findings that diverged replays may add */
#define GRACE_MS 2000	/* between SIGTERM and SIGKILL */
#define LEAST_MS 10000	/* that a recorded run has in any case */
#define OUTLIVE_MS 3000 /* that processes which outlive the program get without --with */

#define EVENT_NS 500 /* that looking at an event of a long trace takes, reading it several times */

#define MUTE_SHARE 4 /* a program that tells nothing for this part of the time is waited for no longer */

#define EARLY_EVENTS 1000000 /* of a trace that takes so long that sound findings are tried in between, */
#define EARLY_SHARE 4	     /* for this part of the time that is left, altogether */

/* Further runs of a large program, which are only looked at for what they show unordered. */
#define RUNS_MORE 12   /* at most, */
#define RUNS_NOTHING 2 /* until so many in a row show nothing new */
#define RUNS_SHARE 3   /* one without thinning takes so many times as long as another one */

#define MUCH 4 /* making the flavour is worth a word if it takes this part of the time */

#define LOG_NS (10 * 1000000000ll) /* between lines of progress in a log */

#define DIRECTORY "raddle-check"

static const struct cmd_usage usage = {
	"raddle check [-o DIR] [--json[=FILE]] [--html FILE] [--] PROG ARGS...",
	"Runs a program built by 'raddle cc' once and records it; predicts the races and deadlocks\n"
	"that other schedules lead to; and tries each one by running the program again under that\n"
	"schedule.  Confirmed findings are reported on standard error, with the command that\n"
	"reproduces them, and what races do to the program, as with 'raddle classify'.  With a share of\n"
	"the time further runs are made under other schedules, as with 'raddle explore', and looked at\n"
	"in the same way, until they bring nothing new.  The exit status is 1 if something was confirmed, "
	"otherwise 0; see --fail-on.  Everything is\n"
	"kept in " DIRECTORY " unless --output names another directory.",
	"output " CMD_DOCUMENTS "coverage " CMD_KNOWN "write_baseline gen_suppressions " CMD_BESIDE
	"jobs runs strategy explore_seed no_explore no_replay no_classify no_world all_accesses require "
	"without_sync "
	"check_models coherent fail_on pass_status " CMD_EFFORT CMD_BUILD CMD_WORDS,
	"  raddle cc -g -pthread -o bank bank.c\n"
	"  raddle check -- ./bank 4\n"
	"  raddle check --baseline known.txt --sarif found.sarif -- ./bank 4\n",
	false,
};

static struct predict_batch prediction;

/* A recorded run. */
struct past {
	struct cmd_ending ending;
	uint64_t told;		      /* events so far, */
	int64_t told_ns;	      /* and when the last ones came */
	struct finding_set *standing; /* the deadlocks it was ended for; NULL: it was not */
	bool all;		      /* no access is left out */
};

/* What is known of the runs. */
struct check {
	struct run_program program;
	char **argv;
	struct run_input input;
	struct run_companion companion;
	struct finding_set *set;
	struct finding **all; /* every prediction, before those at the same places became one */
	size_t all_count;
	struct past *runs;    /* opt.runs of them */
	struct past *now;     /* the one that is being recorded */
	int64_t ended_ns;     /* when it ended */
	uint64_t more;	      /* runs that were only looked at */
	uint64_t forked;      /* processes whose traces were looked at */
	uint64_t recorded_ms; /* the longest */
	int recorded_signal;  /* of the first */
	struct replay_settled *settled;
	struct finding_set *seen;  /* what large runs showed before anything was searched for; NULL: none */
	struct finding_set **sets; /* of what was tried early */
	size_t set_count, set_capacity;
	size_t early;	       /* predictions that were looked at while others were sought */
	int64_t early_left_ns; /* for replays of them; 0: not known yet, less: none */
	struct explore_result explored;
	struct further further;	     /* runs that are recorded after the first ones */
	struct finding_set *sighted; /* races that exploring showed; NULL */
	struct classify_result classes;
	struct cmd_edits edits;
	enum finding_class fail_on;
	unsigned models;   /* bits of memory models that classes are wanted for */
	double seconds[4]; /* spent on recording, prediction, replays and classification */
	double built;	   /* seconds spent on making the flavour */
	int64_t start_ns;  /* when the check began, */
	int64_t end_ns;	   /* and when it has to end; 0: never */
};

/* ---- the directory ---- */

/* ID.schedule, ID.witness.schedule, ID.witness-2.schedule */
static bool is_schedule(const char *name)
{
	static const char end[] = ".schedule";
	size_t length = strlen(name);

	return strspn(name, "0123456789abcdef") == FINDING_ID_SIZE - 1 && length >= sizeof end &&
	       strcmp(name + length - sizeof end + 1, end) == 0;
}

static char *inside(const char *name)
{
	size_t length = strlen(opt.output);

	return rd_xasprintf("%s%s%s", opt.output, opt.output[length - 1] == '/' ? "" : "/", name);
}

static bool is_old_trace(const char *name)
{
	char *path = rd_xasprintf("%s/%s/meta.json", opt.output, name);
	size_t digits = strspn(name + strcspn(name, "0123456789"), "0123456789");
	bool old = strncmp(name, "trace-", 6) == 0 && strlen(name) == 6 + digits && rd_file_exists(path);

	free(path);
	return old;
}

/* Whether there is no such directory, or nothing in it. */
static bool is_empty(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *entry;
	bool empty = true;

	if (!d)
		return errno == ENOENT;
	while (empty && (entry = readdir(d)))
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	closedir(d);
	return empty;
}

/* Whether there is nothing that a check did not make.  The claim is looked for last: a check that starts
 * beside this one puts it there before anything else, so whatever was seen in a directory of ours, the claim
 * is seen too. */
static bool is_free(const char *path)
{
	char *findings = rd_xasprintf("%s/findings.json", path);
	bool ours = is_empty(path) || record_wrote_document(findings) || rd_claim_marks(path);

	free(findings);
	return ours;
}

/* Claims the directory and removes what an earlier check left there that this one does not replace. */
static int prepare_directory(struct rd_claim *claim)
{
	const char *wish = opt.output ? opt.output : DIRECTORY;
	struct dirent *entry;
	DIR *d = NULL;
	int err;

	if (!is_free(wish))
		return rd_fail(RD_EUSAGE,
			       "%s: it exists and was not made by raddle check; name another directory",
			       wish);
	err = rd_claim(claim, wish, !opt.output);
	opt.output = claim->path;
	if (!err && !(d = opendir(opt.output)))
		err = rd_fail_errno("check: %s", opt.output);
	while (!err && (entry = readdir(d))) {
		char *path = inside(entry->d_name);
		if (is_schedule(entry->d_name) || strcmp(entry->d_name, "stdin") == 0)
			unlink(path);
		else if (is_old_trace(entry->d_name) && !(err = record_prepare_directory(path, true)))
			rmdir(path);
		free(path);
	}
	if (d)
		closedir(d);
	return err;
}

static char *trace_path(size_t run)
{
	char *name = run ? rd_xasprintf("trace-%zu", run + 1) : rd_xstrdup("trace"), *path = inside(name);

	free(name);
	return path;
}

/* ---- recording ---- */

static void started(void *context, pid_t pid)
{
	struct check *c = context;

	run_companion_start(&c->companion, pid, STDERR_FILENO);
}

static void ended(void *context, const struct trace_meta *meta)
{
	struct check *c = context;
	uint64_t ms = (meta->end_ns - meta->start_ns) / 1000000;

	if (ms > c->recorded_ms)
		c->recorded_ms = ms;
	c->ended_ns = rd_now_ns();
	c->now->ending.events = meta->events;
	if (meta->stopped) {
		c->now->ending.stopped = rd_xstrdup(meta->stopped);
		rd_warn("recording stopped before the program ended: %s", meta->stopped);
	}
	rd_info("recorded %" PRIu64 " events of %" PRIu64 " threads in %.1f s", meta->events, meta->threads,
		(double)ms / 1e3);
}

/* Whether processes that outlive the program get more time: a daemon works while its client does. */
static bool outlived(void *context)
{
	struct check *c = context;
	int64_t ms = (rd_now_ns() - c->ended_ns) / 1000000;

	if (run_launch_interrupted() || (opt.timeout && ms >= (int64_t)opt.timeout))
		return false;
	return opt.with ? run_companion_runs(&c->companion) : ms < OUTLIVE_MS;
}

/* A trace that takes longer to look at than there is time left is of no use, and a program that has told
 * nothing new for long has no end in sight. */
static bool enough(void *context, uint64_t events)
{
	struct check *c = context;
	struct past *p = c->now;
	int64_t at = rd_now_ns(), left;

	if (events != p->told || !p->told_ns) {
		p->told = events;
		p->told_ns = at;
	}
	left = c->end_ns - at; /* if that is over, the program has what limit_run() gives it */
	p->ending.full = c->end_ns && left > 0 && (int64_t)(events * EVENT_NS) >= left;
	p->ending.mute = c->end_ns && at - p->told_ns >= (c->end_ns - c->start_ns) / MUTE_SHARE;
	return p->ending.full || p->ending.mute;
}

static void say_status(const struct past *past)
{
	int status = past->ending.end.status, number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	struct rd_buf words = RD_BUF_INIT;

	cmd_ending_words(&past->ending, &words);
	if (past->standing)
		rd_warn("the program %s", words.data);
	else if (past->ending.full)
		rd_warn("the program was ended: its trace is as long as the check has time to look at");
	else if (past->ending.mute)
		rd_warn("the program was ended: it ran on and on without anything that is recorded");
	else if (cmd_ending_late(&past->ending))
		rd_warn("the program did not end within %.3g s and was ended",
			(double)past->ending.limit_ms / 1e3);
	else if (number && number != SIGINT && number != SIGTERM)
		rd_warn("the recorded run %s; the run up to there is analysed", words.data);
	rd_buf_release(&words);
}

/* Without --timeout a run has its share of three quarters of what is left: what it did is to be looked at.
 * However little that is, a program may start. */
static void limit_run(const struct check *c, struct past *past)
{
	int64_t left = c->end_ns - rd_now_ns(), runs = (int64_t)opt.runs - (past - c->runs);

	past->ending.limit_ms = opt.timeout;
	if (opt.timeout || !c->end_ns)
		return;
	past->ending.unasked = true;
	past->ending.limit_ms = left > 0 ? (uint64_t)(left / runs * 3 / 4 / 1000000) : 0;
	if (past->ending.limit_ms < LEAST_MS)
		past->ending.limit_ms = LEAST_MS;
}

static int record_into(struct check *c, struct past *past, const char *path, const int *streams)
{
	struct record_run run = {.program = &c->program,
				 .argv = c->argv,
				 .directory = path,
				 .no_world = opt.no_world,
				 .all_accesses = opt.all_accesses || past->all,
				 .streams = streams,
				 .limits = {.wall_ms = past->ending.limit_ms,
					    .grace_ms = GRACE_MS,
					    .interrupts = 2}, /* once is for it, twice is for us */
				 .stands = cmd_standing,
				 .enough = enough,
				 .started = started,
				 .ended = ended,
				 .outlived = outlived,
				 .context = c};
	struct record_result result = {0};
	int err;

	c->now = past;
	err = record_run(&run, &result);
	run_companion_wait(&c->companion, run_launch_interrupted() ? 0 : OUTLIVE_MS);
	past->ending.companion = run_companion_stop(&c->companion);
	run_orphans_end(c->input.pump);
	past->ending.end = result.end;
	past->ending.stood = result.stood;
	if (!err)
		err = cmd_standing_read(&result, &past->standing);
	if (!err)
		err = cmd_ending_check(&past->ending, c->program.path, opt.with);
	if (!err)
		say_status(past);
	record_result_release(&result);
	return err;
}

static int record_one(struct check *c, size_t n)
{
	char *path = trace_path(n);
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int out = cmd_output_is_stdout() ? STDERR_FILENO : STDOUT_FILENO;
	int streams[] = {n ? run_input_again(&c->input) : c->input.first, n ? null : out,
			 n ? null : STDERR_FILENO};
	int err = streams[0] < 0 ? RD_ESYSTEM : record_prepare_directory(path, true);

	if (!err)
		err = run_setup(opt.setup, STDERR_FILENO);
	limit_run(c, &c->runs[n]);
	if (!err)
		err = record_into(c, &c->runs[n], path, streams);
	if (n && streams[0] >= 0)
		close(streams[0]);
	close(null);
	free(path);
	return err;
}

static int record(struct check *c)
{
	char *spool = inside("stdin");
	int err = run_input_open(&c->input, spool);

	run_orphans_adopt();

	for (size_t n = 0; n < opt.runs && !err; n++) {
		err = record_one(c, n);
		run_input_first_ended(&c->input);
		if (run_launch_interrupted())
			opt.runs = n + 1;
	}
	if (!err && WIFSIGNALED(c->runs[0].ending.end.status))
		c->recorded_signal = WTERMSIG(c->runs[0].ending.end.status);
	free(spool);
	return err;
}

/* ---- replays ---- */

/* What is shown while replays run. */
struct show {
	struct check *c;
	struct finding_set *set;
	struct rd_progress progress;
	int64_t logged_ns; /* the latest line in a log */
};

/* Where there is no terminal, a line now and then, if asked for. */
static void log_progress(struct show *s, const struct replay_progress *so_far, const char *detail)
{
	int64_t at = rd_now_ns();

	if (!opt.verbose || s->progress.shown >= 0 || at - s->logged_ns < LOG_NS)
		return;
	s->logged_ns = at;
	rd_info("replaying: %" PRIu64 " of %" PRIu64 "  %s", so_far->done, so_far->total, detail);
}

static void show_progress(void *context, const struct replay_progress *so_far)
{
	struct show *s = context;
	struct rd_progress *progress = &s->progress;
	char *detail = rd_xasprintf("confirmed %" PRIu64 ", at most %.0f s more", so_far->confirmed,
				    so_far->seconds_left);

	progress->total = so_far->total;
	rd_progress_update(progress, so_far->done, detail);
	log_progress(s, so_far, detail);
	free(detail);
}

/* Whether the same error was reported as another one.  A replay may end in what another prediction is about.
 */
static bool is_told(const struct finding_set *set, struct finding *f)
{
	finding_identify(f);
	for (size_t i = 0; set && i < set->count; i++)
		if (set->items[i]->told && strcmp(set->items[i]->fingerprint, f->fingerprint) == 0)
			return true;
	return false;
}

/* Each confirmation is reported when it comes; at the end it is counted.  If that fails, the end tries again
 * and says why. */
static void show_confirmed(void *context, struct finding *f)
{
	struct show *s = context;
	struct report_opts how = {.colour = report_wants_colour(stderr)};

	if (f->told || is_told(s->set, f) || is_told(s->c->seen, f) || cmd_filter_apply(s->set, false) ||
	    !finding_is_fresh(f))
		return;
	if (f->schedule && cmd_write_schedule(s->c->set, f, opt.output))
		return;
	rd_progress_hide(&s->progress);
	f->told = report_finding(s->set, f, &how, stderr) == RD_OK;
}

/* Whole seconds, at least one: 0 would be no limit. */
static uint64_t seconds_left(int64_t end_ns)
{
	int64_t left = (end_ns - rd_now_ns()) / 1000000000;

	return !end_ns ? 0 : left > 1 ? (uint64_t)left : 1;
}

/* What is tried, and for how long: all that was predicted, or what is known so far, once. */
struct attempt {
	struct finding_set *set;
	bool once;
	int64_t end_ns;
};

static int settle(struct check *c, const struct trace_sites *sites, const struct attempt *t)
{
	struct show shown = {.c = c, .set = t->set, .logged_ns = rd_now_ns()};
	struct replay_program program = {.program = &c->program, .argv = c->argv, .sites = sites};
	char *directory = inside("replays");
	struct replay_settle how = {.program = &program,
				    .input = &c->input,
				    .companion = opt.with,
				    .setup = opt.setup,
				    .directory = directory,
				    .jobs = cmd_classes_jobs(opt.jobs, opt.with || opt.setup),
				    .timeout_ms = opt.timeout,
				    .time = seconds_left(t->end_ns),
				    .once = t->once,
				    .recorded_ms = c->recorded_ms,
				    .recorded_signal = c->recorded_signal,
				    .no_world = opt.no_world,
				    .all = c->all,
				    .all_count = c->all_count,
				    .extra = EXTRA,
				    .predict = predict_batch_again,
				    .predict_context = &prediction,
				    .progress = opt.quiet ? NULL : show_progress,
				    .confirmed = opt.quiet ? NULL : show_confirmed,
				    .context = &shown};
	int err;

	rd_progress_start(&shown.progress, "replaying", 0);
	err = replay_settle(&how, t->set, c->settled);
	run_orphans_end(0); /* of replays that were stopped */
	rd_progress_end(&shown.progress);
	free(directory);
	return err;
}

static int replay(struct check *c, const struct attempt *t)
{
	struct trace_sites *sites = NULL;
	int err = run_program_renew(&c->program);

	if (!err)
		err = trace_sites_read(&sites, c->program.flavour.sites);
	if (!err)
		err = settle(c, sites, t);
	trace_sites_free(sites);
	return err;
}

/* What a command that reproduces a finding has to say. */
static void say_means(const struct check *c, struct finding_set *set)
{
	set->stdin_path = c->input.shown;
	set->with = opt.with;
	set->setup = opt.setup;
	set->plugins = opt.plugins;
	set->timeout = cmd_seconds(opt.timeout);
}

/* A set of some of the findings of the check, of the same program and told in the same way. */
static void make_part(const struct check *c, struct finding_set *some)
{
	some->tool = RADDLE_VERSION;
	some->argc = c->set->argc;
	some->argv = c->set->argv;
	say_means(c, some);
}

/* ---- what the recorded run itself shows ---- */

/* What dlopen() loads is known now. */
static void note_loaded(struct check *c)
{
	for (size_t i = 0; i < prediction.modules.count; i++)
		if (strcmp(prediction.modules.items[i], c->program.path) != 0)
			rd_flavour_loaded(&c->program.flavour, prediction.modules.items[i]);
	c->program.flavour.loads_more = false;
}

/* A large run takes long to search, and its replays do: what it shows firmly unordered needs neither. */
static void trust_recorded(struct check *c, struct finding_set *set)
{
	for (size_t i = 0; i < set->count && prediction.walked; i++)
		replay_trust_recorded(&c->program.flavour, set, set->items[i]);
}

/* ---- sound predictions at once ---- */

static bool is_sound(const struct finding *f)
{
	return f->sound && f->schedule;
}

static bool is_firm(const struct finding *f)
{
	return f->firm;
}

static void keep_set(struct check *c, struct finding_set *set)
{
	RD_GROW(c->sets, c->set_capacity, c->set_count + 1);
	c->sets[c->set_count++] = set;
}

/* Copies, since finishing a set changes what is in it. */
static struct finding_set *take_early(const struct check *c, const struct finding_set *set,
				      bool (*wanted)(const struct finding *))
{
	struct finding_set *some = finding_set_new();

	for (size_t i = c->early; i < set->count; i++) {
		struct finding *f = set->items[i];
		if (f->status != FINDING_UNCONFIRMED || !wanted(f) || is_told(c->seen, f))
			continue;
		struct finding *copy = finding_array(some, 1, sizeof *copy);
		*copy = *f;
		finding_set_put(some, copy);
	}
	make_part(c, some);
	finding_set_finish(some);
	return some;
}

/* The confirmed ones take the places of those they were predictions of, or that chance showed. */
static void put_confirmed(struct finding_set *set, const struct finding_set *some)
{
	for (size_t i = 0; i < some->count; i++) {
		struct finding *f = some->items[i];
		for (size_t k = 0; k < set->count && f->status == FINDING_CONFIRMED; k++) {
			struct finding *before = set->items[k];
			finding_identify(before);
			if (finding_is_reproduced(before) || strcmp(before->fingerprint, f->fingerprint) != 0)
				continue;
			f->count = before->count;
			set->items[k] = f;
			break;
		}
	}
}

/* What is confirmed without a replay is told at once. */
static void tell_recorded(struct check *c, struct finding_set *set)
{
	struct finding_set *some = take_early(c, set, is_firm);
	struct show shown = {.c = c, .set = some, .progress = {.shown = -1}};

	note_loaded(c);
	if (cmd_filter_apply(some, false) == RD_OK)
		trust_recorded(c, some);
	for (size_t i = 0; i < some->count && !opt.quiet; i++)
		if (some->items[i]->status == FINDING_CONFIRMED)
			show_confirmed(&shown, some->items[i]);
	put_confirmed(set, some);
	keep_set(c, some);
}

/* Prediction has found more: what is certain to happen is tried once, unless all will be known soon anyway.
 */
static void try_early(struct check *c, struct finding_set *set)
{
	int64_t at = rd_now_ns();
	struct finding_set *some;

	if ((prediction.events < EARLY_EVENTS && !prediction.parts) || c->settled->interrupted)
		return;
	if (c->end_ns && !c->early_left_ns)
		c->early_left_ns = (c->end_ns - at) / EARLY_SHARE;
	tell_recorded(c, set);
	some = c->early_left_ns < 0 ? finding_set_new() : take_early(c, set, is_sound);
	c->early = set->count;
	if (some->count && cmd_filter_apply(some, false) == RD_OK) {
		rd_info("%zu sound predictions are tried while others are sought", some->count);
		replay(c, &(struct attempt){.set = some,
					    .once = true,
					    .end_ns = c->end_ns ? at + c->early_left_ns : 0});
		put_confirmed(set, some);
		c->early_left_ns -= c->end_ns ? rd_now_ns() - at : 0;
	}
	keep_set(c, some);
}

/* ---- prediction ---- */

/* A process that the program forked.  Replays lead the first process only, so what the recorded run shows
 * firmly is believed. */
static void mark_forked(struct check *c, size_t from, const char *name)
{
	note_loaded(c);
	for (size_t i = from; i < c->set->count; i++) {
		struct finding *f = c->set->items[i];
		f->schedule = NULL;
		if (f->status == FINDING_UNCONFIRMED)
			f->reason =
				finding_textf(c->set,
					      "it is in the forked process %s, and replays lead the first "
					      "process only",
					      name);
		finding_note(c->set, f, finding_textf(c->set, "Seen in the forked process %s.", name));
		if (!opt.no_replay)
			replay_trust_recorded(&c->program.flavour, c->set, f);
	}
}

/* The processes that the one of this trace forked, and those that they forked. */
static void predict_forked(struct check *c, const char *trace, const char *name)
{
	for (uint64_t n = 0;; n++) {
		char *path = rd_xasprintf("%s/fork-%" PRIu64, trace, n);
		char *full = rd_xasprintf("%s%sfork-%" PRIu64, name, *name ? "/" : "", n);
		size_t before = c->set->count;
		bool there = rd_file_exists(path);

		if (there && predict_batch_run(&prediction, path, c->set) == RD_OK)
			c->forked++;
		if (there) {
			mark_forked(c, before, full);
			predict_forked(c, path, full);
		}
		free(path);
		free(full);
		if (!there)
			break;
	}
}

/* Why there may be nothing to find. */
static void say_scope(const struct check *c)
{
	if (c->forked)
		rd_info("%" PRIu64 " forked processes were looked at", c->forked);
	if (prediction.threads <= 1 && !opt.quiet)
		rd_warn(c->forked
				? "each process ran with one thread: what processes do to each other is not "
				  "looked at"
				: "the program ran with one thread: no other schedule is possible");
}

/* What stood still is known already, and better. */
static void leave_out_standing(struct finding_set *set)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->count; i++) {
		const struct finding *f = set->items[i];
		if (f->kind != FINDING_DEADLOCK || !f->note_count)
			set->items[kept++] = set->items[i];
	}
	set->count = kept;
}

static void add_standing(struct finding_set *set, const struct finding_set *standing)
{
	leave_out_standing(set);
	for (size_t i = 0; i < standing->count; i++)
		finding_set_put(set, standing->items[i]);
}

/* When so many quarters of what recording left are over. */
static int64_t quarters(int64_t end_ns, int64_t count)
{
	int64_t at = rd_now_ns();

	return end_ns > at ? at + (end_ns - at) / 4 * count : end_ns;
}

/* Whether the first run had no end: then short runs of our own making say more than all of it. */
static bool has_no_end(const struct check *c)
{
	return cmd_ending_busy(&c->runs[0].ending);
}

/* Whether what the first run did takes long to search, so that other means come first. */
static bool is_large(const struct check *c)
{
	return c->runs[0].ending.events >= EARLY_EVENTS;
}

/* ---- more runs of a large program ---- */

/* What a run showed unordered that is not known yet, or not confirmed; returns how much was new. */
static size_t add_seen(struct check *c, struct finding_set *to, struct finding_set *seen)
{
	struct show shown = {.c = c, .set = seen, .progress = {.shown = -1}};
	size_t fresh = 0;

	for (size_t i = 0; i < seen->count; i++) {
		struct finding *f = seen->items[i], *before = finding_at(to, f->fingerprint);

		if (before)
			before->told |= f->told;
		if (before && (before->status == FINDING_CONFIRMED || !f->firm))
			continue;
		if (before)
			before->firm = f->firm;
		else
			finding_set_put(to, f);
		f = before ? before : f;
		if (!opt.no_replay)
			replay_trust_recorded(&c->program.flavour, to, f);
		if (f->status == FINDING_CONFIRMED && !opt.quiet)
			show_confirmed(&shown, f);
		fresh++;
	}
	return fresh;
}

/* Records once more; what is seen is less than the truth if that fails, but not wrong. */
static int see_more(struct check *c, const char *path, bool all, struct finding_set *seen)
{
	struct past past = {.all = all};
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int streams[] = {run_input_again(&c->input), null, null};
	struct past *first = c->now;
	int err = streams[0] < 0 ? RD_ESYSTEM : record_prepare_directory(path, true);

	if (!err)
		err = run_setup(opt.setup, STDERR_FILENO);
	past.ending.limit_ms = opt.timeout ? opt.timeout : 2 * c->recorded_ms + LEAST_MS;
	if (!err)
		err = record_into(c, &past, path, streams);
	prediction.failures = !past.ending.stopped && !cmd_ending_pinched(&past.ending);
	if (!err)
		err = predict_batch_look(&prediction, path, seen);
	if (!err && past.standing)
		add_standing(seen, past.standing);
	if (past.standing)
		keep_set(c, past.standing);
	c->now = first;
	cmd_ending_release(&past.ending);
	if (streams[0] >= 0)
		close(streams[0]);
	close(null);
	return err;
}

/* One run of a large program shows only some of its races unordered, and a look at another one takes less
 * time than a search, or a replay of each.  Every other run is recorded without thinning, if there is time:
 * what seldom comes together is thinned out of each of them.  `took_ns` is what a run and a look take. */
static void look_at_more(struct check *c, struct finding_set *to, int64_t took_ns)
{
	char *path = trace_path(opt.runs);
	int64_t end_ns = quarters(c->end_ns, 3);
	size_t nothing = 0;

	for (size_t n = 0; n < RUNS_MORE && nothing < RUNS_NOTHING && !run_launch_interrupted(); n++) {
		struct finding_set *seen = finding_set_new();
		int64_t at = rd_now_ns();
		bool all = n % 2 == 0 && (!c->end_ns || end_ns - at >= took_ns * RUNS_SHARE);

		keep_set(c, seen);
		if (c->end_ns && end_ns - at < took_ns)
			break;
		prediction.deadline_ns = c->end_ns ? end_ns : 0;
		make_part(c, seen);
		if (see_more(c, path, all, seen) || cmd_filter_apply(seen, false))
			break;
		c->more++;
		nothing = add_seen(c, to, seen) ? 0 : nothing + 1;
		if (!all)
			took_ns = rd_now_ns() - at;
		rd_info("a further run of %.1f s was looked at", (double)(rd_now_ns() - at) / 1e9);
	}
	rd_remove_tree(path);
	free(path);
	finding_set_finish(to);
}

static bool is_to_look_more(const struct check *c)
{
	return is_large(c) && !has_no_end(c) && !opt.no_replay && !c->settled->interrupted &&
	       !c->runs[0].standing;
}

/* The first run was looked at: others are before anything is searched for, which takes longer and tells less.
 */
static void see_first(struct check *c, const struct predict_pass *pass)
{
	struct finding_set *first = predict_pass_unordered(pass);
	bool failures = prediction.failures;
	int64_t took_ns = rd_now_ns() - c->ended_ns + (int64_t)c->recorded_ms * 1000000;

	keep_set(c, first);
	if (!is_to_look_more(c) || c->seen)
		return;
	note_loaded(c);
	make_part(c, first);
	c->seen = finding_set_new();
	make_part(c, c->seen);
	keep_set(c, c->seen);
	if (!cmd_filter_apply(first, false))
		add_seen(c, c->seen, first);
	look_at_more(c, c->seen, took_ns);
	prediction.failures = failures;
	prediction.deadline_ns = quarters(c->end_ns, 1);
	prediction.latest_ns = quarters(c->end_ns, 3);
}

/* Acts on what each step of a prediction shows. */
static int predict_trace(struct check *c, const char *path)
{
	enum predict_event event = PREDICT_FOUND;
	struct predict_pass *pass;
	int err = predict_pass_open(&pass, &prediction, path, c->set);

	while (!err && event != PREDICT_OVER) {
		err = predict_pass_next(pass, &event);
		if (!err && event == PREDICT_WALKED)
			see_first(c, pass);
		else if (!err && event == PREDICT_FOUND && !opt.no_replay)
			try_early(c, c->set);
	}
	predict_pass_close(pass);
	return err;
}

static int predict(struct check *c)
{
	struct rd_progress progress = {.shown = -1};
	int err = RD_OK, share = has_no_end(c) || is_large(c) ? 1 : 2;

	if (!opt.quiet)
		rd_progress_say(&progress, "predicting");
	prediction.deadline_ns = quarters(c->end_ns, share); /* so that there is time to try what it found */
	prediction.latest_ns = quarters(c->end_ns, has_no_end(c) ? 2 : 3);
	for (size_t n = 0; n < opt.runs && !err; n++) {
		char *path = trace_path(n);
		prediction.ended = cmd_ending_late(&c->runs[n].ending) &&
				   WIFSIGNALED(c->runs[n].ending.end.status) && !c->runs[n].standing;
		/* Where it failed is not in a trace that ends before, and if it did so for our sake that is
		 * none. */
		prediction.failures = !c->runs[n].ending.stopped && !cmd_ending_pinched(&c->runs[n].ending);
		err = predict_trace(c, path);
		if (err && c->set->tool)
			err = RD_OK; /* the message is out, and what could be read was looked at */
		if (!err && c->runs[n].standing)
			add_standing(c->set, c->runs[n].standing);
		prediction.ended = false;
		if (!err)
			predict_forked(c, path, "");
		free(path);
	}
	rd_progress_end(&progress);
	if (err)
		return err;
	note_loaded(c);
	trust_recorded(c, c->set);
	say_scope(c);
	c->all_count = c->set->count;
	c->all = rd_xcalloc(c->all_count + 1, sizeof *c->all);
	for (size_t i = 0; i < c->all_count; i++)
		c->all[i] = c->set->items[i];
	finding_set_finish(c->set);
	if (c->seen) {
		add_seen(c, c->set, c->seen);
		finding_set_finish(c->set);
	}
	return cmd_filter_apply(c->set, false);
}

/* ---- further runs ---- */

/* Of what a further run showed: what nobody knew (`fresh`), or what is known and not confirmed. */
static struct finding_set *choose(struct check *c, const struct finding_set *seen, bool fresh)
{
	struct finding_set *some = finding_set_new();

	for (size_t i = 0; i < seen->count; i++) {
		struct finding *f = seen->items[i];
		const struct finding *before = finding_at(c->set, f->fingerprint);

		if (fresh ? !before : before && before->status != FINDING_CONFIRMED && f->schedule)
			finding_set_put(some, f);
	}
	make_part(c, some);
	return some;
}

/* What was not confirmed by a meeting may show to the detector, in the run that it was predicted from. */
static int look_again(struct check *c, const struct finding_set *seen, const struct schedule *made,
		      int64_t end_ns)
{
	struct finding_set *some = explore_look_again(seen, c->set, made);
	int err = RD_OK;

	make_part(c, some);
	if (some->count && !opt.no_replay && !c->settled->interrupted)
		err = replay(c, &(struct attempt){.set = some, .once = true, .end_ns = end_ns});
	put_confirmed(c->set, some);
	keep_set(c, some);
	return err;
}

/* What is new is tried in every way, what is known by one replay from here.  *any: something came of it. */
static int try_further(struct check *c, const struct finding_set *seen, const struct schedule *made,
		       int64_t end_ns, bool *any)
{
	struct finding_set *fresh = choose(c, seen, true), *old = choose(c, seen, false);
	size_t before = finding_set_count(c->set, FINDING_CONFIRMED, false);
	int err = cmd_filter_apply(fresh, false);

	*any = fresh->count > 0;
	c->further.fresh += fresh->count;
	if (!err && fresh->count && !opt.no_replay)
		err = replay(c, &(struct attempt){.set = fresh, .end_ns = end_ns});
	for (size_t i = 0; i < fresh->count && !err; i++)
		finding_set_put(c->set, fresh->items[i]);
	if (!err && old->count && !opt.no_replay && !c->settled->interrupted)
		err = replay(c, &(struct attempt){.set = old, .once = true, .end_ns = end_ns});
	put_confirmed(c->set, old);
	if (!err)
		err = look_again(c, seen, made, end_ns);
	finding_set_finish(c->set);
	*any |= finding_set_count(c->set, FINDING_CONFIRMED, false) > before;
	keep_set(c, fresh);
	keep_set(c, old);
	return err;
}

static int record_further(struct check *c, const struct explore *how, int64_t end_ns,
			  const struct explore_racy *which)
{
	struct finding_set *seen = finding_set_new();
	char *path = trace_path(opt.runs + c->further.runs);
	struct schedule made = {0};
	bool counts = false, any = false;
	int err = record_prepare_directory(path, true);

	if (!err)
		err = explore_record(how, which, path, &counts, &made);
	if (!err && counts)
		err = predict_batch_again(&prediction, path, seen);
	if (!err && counts)
		err = try_further(c, seen, &made, end_ns, &any);
	further_took(&c->further, any);
	schedule_release(&made);
	keep_set(c, seen);
	free(path);
	return err;
}

static struct trial_how runs_of(const struct check *c, const struct replay_program *program, int64_t end_ns)
{
	return (struct trial_how){.program = program,
				  .input = &c->input,
				  .companion = opt.with,
				  .setup = opt.setup,
				  .timeout = cmd_seconds(opt.timeout),
				  .end_ns = end_ns,
				  .recorded_ms = has_no_end(c) ? 0 : c->recorded_ms};
}

static int record_more(struct check *c, int64_t end_ns)
{
	struct trace_sites *sites = NULL;
	int err = trace_sites_read(&sites, c->program.flavour.sites);
	struct replay_program program = {.program = &c->program, .argv = c->argv, .sites = sites};
	struct explore how = {
		.runs = runs_of(c, &program, end_ns), .seed = opt.explore_seed, .strategy = opt.strategy};
	struct explore_racy which;

	while (!err && further_next(&c->further, &which)) {
		if ((end_ns && rd_now_ns() >= end_ns) || c->settled->interrupted)
			break;
		err = record_further(c, &how, end_ns, &which);
	}
	trace_sites_free(sites);
	return err;
}

static int explore_more(struct check *c, int64_t end_ns)
{
	struct run_build build = {.fast = opt.fast,
				  .quick = opt.quick,
				  .often = true,
				  .verbose = opt.verbose,
				  .end_ns = end_ns,
				  .plugins = opt.plugins};
	struct cmd_classes_program led;
	int err = cmd_classes_open(&led, c->argv[0], &build);
	struct replay_program program = {.program = &led.program, .argv = c->argv, .sites = led.sites};
	struct explore how = {.runs = runs_of(c, &program, c->end_ns),
			      .jobs = cmd_classes_jobs(opt.jobs, false),
			      .seed = opt.explore_seed,
			      .least = FURTHER_LEAST,
			      .time = seconds_left(end_ns),
			      .strategy = opt.strategy,
			      .suggested = c->set,
			      .go_on = true};

	if (!err)
		err = explore_run(&how, c->set, &c->explored);
	if (!err) {
		further_choose(&c->further, &c->explored, c->set, led.sites);
		keep_set(c, c->sighted = explore_sighted(&c->explored, led.sites));
	}
	c->settled->interrupted |= c->explored.stop == EXPLORE_INTERRUPTED;
	cmd_classes_close(&led);
	return err;
}

/* Before anybody has read the trace. */
static bool has_forked(void)
{
	char *path = inside("trace/fork-0");
	bool there = rd_file_exists(path);

	free(path);
	return there;
}

/* Only a program that has come to its own end, or to a deadlock that stands, is one whose other schedules can
 * be held against it; one that has company, files to restore or sockets may fail for reasons of theirs.  One
 * that was still working when its time was up is not waiting for anybody outside: its races are as good as
 * any. */
static bool is_to_explore(const struct check *c)
{
	const struct past *first = &c->runs[0];

	return !opt.no_explore && !c->settled->interrupted && !c->edits.lines && !opt.with && !opt.setup &&
	       !first->ending.stopped &&
	       (has_no_end(c) ? !has_forked()
			      : prediction.threads > 1 && !c->forked &&
					(first->standing || WIFEXITED(first->ending.end.status)));
}

/* What comes of further runs is worth knowing, but a check without them has not failed. */
static void look_further(struct check *c, double begin)
{
	int64_t at = rd_now_ns(),
		end_ns = further_end(c->end_ns, (int64_t)((((double)rd_now_ns() / 1e9) - begin) * 1e9),
				     has_no_end(c));
	int err = RD_OK;

	if ((!end_ns || end_ns > at) && !opt.no_replay)
		err = explore_more(c, end_ns ? at + (end_ns - at) / 2 : 0);
	if (!err)
		err = record_more(c, end_ns);
	if (err)
		rd_warn("no further schedules could be looked at");
	explore_put_sighted(c->set, c->sighted);
	explore_leave_known(c->set, has_no_end(c));
	finding_set_finish(c->set);
}

/* A trace that has no end takes long to read, and shows the same again and again.  Short runs come first. */
static void look_before(struct check *c, double begin)
{
	while (c->argv[c->set->argc])
		c->set->argc++;
	c->set->argv = finding_array(c->set, c->set->argc, sizeof *c->set->argv);
	for (size_t i = 0; i < c->set->argc; i++)
		c->set->argv[i] = finding_text(c->set, c->argv[i]);
	c->set->tool = RADDLE_VERSION;
	say_means(c, c->set);
	prediction.deadline_ns = prediction.latest_ns = c->end_ns;
	look_further(c, begin);
}

/* ---- classes ---- */

/* Not if making one more flavour would take longer than there is time. */
static bool is_to_classify(struct check *c)
{
	int64_t left = c->end_ns - rd_now_ns();
	uint64_t races = 0;

	for (size_t i = 0; i < c->set->count; i++)
		races += c->set->items[i]->kind == FINDING_RACE &&
			 c->set->items[i]->status == FINDING_CONFIRMED;
	if (!races || !c->end_ns || (double)left / 1e9 > c->built)
		return races;
	c->classes.untried = races;
	return false;
}

/* When replays have to end: classification gets a quarter of what is left. */
static int64_t settled_by(const struct check *c)
{
	int64_t left = c->end_ns - rd_now_ns();

	return opt.no_classify || !c->end_ns || left < 0 ? c->end_ns : c->end_ns - left / 4;
}

/* What comes of a race is worth knowing, but a check that cannot tell has not failed. */
static int classify(struct check *c)
{
	struct run_build build = {.fast = opt.fast,
				  .quick = opt.quick,
				  .often = true,
				  .verbose = opt.verbose,
				  .end_ns = c->end_ns,
				  .edits = c->edits.lines,
				  .plugins = opt.plugins};
	char *directory = inside("classes");
	struct classify how = {.input = &c->input,
			       .companion = opt.with,
			       .setup = opt.setup,
			       .directory = directory,
			       .jobs = cmd_classes_jobs(opt.jobs, opt.with || opt.setup),
			       .timeout = cmd_seconds(opt.timeout),
			       .recorded_ms = c->recorded_ms,
			       .confirmed = true,
			       .no_world = opt.no_world,
			       .model = FINDING_SC,
			       .models = c->models,
			       .coherent = opt.coherent,
			       .techniques = CLASSIFY_TECHNIQUES};
	struct cmd_classes_program program;
	int err = cmd_classes_open(&program, c->argv[0], &build), wrong = RD_OK;

	how.time = seconds_left(c->end_ns); /* making the flavour took some of it */
	if (!err)
		wrong = err = cmd_edits_find(&c->edits, program.sites, true);
	if (!err)
		err = cmd_classes_run(&program, how, c->argv, c->set, &c->classes);
	if (err && !wrong)
		rd_warn("the races could not be classified");
	if (!err)
		cmd_edits_warn(&c->edits, c->classes.edits);
	cmd_classes_close(&program);
	free(directory);
	return wrong ? wrong : cmd_classes_write_witnesses(c->set, opt.output);
}

/* ---- the report ---- */

static void add_stats(const struct check *c, const struct replay_settled *r)
{
	const struct cmd_ending *e = &c->runs[0].ending;

	predict_batch_stats(&prediction, c->set);
	finding_stat(c->set, "threads", (double)prediction.threads);
	finding_stat(c->set, "runs", (double)opt.runs);
	finding_stat(c->set, "runs_more", (double)c->more);
	finding_stat(c->set, "forked", (double)c->forked);
	finding_stat(c->set, "program_status", cmd_ending_status(e));
	if (WIFSIGNALED(e->end.status))
		finding_stat(c->set, "program_signal", WTERMSIG(e->end.status));
	finding_stat(c->set, "replayed", (double)r->replayed);
	finding_stat(c->set, "replays", (double)r->replays);
	finding_stat(c->set, "untried", (double)r->untried);
	finding_stat(c->set, "unfinished", (double)r->unfinished);
	finding_stat(c->set, "added", (double)r->added);
	finding_stat(c->set, "further_runs", (double)c->further.runs);
	finding_stat(c->set, "further_findings", (double)c->further.fresh);
	finding_stat(c->set, "schedules", (double)c->explored.schedules);
	finding_stat(c->set, "different_schedules", (double)c->explored.different);
	finding_stat(c->set, "pairs", (double)c->set->pair_count);
	finding_stat(c->set, "pairs_both", (double)finding_pairs_both(c->set));
	finding_stat(c->set, "build_seconds", c->built);
	finding_stat(c->set, "record_seconds", c->seconds[0]);
	finding_stat(c->set, "predict_seconds", c->seconds[1]);
	finding_stat(c->set, "replay_seconds", c->seconds[2]);
	finding_stat(c->set, "classify_seconds", c->seconds[3]);
	cmd_classes_stats(c->set, &c->classes);
}

static int write_documents(const struct check *c, const struct report_opts *how)
{
	char *path = inside("findings.json");
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

static void say_late(const struct replay_settled *r)
{
	const char *why = r->interrupted ? "before the interrupt" : "in the time given (--time raises it)";

	if (r->untried)
		fprintf(stderr, "Not replayed %s: %" PRIu64 ".\n", why, r->untried);
	if (r->unfinished)
		fprintf(stderr, "Replayed, but not in every way %s: %" PRIu64 ".\n", why, r->unfinished);
}

static void say_end(const struct check *c)
{
	struct rd_buf words = RD_BUF_INIT;

	cmd_ending_words(&c->runs[0].ending, &words);
	fprintf(stderr, "The recorded program %s.\n", words.data);
	rd_buf_release(&words);
}

static void say_further(const struct check *c)
{
	const struct explore_result *r = &c->explored;

	if (!c->further.runs)
		return;
	fprintf(stderr, "Further runs: %" PRIu64 " recorded, with %" PRIu64 " new findings.\n",
		c->further.runs, c->further.fresh);
	if (!r->schedules) {
		fprintf(stderr, "No schedule could be explored: %s.\n",
			r->why ? r->why : "there was no time");
		return;
	}
	fprintf(stderr, "Schedules explored: %" PRIu64 ", %" PRIu64 " different%s.\n", r->schedules,
		r->different,
		r->stop == EXPLORE_SETTLED ? ", the last ones without anything new"
		: r->stop == EXPLORE_TIME  ? ", until their time was up"
					   : "");
	report_coverage_line(c->set, stderr);
}

static void say_rest(const struct check *c, const struct replay_settled *r)
{
	say_end(c);
	say_further(c);
	say_late(r);
	cmd_classes_say(c->set, &c->classes, stderr);
	cmd_prediction_rest(&prediction, stderr, "tried");
	if (c->input.typed && finding_set_count(c->set, FINDING_CONFIRMED, false) < c->set->count)
		fputs("The replays had no input, because it came from a terminal; use a file.\n", stderr);
	fprintf(stderr, "The trace, findings.json and schedules are in %s.\n", opt.output);
}

static int report(struct check *c, const struct replay_settled *r)
{
	struct report_opts how = {.colour = report_wants_colour(stderr),
				  .others = opt.verbose,
				  .baseline = opt.baseline != NULL};
	int err;

	add_stats(c, r);
	err = cmd_filter_apply(c->set, true);
	if (!err)
		err = cmd_write_schedules(c->set, opt.output);
	if (!err)
		err = write_documents(c, &how);
	if (err || opt.quiet)
		return err;
	err = report_text(c->set, &how, stderr);
	say_rest(c, r);
	return err;
}

/* ---- the whole ---- */

static int check_program(struct check *c, struct replay_settled *r)
{
	double begin = ((double)rd_now_ns() / 1e9);
	int err = record(c);

	c->seconds[0] = ((double)rd_now_ns() / 1e9) - begin;
	if (!err && has_no_end(c) && is_to_explore(c))
		look_before(c, begin);
	if (!err)
		err = predict(c);
	if (!err && is_to_look_more(c) && !c->seen)
		look_at_more(c, c->set, (int64_t)c->recorded_ms * 1000000 * RUNS_SHARE);
	c->seconds[1] = ((double)rd_now_ns() / 1e9) - begin - c->seconds[0];
	say_means(c, c->set);
	prediction.deadline_ns = c->end_ns;
	if (!err && !opt.no_replay && !r->interrupted)
		err = replay(c, &(struct attempt){.set = c->set, .end_ns = settled_by(c)});
	c->seconds[2] = ((double)rd_now_ns() / 1e9) - begin - c->seconds[0] - c->seconds[1];
	finding_set_finish(c->set);
	if (!err && !has_no_end(c) && is_to_explore(c))
		look_further(c, begin);
	cmd_edits_mark(&c->edits, c->set);
	if (!err && !opt.no_classify && !r->interrupted && is_to_classify(c))
		err = classify(c);
	if (!err && !opt.no_classify && explore_join_failures(c->set))
		err = cmd_classes_write_witnesses(c->set, opt.output);
	c->seconds[3] = ((double)rd_now_ns() / 1e9) - begin - c->seconds[0] - c->seconds[1] - c->seconds[2];
	cmd_classes_sort(c->set);
	return err ? err : report(c, r);
}

/* A prediction whose replay could not even be done says nothing. */
static const char *find_impossible(const struct finding_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct finding *f = set->items[i];
		if (f->reason && !strncmp(f->reason, REPLAY_IMPOSSIBLE, strlen(REPLAY_IMPOSSIBLE)))
			return f->reason + strlen(REPLAY_IMPOSSIBLE);
	}
	return NULL;
}

/* Nothing was confirmed: whether that means something, and the status. */
static int conclude(const struct check *c, bool interrupted)
{
	struct rd_buf why = RD_BUF_INIT;
	int err = RD_OK;

	if (interrupted)
		err = rd_fail(RD_ESYSTEM, "check: interrupted");
	if (!err && prediction.late && !prediction.looked)
		err = rd_fail(RD_ELIMIT, "check: the time was up before any part of the run was looked at; "
					 "--time raises it");
	for (size_t i = 0; i < opt.runs && !err; i++)
		if (cmd_ending_doubt(&c->runs[i].ending, prediction.at_start > 0, &why))
			err = rd_fail(RD_ESYSTEM, "check: %s", why.data);
	rd_buf_release(&why);
	if (!err && find_impossible(c->set))
		err = rd_fail(RD_ESYSTEM, "check: a finding could not be replayed: %s",
			      find_impossible(c->set));
	if (err)
		return CMD_FAILED;
	return opt.pass_status ? cmd_ending_status(&c->runs[0].ending) : CMD_OK;
}

static void release(struct check *c)
{
	finding_set_free(c->set);
	classify_result_release(&c->classes);
	explore_result_release(&c->explored);
	for (size_t i = 0; i < c->set_count; i++)
		finding_set_free(c->sets[i]);
	free(c->sets);
	for (size_t i = 0; i < opt.runs; i++) {
		finding_set_free(c->runs[i].standing);
		cmd_ending_release(&c->runs[i].ending);
	}
	free(c->runs);
	free(c->all);
	further_release(&c->further);
	run_input_close(&c->input);
	run_program_close(&c->program);
	cmd_edits_close(&c->edits);
	rd_argv_release(&prediction.modules);
}

static int find_edits(struct check *c)
{
	struct trace_sites *sites = NULL;
	int err = trace_sites_read(&sites, c->program.flavour.sites);

	if (!err)
		err = cmd_edits_find(&c->edits, sites, false);
	trace_sites_free(sites);
	return err;
}

/* The time of the check begins here: making the flavour is part of it. */
static int build(struct check *c)
{
	int64_t begin_ns = rd_now_ns(), limit_ns = (int64_t)opt.time * 1000000;
	struct run_build how = {.fast = opt.fast,
				.quick = opt.quick,
				.often = true,
				.verbose = opt.verbose,
				.end_ns = limit_ns ? begin_ns + limit_ns : 0,
				.plugins = opt.plugins};
	int err;

	c->start_ns = begin_ns;
	c->end_ns = how.end_ns;
	err = cmd_edits_open(&c->edits);
	how.edits = c->edits.lines;
	if (!err)
		err = run_program_open(&c->program, c->argv[0], &how);
	if (!err && how.edits)
		err = find_edits(c);
	c->built = (double)(rd_now_ns() - begin_ns) / 1e9;
	if (!err && limit_ns && c->built * MUCH > (double)limit_ns / 1e9)
		rd_warn("instrumenting the program took %.0f of the %g s of --time; the next check will have "
			"them for its replays",
			c->built, (double)limit_ns / 1e9);
	return err;
}

/* What was asked for about classes. */
struct wanted {
	enum finding_class fail_on;
	unsigned models;
};

static int check(char **argv, const struct wanted *wanted)
{
	struct replay_settled r = {0};
	struct check c = {.argv = argv,
			  .settled = &r,
			  .companion = {.command = opt.with},
			  .fail_on = wanted->fail_on,
			  .models = wanted->models};
	struct rd_claim claim = {0};
	int status, err = build(&c);
	bool found;

	c.set = finding_set_new();
	c.runs = rd_xcalloc(opt.runs, sizeof *c.runs);
	if (!err)
		err = cmd_filter_apply(c.set, false); /* a wrong name is told before the run */
	if (!err)
		err = prepare_directory(&claim);
	if (!err)
		err = check_program(&c, &r);
	found = cmd_classes_found(c.set, c.fail_on);
	status = err ? CMD_FAILED : found ? CMD_FOUND : conclude(&c, r.interrupted);
	replay_settled_release(&r);
	release(&c);
	rd_claim_release(&claim);
	return status;
}

int cmd_check(int argc, char **argv)
{
	struct wanted wanted = {0};
	struct cmd_words words;
	int status = cmd_program(argc, argv, &usage, NULL, &words), ended;

	if (status != CMD_GO_ON)
		return status;
	if (!*words.program)
		return cmd_which("check", "program");
	if (cmd_classes_option(opt.fail_on, "check", &wanted.fail_on) || cmd_strategy("check") ||
	    cmd_classes_models(opt.check_models, "check", "--memory-models", &wanted.models))
		return CMD_FAILED;
	opt.timeout = cmd_limit(opt.timeout, 0);
	cmd_prediction_start(&prediction);
	if (run_guard(&ended))
		return run_exit_like(ended);
	return check(words.program, &wanted);
}
