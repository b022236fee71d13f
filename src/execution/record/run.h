/* SPDX-License-Identifier: Apache-2.0 */
/* One recorded run of a program.  The conditions under which it ends early are all set before it
 * starts. */
#ifndef RECORD_RUN_H
#define RECORD_RUN_H

#include "base/buf.h"
#include "record/enough.h"
#include "record/watch.h"
#include "run/companion.h"
#include "run/fault.h"
#include "run/meter.h"
#include "run/program.h"
#include "trace/meta.h"

#include <stdint.h>
#include <sys/types.h>

struct record_run { /* zero values are the defaults */
	const struct run_program *program;
	char **argv;		  /* the command line, as the user wrote it */
	const char *directory;	  /* directory of the trace, which is empty or does not exist yet */
	uint64_t limit;		  /* largest size of the trace in bytes; 0 for no limit */
	bool no_world;		  /* do not record input from outside (trace/world.h) */
	bool all_accesses;	  /* record every access, even in a long run (rt/record/thin.h) */
	const int *streams;	  /* standard streams of the program; NULL for ours */
	struct run_limits limits; /* only the time limits and `interrupts` are used */
	struct run_fault *faults; /* faults for a full trace; the run fills in their results */
	size_t fault_count;

	/* Decides whether a program that makes no progress is deadlocked.  A deadlocked program is
	 * killed.  If this callback is NULL, such a program is left alone.  Not used for full
	 * traces. */
	record_hang_fn *stands;

	struct record_enough enough; /* when to end the program early */
	/* A command that is started together with the program; NULL if there is none. */
	struct run_companion *companion;

	/* How long forked processes may outlive the program, in program time.  After that time, or
	 * when the user asks Raddle to end, Raddle ends them.  While a command runs beside the
	 * program, they may live longer, but for at most outlive_most_ms (0 for no limit).  If
	 * outlive_ms is 0, the run does not wait for them, and a background process follows them
	 * instead. */
	uint64_t outlive_ms, outlive_most_ms;
};

struct record_result {
	struct run_end end;
	bool stood;		/* the program was deadlocked, and was killed */
	struct rd_buf answer;	/* the explanation that record_run.stands wrote */
	bool full, quiet;	/* the program was ended because of record_run.enough */
	struct trace_meta meta; /* the content of meta.json */
	int64_t ended_ns;	/* when the program ended; 0 if it was not started */
};

/* Records a run.  While the program runs, signals that Raddle receives are forwarded to it.  The
 * caller must release the result, even after a failure. */
int record_run(const struct record_run *run, struct record_result *result);
void record_result_release(struct record_result *result);

#endif
