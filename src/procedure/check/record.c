// SPDX-License-Identifier: Apache-2.0
/*
 * Recording for a check.  In: the program and its input.  Out: traces in the directory of the
 * check, and how the runs ended.  The first run uses Raddle's standard streams; later runs get the
 * same input, and their output is discarded.
 */
#include "check/act-int.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "check/hang.h"
#include "record/prepare.h"
#include "record/run.h"
#include "run/forward.h"
#include "run/launch.h"
#include "run/orphan.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Milliseconds between SIGTERM and SIGKILL, in which a program may write its last data.  Chosen by
 * hand. */
#define GRACE_MS 2000

/* After this many interrupts (SIGINT), Raddle ends the program.  The program itself may handle the
 * first one. */
#define INTERRUPTS 2

static void warn_of_end(const struct check_run *run)
{
	const struct check_ending *e = &run->ending;
	int number = WIFSIGNALED(e->end.status) ? WTERMSIG(e->end.status) : 0;
	struct rd_buf words = RD_BUF_INIT;

	check_ending_words(e, &words);
	if (run->deadlock)
		rd_warn("the program %s", words.data);
	else if (e->full)
		rd_warn("the program was ended: the check has no time to analyse a longer trace");
	else if (e->quiet)
		rd_warn("the program was ended: it ran for a long time and recorded nothing");
	else if (check_ending_late(e))
		rd_warn("the program did not end within %.3g s and was ended", (double)e->limit_ms / 1e3);
	else if (number && number != SIGINT && number != SIGTERM)
		rd_warn("the recorded run %s; the run up to there is analysed", words.data);
	rd_buf_release(&words);
}

/* Ends the remaining processes of the run, and the command that runs together with it.  Notes how
 * the run ended. */
static void take_end(struct check *c, struct check_run *run, const struct record_result *result)
{
	run_companion_wait(&c->companion, run_forward_asked() ? 0 : CHECK_OUTLIVE_MS);
	run->ending.companion = run_companion_stop(&c->companion);
	run_orphans_end(&c->input.pump, 1);
	run->ending.end = result->end;
	run->ending.deadlocked = result->stood;
	run->ending.full = result->full;
	run->ending.quiet = result->quiet;
}

/* Notes what the trace states about the run. */
static void take_trace(struct check *c, struct check_run *run, const struct record_result *result)
{
	const struct trace_meta *meta = &result->meta;
	uint64_t ms = rd_ns_to_ms_up((int64_t)(meta->end_ns - meta->start_ns));

	if (ms > c->known.recorded_ms)
		c->known.recorded_ms = ms;
	c->known.ended_ns = result->ended_ns;
	run->ending.events = meta->events;
	if (meta->stopped) {
		run->ending.stopped = rd_xstrdup(meta->stopped);
		rd_warn("recording stopped before the program ended: %s", meta->stopped);
	}
	rd_info("recorded %" PRIu64 " events of %" PRIu64 " threads in %.1f s", meta->events, meta->threads,
		(double)ms / 1e3);
}

int check_record_into(struct check *c, struct check_run *run, const char *path, const int *streams)
{
	struct record_run how = {.program = &c->program,
				 .argv = c->opts->argv,
				 .directory = path,
				 .no_world = c->opts->no_world,
				 .all_accesses = c->opts->all_accesses || run->all,
				 .streams = streams,
				 .limits = {.wall_ms = run->ending.limit_ms,
					    .work_ms = run->work_ms,
					    .grace_ms = GRACE_MS,
					    .interrupts = INTERRUPTS},
				 .stands = check_hang,
				 .enough = check_enough(&c->known),
				 .companion = &c->companion,
				 .outlive_ms = CHECK_OUTLIVE_MS,
				 .outlive_most_ms = c->opts->timeout_ms};
	struct record_result result = {0};
	int err;

	err = record_run(&how, &result);
	if (result.ended_ns)
		take_trace(c, run, &result);
	take_end(c, run, &result);
	if (!err)
		err = check_hang_read(&result, &run->deadlock);
	if (!err)
		err = check_ending_check(&run->ending, c->program.path, c->opts->with);
	if (!err)
		warn_of_end(run);
	record_result_release(&result);
	return err;
}

static int record(struct check *c, struct check_run *run, uint64_t n)
{
	char *path = check_trace_path(c, n);
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int streams[] = {n ? run_input_again(&c->input) : c->input.first, n ? null : c->opts->output,
			 n ? null : STDERR_FILENO};
	int err = streams[0] < 0 ? RD_ESYSTEM : record_prepare_directory(path, true);

	if (!err)
		err = run_setup(c->opts->setup, STDERR_FILENO);
	if (!err)
		err = check_record_into(c, run, path, streams);
	if (n && streams[0] >= 0)
		close(streams[0]);
	close(null);
	free(path);
	return err;
}

/* Returns true if the program has forked.  The budget needs this before any trace is read. */
static bool has_forked(const struct check *c)
{
	char *path = check_path(c, "trace/fork-0");
	bool there = rd_file_exists(path);

	free(path);
	return there;
}

int check_do_record(struct check *c, const struct check_action *a)
{
	uint64_t n = c->known.recorded;
	struct check_run *run = &c->recorded.runs[n];
	int err;

	RD_ASSERT(n < c->recorded.run_count);
	run->ending.limit_ms = a->limit_ms;
	run->ending.unasked = !c->opts->timeout_ms && c->known.end_ns;
	err = record(c, run, n);
	run_input_first_ended(&c->input);
	if (run_forward_asked())
		c->recorded.run_count = n + 1;
	if (!err && !n && WIFSIGNALED(run->ending.end.status))
		c->recorded.signal = WTERMSIG(run->ending.end.status);
	if (!err && !n)
		c->known.has_forked = has_forked(c);
	return err;
}
