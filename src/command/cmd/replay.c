// SPDX-License-Identifier: Apache-2.0
/*
 * raddle replay: runs a program under the schedule of a finding and says whether the
 * race or deadlock came about.
 *
 * The program has our standard streams, so everything of ours goes to stderr, or to
 * files that the user named.
 */
#include "cmd/cmd.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scratch.h"
#include "cmd/findings.h"
#include "cmd/gdb.h"
#include "cmd/output.h"
#include "predict/batch.h"
#include "record/prepare.h"
#include "finding/load.h"
#include "replay/replay.h"
#include "report/report.h"
#include "run/companion.h"
#include "run/override.h"
#include "run/guard.h"
#include "run/launch.h"
#include "run/orphan.h"
#include "run/program.h"
#include "trace/meta.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cmd_usage usage = {
	"raddle replay [--id ID] FINDING [--] [PROG ARGS...]",
	"Runs a program so that the race or deadlock of a finding happens: the operations of its\n"
	"schedule are done in their order, and the threads are stopped where they meet.\n"
	"FINDING is a schedule file, or a document of 'raddle predict --json' or 'raddle check\n"
	"--json'.  Without PROG the program of the document is run.  The report goes to standard\n"
	"error.  The exit status is 1 if the finding was reproduced, otherwise 0.",
	"id json record times first turns_seed then export " CMD_BESIDE
	"patience gdb gdb_args no_detect no_world flavour " CMD_BUILD "as_is " CMD_WORDS,
	"  raddle predict --schedules found trace\n"
	"  raddle replay found/15ab370364b3b2af.schedule -- ./bank 4\n"
	"  raddle replay --gdb found/15ab370364b3b2af.schedule -- ./bank 4\n",
	false,
};

/* ---- the finding ---- */

/* Leaves the one finding that is meant in the set. */
static int choose(struct finding_set *set, const char *path)
{
	struct finding *f = opt.id ? finding_find(set, opt.id) : NULL;

	if (opt.id && !f)
		return rd_fail(
			RD_ENOTFOUND,
			"replay: %s: no finding, or more than one, has the id '%s' (six digits or more)",
			path, opt.id);
	if (!set->count)
		return rd_fail(RD_ENOTFOUND, "replay: %s: there is no finding in it", path);
	if (!opt.id && set->count > 1)
		return rd_fail(RD_EUSAGE, "replay: %s: it has %zu findings; choose one with --id, such as %s",
			       path, set->count, set->items[0]->id);
	f = f ? f : set->items[0];
	if (finding_load_schedule(set, f))
		return RD_EFORMAT;
	if (!f->schedule)
		return rd_fail(RD_EUSAGE, "replay: %s: finding %s has no schedule", path, f->id);
	set->items[0] = f;
	set->count = 1;
	return 0;
}

static int read_finding(const char *path, struct finding_set **set)
{
	int err = finding_load(path, set);

	if (!err && (*set)->count == 1 && !(*set)->items[0]->count)
		return RD_OK; /* a schedule alone */
	return err ? err : choose(*set, path);
}

/* ---- the run ---- */

struct task {
	struct finding_set *set;
	struct finding *finding;
	struct cmd_gdb gdb;
	struct run_companion companion;
	struct run_override given; /* the input of the schedule, if it has one */
	int streams[3];
	uint64_t told; /* operations that were named */
	uint64_t outcomes[REPLAY_OUTCOMES], runs, reproduced;
	double wall, cpu;
	int stop_signal; /* the user ended it */

	/* Threads that take turns. */
	struct finding_set *then; /* of --then */
	bool handed_over;
	struct replay_turns turns; /* of the last run; its strings are gone but for `strayed` */
	struct rd_buf strayed;
	struct replay_outside outside; /* of the last run; its strings are gone but for `lack` */
};

static bool show_in_gdb(void *context, pid_t pid, const struct replay_result *so_far, unsigned *first)
{
	struct task *t = context;

	(void)first;
	return cmd_gdb_met(&t->gdb, pid, so_far);
}

static int begin_run(void *context)
{
	struct task *t = context;
	int err = run_setup(opt.setup, STDERR_FILENO);

	if (!err && t->given.input >= 0 && lseek(t->given.input, 0, SEEK_SET) < 0)
		err = rd_fail_errno("replay: standard input");
	run_override_enter(&t->given);
	return err;
}

static void started_run(void *context, pid_t pid)
{
	struct task *t = context;

	run_override_leave(&t->given);
	run_companion_start(&t->companion, pid, STDERR_FILENO);
}

/* A client whose server was held on the way may well fail. */
static void ended_run(void *context)
{
	struct task *t = context;

	run_override_leave(&t->given);
	run_companion_stop(&t->companion);
	if (!opt.gdb) /* which is a child of ours, too */
		run_orphans_end(0);
}

