// SPDX-License-Identifier: Apache-2.0
/*
 * raddle replay: runs a program under the schedule of a finding and reports whether the race or
 * deadlock happened.
 *
 * The program uses Raddle's standard streams, so Raddle's own output goes to stderr or to files
 * that the user named.
 */
#include "cmd/cmd-int.h"

#include "base/error.h"
#include "base/file.h"
#include "base/hex.h"
#include "base/scratch.h"
#include "cmd/findings-int.h"
#include "cmd/output-int.h"
#include "predict/batch.h"
#include "finding/bug.h"
#include "finding/load.h"
#include "replay/repeat.h"
#include "report/report.h"
#include "run/guard.h"
#include "run/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cmd_usage usage = {
	"raddle replay [--id ID] FINDING [--] [PROG ARGS...]",
	"Runs a program so that the race or deadlock of a finding happens: the operations of its\n"
	"schedule are done in their order, until the threads are stopped before the race or wait in\n"
	"the deadlock.\n"
	"FINDING is the id of a bug or finding of the last check in this directory, a schedule file,\n"
	"or a document of 'raddle predict --json' or 'raddle check --json'.  Without PROG the\n"
	"program of the document is run.  The report goes to standard\n"
	"error.  The exit status is 1 if the finding was reproduced, otherwise 0.",
	"id json record times first turns_seed then export " CMD_BESIDE
	"patience gdb gdb_args no_detect no_world flavour " CMD_BUILD "as_is " CMD_WORDS,
	"  raddle predict --schedules found trace\n"
	"  raddle replay found/15ab370364b3b2af.schedule -- ./bank 4\n"
	"  raddle replay --gdb found/15ab370364b3b2af.schedule -- ./bank 4\n",
	false,
};

/* ---- the finding ---- */

/* Removes all findings but the chosen one from the set. */
static int choose(struct finding_set *set, const char *path)
{
	struct finding *f = opt.id ? finding_find(set, opt.id) : NULL;

	if (opt.id && !f)
		return rd_fail(
			RD_ENOTFOUND,
			"replay: %s: no finding, or more than one, has the id '%s' (six digits or more)",
			path, opt.id);
	if (!set->count)
		return rd_fail(RD_ENOTFOUND, "replay: %s: it has no findings", path);
	if (!opt.id && set->count > 1)
		return rd_fail(RD_EUSAGE, "replay: %s: it has %zu findings; choose one with --id, such as %s",
			       path, set->count, set->items[0]->id);
	f = f ? f : set->items[0];
	if (finding_load_schedule(set, f))
		return RD_EFORMAT;
	if (!f->schedule)
		return rd_fail(RD_EUSAGE, "replay: %s: finding %s has no schedule", path, f->id);
	RD_ASSERT(set->count >= 1);
	set->items[0] = f;
	set->count = 1;
	return 0;
}

static bool is_id(const char *word)
{
	size_t length = strlen(word);

	return length >= FINDING_ID_LEAST && length < FINDING_ID_SIZE &&
	       strspn(word, RD_HEX_DIGITS) == length;
}

/* Removes all findings but the one with that id, or the one that stands for the bug with that id.  Its
 * schedule becomes that of the run that showed its effect, if there is one. */
static int keep_one(struct finding_set *set, const char *id)
{
	struct finding *f = finding_find(set, id);
	struct finding_bugs bugs;

	finding_bugs_list(&bugs, set);
	f = f ? f : finding_bugs_find(&bugs, id);
	finding_bugs_release(&bugs);
	if (!f)
		return RD_ENOTFOUND;
	if (finding_shows_effect(f))
		f->schedule = f->witnesses[0].schedule;
	if (!f->schedule && finding_load_schedule(set, f))
		return RD_EFORMAT;
	if (!f->schedule)
		return rd_fail(RD_EUSAGE, "replay: finding %s has no schedule", f->id);
	set->items[0] = f;
	set->count = 1;
	return RD_OK;
}

/* Looks for an id in the results of the last check and the last exploration in this directory.  The
 * program gets the input of the recorded run. */
