// SPDX-License-Identifier: Apache-2.0
/*
 * How a recorded run ended.  In: the exit status of the program and of the accompanying command,
 * and the trace.  Out: a description, and whether a check can be based on the run.
 *
 * A failure must not look like "nothing found".  If the program never ran, or its client failed,
 * the check ends.  A run that was recorded only in part, or was killed, is still analysed, but
 * "nothing found" is then not reported as a result.  Signals that users and shells send to end
 * programs count as an ordinary end.  So does the user's time limit (--timeout) for a program that
 * waits, such as a server.  A program that was still working at its time limit may be in an endless
 * loop.
 */
#include "check/ending.h"

#include "base/error.h"
#include "predict/failure.h"
#include "run/launch.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

void check_ending_release(struct check_ending *e)
{
	free(e->stopped);
	e->stopped = NULL;
}

static int signal_of(const struct check_ending *e)
{
	return WIFSIGNALED(e->end.status) ? WTERMSIG(e->end.status) : 0;
}

bool check_ending_late(const struct check_ending *e)
{
	return e->end.how == RUN_TIMED_OUT || e->end.how == RUN_STALLED;
}

bool check_ending_busy(const struct check_ending *e)
{
	return e->end.how == RUN_TIMED_OUT && !e->deadlocked;
}

bool check_ending_pinched(const struct check_ending *e)
{
	return e->end.status && !run_launch_has_room();
}

static void status_words(int status, struct rd_buf *out)
{
	if (WIFSIGNALED(status))
		rd_buf_addf(out, "was ended by signal %d (%s)", WTERMSIG(status),
			    strsignal(WTERMSIG(status)));
	else
		rd_buf_addf(out, "ended with status %d", WEXITSTATUS(status));
}

void check_ending_words(const struct check_ending *e, struct rd_buf *out)
{
	if (e->deadlocked)
		rd_buf_adds(out, "was deadlocked and was killed");
	else if (e->end.how == RUN_OUT_OF_MEMORY)
		rd_buf_adds(out, "was killed because memory ran out");
	else
		status_words(e->end.status, out);
	if (!e->deadlocked && check_ending_late(e))
		rd_buf_adds(out, e->full    ? ", since its trace was full"
				 : e->quiet ? ", since it recorded nothing for long"
					    : ", since its time was up");
}

int check_ending_check(const struct check_ending *e, const char *program, const char *companion)
{
	/* If the client fails, the program gets SIGTERM, perhaps while it is still starting. */
	bool ended_for_it = e->companion && signal_of(e) == SIGTERM;
	struct rd_buf words = RD_BUF_INIT;
	int err = RD_OK;

	if (!e->events && !ended_for_it) {
		check_ending_words(e, &words);
		err = rd_fail(RD_ESYSTEM, "check: %s never started: it %s before anything was recorded",
			      program, words.data);
	} else if (e->companion && !predict_is_failure(signal_of(e)) && !e->deadlocked) {
		status_words(e->companion, &words);
		err = rd_fail(RD_ESYSTEM, "check: the command of --with %s: %s", words.data, companion);
	}
	rd_buf_release(&words);
	return err;
}

/* Returns true if the run ended without a signal, or by a signal that is often used to end programs
 * that do not end by themselves. */
static bool is_ordinary(int signal)
{
	return !signal || signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGPIPE;
}

/* Appends reasons to doubt a run that Raddle ended because its time was up. */
static bool doubt_late(const struct check_ending *e, struct rd_buf *why)
{
	if (check_ending_busy(e) && e->full)
		rd_buf_addf(why,
			    "the recorded run had not ended by itself after %" PRIu64
			    " million events, as many as the check has time to analyse: it spins, or has "
			    "more to do (a larger --time allows more)",
			    e->events / 1000000);
	else if (check_ending_busy(e) && e->quiet)
		rd_buf_adds(why,
			    "the recorded run had not ended by itself, and recorded nothing for a quarter of "
			    "the check's time: it spins, or computes (a larger --time allows more)");
	else if (check_ending_late(e) && e->unasked && !e->deadlocked)
		rd_buf_addf(
			why,
			"the recorded run had not ended by itself after %.0f s, most of the check's time: "
			"it hangs, waits for something, or has more to do (--timeout limits a run, --time "
			"the whole check)",
			(double)e->limit_ms / 1e3);
	else if (check_ending_busy(e) && signal_of(e))
		rd_buf_adds(why, "the recorded run was still working when its time was up (--timeout): it "
				 "hangs, or had more to do");
	else
		return false;
	return true;
}

/* Appends reasons to doubt a run whose trace does not show everything that the program does. */
static bool doubt_partial(const struct check_ending *e, struct rd_buf *why)
{
	if (e->stopped) {
		rd_buf_addf(why, "recording stopped before the program ended: %s", e->stopped);
		return true;
	}
	if (!check_ending_pinched(e))
		return false;
	rd_buf_adds(why, "the recorded run ");
	check_ending_words(e, why);
	rd_buf_adds(why, ", and its address space is limited (ulimit -v): recording uses part of that, so "
			 "the program has less than without Raddle");
	return true;
}

bool check_ending_doubt(const struct check_ending *e, bool at_start, struct rd_buf *why)
{
	bool failed = predict_is_failure(signal_of(e));

	if (doubt_partial(e, why) || doubt_late(e, why))
		return true;
	if (e->deadlocked || check_ending_late(e) || e->end.how == RUN_INTERRUPTED ||
	    is_ordinary(signal_of(e)) || (failed && !at_start))
		return false;
	rd_buf_adds(why, "the recorded run ");
	check_ending_words(e, why);
	if (failed)
		rd_buf_adds(why, " at its start; does the program run without Raddle?");
	return true;
}

int check_ending_status(const struct check_ending *e)
{
	return signal_of(e) ? 128 + signal_of(e) : WEXITSTATUS(e->end.status);
}