static void tell_progress(void *context, uint64_t done)
{
	struct task *t = context;
	const struct schedule *s = t->finding->schedule;

	for (; t->told < done; t->told++) {
		const struct schedule_op *op = &s->ops[t->told];

		fprintf(stderr, "raddle: %" PRIu64 "/%zu %s %s%s%s", t->told + 1, s->op_count, op->thread,
			op->kind, op->object ? " " : "", op->object ? op->object : "");
		if (op->place.file)
			fprintf(stderr, " at %s:%" PRIu32, op->place.file, op->place.line);
		fputc('\n', stderr);
	}
}

/* Behind the decisions of the schedule come those of --then. */
static bool hand_over(void *context, const struct replay_stand *stand, struct schedule *more,
		      const char **next)
{
	struct task *t = context;
	const struct schedule *s = t->then->items[0]->schedule;

	(void)next;
	if (stand->taken < t->finding->schedule->decision_count)
		return true;
	for (size_t i = 0; i < s->watch_count && !t->handed_over; i++)
		*schedule_add_watch(more) = s->watches[i];
	for (size_t i = 0; i < s->decision_count && !t->handed_over; i++)
		*schedule_add_decision(more) = s->decisions[i];
	more->seed = s->seed;
	t->handed_over = true;
	return false;
}

/* What was decided in a run. */
static int keep_turns(struct task *t, const struct replay_result *result)
{
	struct schedule made;
	int err = 0;

	t->turns = result->turns;
	rd_buf_clear(&t->strayed);
	rd_buf_adds(&t->strayed, result->turns.strayed ? result->turns.strayed : "");
	if (!opt.export)
		return 0;
	err = replay_export(t->finding->schedule, result, &made);
	if (!err)
		err = schedule_write(&made, opt.export);
	schedule_release(&made);
	return err;
}

static void say_turns(const struct task *t)
{
	fprintf(stderr,
		"raddle: the threads took turns: %" PRIu64 " choices, %zu of them decided, trail %016" PRIx64
		"\n",
		t->turns.choices, t->turns.made_count, t->turns.trail);
	if (t->turns.unsure)
		fprintf(stderr,
			"raddle: %" PRIu64
			" times a thread waited for something outside: this may be different next time\n",
			t->turns.unsure);
	if (t->strayed.length)
		fprintf(stderr, "raddle: the run left the schedule: %s\n", t->strayed.data);
}

/* What came from outside, and what was sent there. */
static void say_outside(const struct replay_outside *o)
{
	if (o->arrivals || o->connections)
		fprintf(stderr,
			"raddle: given back: %" PRIu64 " of %" PRIu64 " arrivals from outside\n"
			"raddle: sent: %zu bytes, digest %016" PRIx64 "; %" PRIu64 " of %" PRIu64
			" connections as in the recorded run\n",
			o->arrived, o->arrivals, o->sent_length, o->digest, o->same, o->connections);
	if (o->lack)
		fprintf(stderr, "raddle: unmodelled: %s\n", o->lack);
}

/* What the recorded run was like, if its trace is still there. */
static void ask_recorded_run(struct replay_request *request, const struct schedule *s)
{
	struct rd_buf path = RD_BUF_INIT;
	struct trace_meta meta = {0};

	if (s->trace)
		rd_buf_addf(&path, "%s/meta.json", s->trace);
	if (path.length && rd_file_exists(path.data) && !trace_meta_read(&meta, path.data)) {
		if (meta.end_ns > meta.start_ns)
			request->recorded_ms = (meta.end_ns - meta.start_ns) / 1000000 + 1;
		request->recorded_signal = meta.end == TRACE_SIGNALLED ? meta.code : 0;
		trace_meta_release(&meta);
	}
	rd_buf_release(&path);
}

static int run_once(struct task *t, const struct replay_policy *policy)
{
	struct replay_result result;
	int err;

	t->told = 0;
	t->handed_over = false;
	err = replay_finding(policy, t->set, t->finding, &result);
	if (err)
		return err;
	t->runs++;
	t->outcomes[result.outcome]++;
	t->reproduced += t->finding->status == FINDING_CONFIRMED;
	t->wall += result.wall_seconds;
	t->cpu += result.cpu_seconds;
	if ((result.outcome == REPLAY_STOPPED && !opt.with) || run_launch_interrupted())
		t->stop_signal = result.end == REPLAY_SIGNALLED ? result.status : -1;
	t->outside = result.outside;
	err = t->finding->schedule->turns ? keep_turns(t, &result) : 0;
	replay_result_release(&result);
	return err;
}

