// SPDX-License-Identifier: Apache-2.0
/*
 * Replays of one finding.  In: a schedule, the program, its input and the commands that run beside
 * it. Out: how often the finding happened, and the details of the last run.
 */
#include "replay/repeat.h"

#include "base/error.h"
#include "base/file.h"
#include "record/prepare.h"
#include "run/forward.h"
#include "run/launch.h"
#include "run/orphan.h"
#include "trace/meta.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- before and after a run ---- */

static bool show_in_gdb(void *context, pid_t pid, const struct replay_result *so_far, unsigned *first)
{
	struct replay_repeat *t = context;

	(void)first;
	return replay_gdb_met(&t->gdb, pid, so_far);
}

static int begin_run(void *context)
{
	struct replay_repeat *t = context;
	int err = run_setup(t->setup, STDERR_FILENO);

	if (!err && t->given.input >= 0 && lseek(t->given.input, 0, SEEK_SET) < 0)
		err = rd_fail_errno("replay: cannot rewind the standard input of the run");
	run_override_enter(&t->given);
	return err;
}

static void started_run(void *context, pid_t pid)
{
	struct replay_repeat *t = context;

	run_override_leave(&t->given);
	run_companion_start(&t->companion, pid, STDERR_FILENO);
}

/* Called after each run.  The status of the companion command is ignored, because a client may fail
 * if its server was stopped for a while. */
static void ended_run(void *context)
{
	struct replay_repeat *t = context;

	run_override_leave(&t->given);
	run_companion_stop(&t->companion);
	if (!t->debug) /* otherwise gdb, a child of this process, would be ended too */
		run_orphans_end(NULL, 0);
}

static void tell_progress(void *context, uint64_t done)
{
	struct replay_repeat *t = context;
	const struct schedule *s = t->finding->schedule;

	for (; t->named < done; t->named++) {
		const struct schedule_op *op = &s->ops[t->named];

		fprintf(t->steps, "raddle: %" PRIu64 "/%zu %s %s%s%s", t->named + 1, s->op_count, op->thread,
			op->kind, op->object ? " " : "", op->object ? op->object : "");
		if (op->place.file)
			fprintf(t->steps, " at %s:%" PRIu32, op->place.file, op->place.line);
		fputc('\n', t->steps);
	}
}

/* Continues with the schedule `then` after the decisions of the finding's schedule. */
static bool hand_over(void *context, const struct replay_stand *stand, struct schedule *more,
		      const char **next)
{
	struct replay_repeat *t = context;
	const struct schedule *s = t->then;

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

/* ---- a series of runs ---- */

/* Stores the decisions of a run in the result. */
static int keep_turns(struct replay_repeat *t, const struct replay_result *result)
{
	struct schedule made;
	int err = 0;

	t->turns = result->turns;
	rd_buf_clear(&t->strayed);
	rd_buf_adds(&t->strayed, result->turns.strayed ? result->turns.strayed : "");
	if (!t->export)
		return 0;
	err = replay_export(t->finding->schedule, result, SIZE_MAX, &made);
	if (!err) {
		rd_buf_clear(&t->exported);
		schedule_format(&made, &t->exported);
	}
	schedule_release(&made);
	return err;
}

static void keep_outside(struct replay_repeat *t, const struct replay_result *result)
{
	t->outside = result->outside;
	rd_buf_clear(&t->lack);
	rd_buf_adds(&t->lack, result->outside.lack ? result->outside.lack : "");
}

/* Reads how long the recorded run took and how it ended, if its trace still exists. */
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

static int run_once(struct replay_repeat *t, const struct replay_policy *policy)
{
	struct replay_result result;
	int err;

	t->named = 0;
	t->handed_over = false;
	err = replay_finding(policy, t->set, t->finding, &result);
	if (err)
		return err;
	t->runs++;
	t->outcomes[result.outcome]++;
	t->reproduced += t->finding->status == FINDING_CONFIRMED;
	t->wall += result.wall_seconds;
	t->cpu += result.cpu_seconds;
	if ((result.outcome == REPLAY_STOPPED && !t->companion.command) || run_forward_asked())
		t->stop_signal = result.end == REPLAY_SIGNALLED ? result.status : -1;
	keep_outside(t, &result);
	err = t->finding->schedule->turns ? keep_turns(t, &result) : 0;
	replay_result_release(&result);
	return err;
}

/* Makes all runs.  The finding keeps the verdict of the best run, because one run in which the
 * failure happens is enough to show that it can happen. */
static int run_all(struct replay_repeat *t, struct replay_policy *policy)
{
	struct finding kept = *t->finding, first = *t->finding;
	int err = 0;

	for (uint64_t i = 0; i < t->times && !err && !t->stop_signal; i++) {
		*t->finding = first;
		policy->request.record_into = i ? NULL : t->record;
		err = run_once(t, policy);
		if (!i || (kept.status != FINDING_CONFIRMED && t->finding->status == FINDING_CONFIRMED))
			kept = *t->finding;
	}
	*t->finding = kept;
	return err;
}

int replay_repeat_input(struct replay_repeat *t, char **argv, const char *scratch, bool *given)
{
	struct rd_override input = {0};
	int err = rd_override_parse(&input, t->finding->schedule->input, "replay");

	if (!err)
		err = run_override_open(&t->given, &input, argv, scratch);
	*given = !err && input.count;
	rd_override_release(&input);
	return err;
}

static struct replay_policy policy_of(struct replay_repeat *t, const struct replay_program *run)
{
	bool detect = !t->debug && !t->no_detect;

	return (struct replay_policy){.request = {.program = run,
						  .patience_ms = t->patience_ms,
						  .limit_ms = t->limit_ms,
						  .streams = t->given.input >= 0 ? t->streams : NULL,
						  .directory = t->given.directory,
						  .begin = begin_run,
						  .started = started_run,
						  .ended = ended_run,
						  .first = t->first,
						  .detect = detect,
						  .no_world = t->no_world,
						  .accompanied = t->companion.command != NULL,
						  .met = t->debug ? show_in_gdb : NULL,
						  .progress = t->steps ? tell_progress : NULL,
						  .stands = t->then ? hand_over : NULL,
						  .context = t},
				      .observe = detect && !t->finding->schedule->turns};
}

int replay_repeat(struct replay_repeat *t, const struct run_program *program)
{
	struct replay_program run = {.program = program, .argv = t->given.argv};
	struct replay_policy policy;
	struct trace_sites *sites = NULL;
	int err = program->flavour.sites ? trace_sites_read(&sites, program->flavour.sites) : 0;

	RD_ASSERT(t->finding && t->finding->schedule && t->times);
	t->streams[STDIN_FILENO] = t->given.input;
	t->streams[STDOUT_FILENO] = STDOUT_FILENO;
	t->streams[STDERR_FILENO] = STDERR_FILENO;
	run.sites = t->gdb.sites = sites;
	policy = policy_of(t, &run);
	if (!err && t->record)
		err = record_prepare_directory(t->record, false);
	ask_recorded_run(&policy.request, t->finding->schedule);
	run_orphans_adopt();
	if (!err)
		err = run_all(t, &policy);
	if (replay_gdb_close(&t->gdb) && !err)
		err = RD_ETOOL;
	trace_sites_free(sites);
	return err;
}

void replay_repeat_release(struct replay_repeat *t)
{
	rd_buf_release(&t->strayed);
	rd_buf_release(&t->lack);
	rd_buf_release(&t->exported);
	run_override_close(&t->given);
}