static int read_by_id(const char *id, struct finding_set **set, const char **from)
{
	static const char *const places[] = {CMD_CHECK_DIRECTORY "/" CMD_FINDINGS_FILE,
					     CMD_EXPLORE_DIRECTORY "/" CMD_FINDINGS_FILE};

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		int err;

		if (!rd_file_exists(places[i]))
			continue;
		err = finding_load(places[i], set);
		if (!err)
			err = keep_one(*set, id);
		*from = places[i];
		if (!err)
			cmd_findings_stdin(*set);
		if (err != RD_ENOTFOUND)
			return err;
		finding_set_free(*set);
		*set = NULL;
	}
	return rd_fail(
		RD_ENOTFOUND,
		"replay: there is no file %s, and no finding or bug with this id in " CMD_CHECK_DIRECTORY
		" or " CMD_EXPLORE_DIRECTORY " of this directory",
		id);
}

/* Stores in *from the file from which the finding was read. */
static int read_finding(const char *path, struct finding_set **set, const char **from)
{
	int err;

	*from = path;
	if (!rd_file_exists(path) && is_id(path))
		return read_by_id(path, set, from);
	if (!rd_file_exists(path) && strspn(path, RD_HEX_DIGITS) == strlen(path))
		return rd_fail(RD_EUSAGE, "replay: %s: no such file, and an id has %d to %d digits", path,
			       FINDING_ID_LEAST, FINDING_ID_SIZE - 1);
	err = finding_load(path, set);

	if (!err && (*set)->count == 1 && !(*set)->items[0]->count)
		return RD_OK; /* the file is a schedule without a finding */
	return err ? err : choose(*set, path);
}

/* ---- the report ---- */

static int write_json(struct replay_repeat *t)
{
	for (unsigned i = 0; i < REPLAY_OUTCOMES; i++)
		if (t->outcomes[i])
			finding_stat(t->set, replay_outcome_name(i), (double)t->outcomes[i]);
	finding_stat(t->set, "replays", (double)t->runs);
	finding_stat(t->set, "wall_seconds", t->wall);
	finding_stat(t->set, "cpu_seconds", t->cpu);
	return cmd_write_findings(opt.json, t->set);
}

/* Reports that the recorded run itself shows the race.  The race has then happened, even if the
 * replay did not reproduce it. */