/* The finding keeps the verdict of the best run: what came about once is there. */
static int run_all(struct task *t, struct replay_policy *policy)
{
	struct finding kept = *t->finding, first = *t->finding;
	int err = 0;

	for (uint64_t i = 0; i < opt.times && !err && !t->stop_signal; i++) {
		*t->finding = first;
		policy->request.record_into = i ? NULL : opt.record;
		err = run_once(t, policy);
		if (!i || (kept.status != FINDING_CONFIRMED && t->finding->status == FINDING_CONFIRMED))
			kept = *t->finding;
	}
	*t->finding = kept;
	return err;
}

static int replay(struct task *t, const struct run_program *program)
{
	struct replay_program run = {.program = program, .argv = t->given.argv};
	struct replay_policy policy = {.request = {.program = &run,
						   .patience_ms = cmd_limit(opt.patience, CMD_FOREVER),
						   .limit_ms = cmd_limit(opt.timeout, CMD_FOREVER),
						   .streams = t->given.input >= 0 ? t->streams : NULL,
						   .directory = t->given.directory,
						   .begin = begin_run,
						   .started = started_run,
						   .ended = ended_run,
						   .first = (unsigned)opt.first,
						   .detect = !opt.gdb && !opt.no_detect,
						   .no_world = opt.no_world,
						   .met = opt.gdb ? show_in_gdb : NULL,
						   .progress = opt.verbose ? tell_progress : NULL,
						   .stands = opt.then ? hand_over : NULL,
						   .context = t},
				       .observe = !opt.gdb && !opt.no_detect && !t->finding->schedule->turns};
	struct trace_sites *sites = NULL;
	int err = program->flavour.sites ? trace_sites_read(&sites, program->flavour.sites) : 0;

	run.sites = t->gdb.sites = sites;
	if (!err && opt.record)
		err = record_prepare_directory(opt.record, false);
	ask_recorded_run(&policy.request, t->finding->schedule);
	run_orphans_adopt();
	if (!err)
		err = run_all(t, &policy);
	if (cmd_gdb_close(&t->gdb) && !err)
		err = RD_ETOOL;
	trace_sites_free(sites);
	return err;
}

/* ---- the report ---- */

static int write_json(struct task *t)
{
	for (unsigned i = 0; i < REPLAY_OUTCOMES; i++)
		if (t->outcomes[i])
			finding_stat(t->set, replay_outcome_name(i), (double)t->outcomes[i]);
	finding_stat(t->set, "replays", (double)t->runs);
	finding_stat(t->set, "wall_seconds", t->wall);
	finding_stat(t->set, "cpu_seconds", t->cpu);
	return cmd_write_findings(opt.json, t->set);
}

static void say_count(const struct task *t)
{
	fprintf(stderr, "raddle: reproduced in %" PRIu64 " of %" PRIu64 " replays", t->reproduced, t->runs);
	for (unsigned i = 0; i < REPLAY_OUTCOMES; i++)
		if (t->outcomes[i] && i != REPLAY_CONFIRMED)
			fprintf(stderr, ", %" PRIu64 " %s", t->outcomes[i], replay_outcome_name(i));
	fputc('\n', stderr);
}

/* An order of operations, of 'raddle reversible': neither a race nor a deadlock. */
static bool is_order(const struct task *t)
{
	const struct schedule *s = t->finding->schedule;

	return s && !s->goal_count && !s->stop_count;
}

static void say_order(const struct task *t)
{
	const struct finding *f = t->finding;

	fprintf(stderr, "raddle: the order of the schedule was %s\n", t->reproduced ? "kept" : "not kept");
	if (f->reason)
		fprintf(stderr, "raddle: %s\n", f->reason);
	if (opt.gdb && !t->gdb.pid)
		fputs("raddle: there was no place for gdb: no fatal signal came that the program does not "
		      "handle, and no thread was left waiting\n",
		      stderr);
	for (size_t i = 0; i < f->note_count; i++)
		fprintf(stderr, "raddle: %s\n", f->notes[i]);
}

/* A race that the recorded run itself showed happened there, whatever a replay comes to. */
static void say_recorded(const struct task *t)
{
	const struct schedule *s = t->finding->schedule;
	struct rd_buf path = RD_BUF_INIT;

	if (!t->reproduced && s->trace && s->goal_count == 2)
		rd_buf_addf(&path, "%s/meta.json", s->trace);
	if (path.length && rd_file_exists(path.data) &&
	    predict_batch_shows(s->trace, (const uint32_t[]){s->goals[0].site, s->goals[1].site}))
		fprintf(stderr,
			"raddle: this replay did not reproduce it, but it happened: the recorded run %s has "
			"the two accesses without an order between them ('raddle predict' lists it)\n",
			s->trace);
	rd_buf_release(&path);
}

static int report(struct task *t)
{
	struct report_opts how = {.colour = report_wants_colour(stderr), .all = true};
	int err = 0;

	if (!opt.quiet && is_order(t))
		say_order(t);
	else if (!opt.quiet)
		err = report_text(t->set, &how, stderr);
	if (!opt.quiet && t->finding->schedule->turns)
		say_turns(t);
	if (!opt.quiet)
		say_outside(&t->outside);
	if (!opt.quiet)
		say_recorded(t);
	if (!opt.quiet && opt.times > 1)
		say_count(t);
	if (!err && opt.json)
		err = write_json(t);
	return err;
}

/* How the schedule goes on by the command line. */
static int prepare_turns(struct task *t, const char *path)
{
	struct schedule *s = t->finding->schedule;
	const char *wrong;
	int err = opt.then ? read_finding(opt.then, &t->then) : 0;

	if (opt.then || opt.turns_seed || opt.export)
		s->turns = true;
	if (opt.turns_seed)
		s->seed = opt.turns_seed;
	if (s->turns && is_order(t))
		setenv("CK_FORK", "no", 0); /* as 'raddle explore' does, whose schedule it is */
	wrong = schedule_check(s);
	return err || !wrong ? err : rd_fail(RD_EUSAGE, "replay: %s: %s", path, wrong);
}

/* A run that carries values is led by a flavour of its own, in which a thread can be stopped before each
 * access.  A schedule that was made with it is replayed with it. */
static bool carries_values(const struct finding_set *set)
{
	const struct schedule *s = set && set->count ? set->items[0]->schedule : NULL;
	const char *made = s && s->flavour ? s->flavour : "record";

	return strcmp(opt.flavour ? opt.flavour : made, "record") != 0;
}

/* The input that the schedule is for takes the place of what the user has. */
static int open_given(struct task *t, char **argv, const char *scratch)
{
	struct rd_override given = {0};
	int err = rd_override_parse(&given, t->finding->schedule->input, "replay");

	if (!err)
		err = run_override_open(&t->given, &given, argv, scratch);
	t->streams[STDIN_FILENO] = t->given.input;
	t->streams[STDOUT_FILENO] = STDOUT_FILENO;
	t->streams[STDERR_FILENO] = STDERR_FILENO;
	if (!err && given.count && !opt.quiet)
		rd_warn("the run has the input of the schedule");
	rd_override_release(&given);
	return err;
}

static int replay_path(const char *path, char **argv)
{
	struct run_build how = {.fast = opt.fast,
				.quick = opt.quick,
				.debug = opt.gdb,
				.as_is = opt.as_is,
				.verbose = opt.verbose};
	struct run_program program = {0};
	struct task t = {.gdb = {.arguments = opt.gdb_args}, .strayed = RD_BUF_INIT, .given = {.input = -1}};
	char *scratch = NULL;
	int err = read_finding(path, &t.set), status = CMD_FAILED;

	if (!err) {
		t.finding = t.set->items[0];
		cmd_findings_means(t.set, path, argv[0] != NULL);
		t.companion.command = opt.with;
		argv = cmd_findings_program(t.set, argv);
		if (!argv)
			err = cmd_which("replay", "program");
	}
	if (!err)
		err = prepare_turns(&t, path);
	if (!err && is_order(&t) && (opt.json || (opt.gdb && !t.finding->schedule->turns)))
		err = rd_fail(
			RD_EUSAGE,
			"replay: %s: an order of operations has no finding for --json, nor a place for --gdb",
			path);
	how.plugins = opt.plugins;
	how.edits = t.finding && t.finding->schedule ? t.finding->schedule->edits : NULL;
	program.kind = carries_values(t.set) ? "led" : NULL;
	if (!err)
		err = run_program_open(&program, argv[0], &how);
	if (!err)
		err = rd_scratch_open(&scratch, NULL, "raddle-replay");
	if (!err)
		err = open_given(&t, argv, scratch);
	if (!err)
		err = replay(&t, &program);
	if (!err)
		err = report(&t);
	if (!err)
		status = t.reproduced ? CMD_FOUND : CMD_OK;
	run_program_close(&program);
	finding_set_free(t.set);
	finding_set_free(t.then);
	rd_buf_release(&t.strayed);
	run_override_close(&t.given);
	rd_scratch_close(scratch);
	return !err && t.stop_signal > 0 && status == CMD_OK ? run_exit_like(t.stop_signal) : status;
}

int cmd_replay(int argc, char **argv)
{
	struct cmd_words words;
	int status = cmd_program(argc, argv, &usage, "finding", &words), ended;

	if (status != CMD_GO_ON)
		return status;
	if (opt.flavour && strcmp(opt.flavour, "record") != 0 && strcmp(opt.flavour, "full") != 0) {
		rd_fail(RD_EUSAGE, "replay: --flavour is record or full");
		return CMD_FAILED;
	}
	opt.gdb |= opt.gdb_args != NULL;
	if (!opt.gdb && run_guard(&ended))
		return run_exit_like(ended);
	return replay_path(words.operand, words.program);
}