static void report_recorded(const struct replay_repeat *t)
{
	RD_ASSERT(t->finding && t->finding->schedule);
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

static int report(struct replay_repeat *t)
{
	struct report_opts how = {.colour = report_wants_colour(stderr), .all = true};
	int err = 0;

	if (opt.quiet)
		return opt.json ? write_json(t) : RD_OK;
	if (replay_is_order(t->finding->schedule))
		replay_say_order(t, stderr);
	else
		err = report_text(t->set, &how, stderr);
	if (t->finding->schedule->turns)
		replay_say_turns(t, stderr);
	replay_say_outside(t, stderr);
	report_recorded(t);
	if (opt.times > 1)
		replay_say_count(t, stderr);
	return err || !opt.json ? err : write_json(t);
}

/* ---- the run ---- */

/* Sets how the run continues after the schedule, according to the options. */
static int prepare_turns(struct schedule *s, const char *path, struct finding_set **then)
{
	RD_ASSERT(s && !*then);
	const char *wrong;
	const char *from;
	int err = opt.then ? read_finding(opt.then, then, &from) : 0;

	if (opt.then || opt.turns_seed || opt.export)
		s->turns = true;
	if (opt.turns_seed)
		s->seed = opt.turns_seed;
	if (s->turns && replay_is_order(s))
		/* `raddle explore`, which made the schedule, sets the same. */
		setenv("CK_FORK", "no", 0);
	wrong = schedule_check(s);
	if (err || wrong)
		return err ? err : rd_fail(RD_EUSAGE, "replay: %s: %s", path, wrong);
	if (replay_is_order(s) && (opt.json || (opt.gdb && !s->turns)))
		return rd_fail(RD_EUSAGE,
			       "replay: %s: an order of operations has neither a finding for --json nor a "
			       "place for --gdb",
			       path);
	return RD_OK;
}

/* Returns true if the run needs the flavour `led`, in which a thread can be stopped before each
 * access.  A schedule that was made with `led` is replayed with `led`, unless the user chooses
 * otherwise. */
static bool carries_values(const struct schedule *s)
{
	const char *made = s->flavour ? s->flavour : "record";

	return strcmp(opt.flavour ? opt.flavour : made, "record") != 0;
}

static int run_program(struct replay_repeat *t, char **argv)
{
	const struct schedule *s = t->finding->schedule;
	struct run_build how = {.fast = opt.fast,
				.quick = opt.quick,
				.debug = opt.gdb,
				.as_is = opt.as_is,
				.verbose = opt.verbose,
				.plugins = opt.plugins,
				.edits = s->edits};
	struct run_program program = {.kind = carries_values(s) ? "led" : NULL};
	char *scratch = NULL;
	bool given = false;
	int err = run_program_open(&program, argv[0], &how);

	if (!err)
		err = rd_scratch_open(&scratch, NULL, "raddle-replay");
	if (!err)
		err = replay_repeat_input(t, argv, scratch, &given);
	if (given && !opt.quiet)
		rd_warn("the program gets the input that the schedule contains");
	if (!err)
		err = replay_repeat(t, &program);
	run_program_close(&program);
	rd_scratch_close(scratch);
	return err;
}

static void set_options(struct replay_repeat *t)
{
	t->times = opt.times;
	t->patience_ms = cmd_limit(opt.patience, CMD_FOREVER);
	t->limit_ms = cmd_limit(opt.timeout, CMD_FOREVER);
	t->first = (unsigned)opt.first;
	t->no_detect = opt.no_detect;
	t->no_world = opt.no_world;
	t->debug = opt.gdb;
	t->gdb.arguments = opt.gdb_args;
	t->setup = opt.setup;
	t->companion.command = opt.with;
	t->record = opt.record;
	t->export = opt.export != NULL;
	t->steps = opt.verbose ? stderr : NULL;
}

static int replay_path(const char *path, char **argv)
{
	struct replay_repeat t = REPLAY_REPEAT_INIT;
	struct finding_set *then = NULL;
	const char *from;
	int err = read_finding(path, &t.set, &from), status = CMD_FAILED;

	if (!err) {
		RD_ASSERT(t.set->count == 1 && t.set->items[0]->schedule);
		t.finding = t.set->items[0];
		cmd_findings_means(t.set, from, argv[0] != NULL);
		set_options(&t); /* including those from the document */
		argv = finding_set_program(t.set, argv);
		if (!argv)
			err = cmd_which("replay", "program");
	}
	if (!err)
		err = prepare_turns(t.finding->schedule, path, &then);
	t.then = then ? then->items[0]->schedule : NULL;
	if (!err)
		err = run_program(&t, argv);
	if (t.exported.length) { /* the schedule of an earlier run, if the last run failed */
		int wrote = cmd_write_text(opt.export, &t.exported);
		err = err ? err : wrote;
	}
	if (!err)
		err = report(&t);
	if (!err)
		status = t.reproduced ? CMD_FOUND : CMD_OK;
	finding_set_free(t.set);
	finding_set_free(then);
	replay_repeat_release(&t);
	return !err && t.stop_signal > 0 && status == CMD_OK ? run_exit_like(t.stop_signal) : status;
}

int cmd_replay(int argc, char **argv)
{
	struct cmd_words words;
	int status = cmd_program(argc, argv, &usage, "finding", &words), ended;

	if (status != CMD_GO_ON)
		return status;
	if (opt.flavour && strcmp(opt.flavour, "record") != 0 && strcmp(opt.flavour, "full") != 0) {
		rd_fail(RD_EUSAGE, "replay: --flavour %s: it must be record or full", opt.flavour);
		return CMD_FAILED;
	}
	opt.gdb |= opt.gdb_args != NULL;
	if (!opt.gdb && run_guard(&ended))
		return run_exit_like(ended);
	return replay_path(words.operand, words.program);
}
