/* SPDX-License-Identifier: Apache-2.0 */
/* One recorded run of a program.  Everything that ends it early is given before it starts. */
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
	char **argv;		  /* the program's, as the user wrote them */
	const char *directory;	  /* of the trace; must be free */
	uint64_t limit;		  /* bytes of the trace; 0: no limit */
	bool no_world;		  /* input from outside is not recorded (trace/world.h) */
	bool all_accesses;	  /* no access is left out of a long run (rt/record/thin.h) */
	const int *streams;	  /* the program's; NULL: ours */
	struct run_limits limits; /* except memory and file_size, which are ours */
	struct run_fault *faults; /* of a full trace; the results are filled in */
	size_t fault_count;

	/* Decides whether a program that makes no progress is deadlocked; if so, the program is
	 * killed. NULL: it is left alone.  Not used for full traces. */
	record_hang_fn *stands;

	struct record_enough enough;	 /* when to end the program early */
	struct run_companion *companion; /* is started beside the program; NULL: none */

	/* How long forked processes may outlive the program.  They are ended after that time, or
	 * when the user asks us to end.  A command that runs beside the program keeps them alive as
	 * long as it runs, but at most for outlive_most_ms (0: no limit).  outlive_ms 0: they are
	 * followed in the background. */
	uint64_t outlive_ms, outlive_most_ms;
};

struct record_result {
	struct run_end end;
	bool stood;		/* it was deadlocked, and was killed */
	struct rd_buf answer;	/* what `stands` wrote about that */
	bool full, quiet;	/* it was ended because of `enough` */
	struct trace_meta meta; /* the content of its meta.json */
	int64_t ended_ns;	/* when it ended; 0: it was not started */
};

/* The result must be released even after a failure.  While the program runs, our signals are
 * forwarded to it. */
int record_run(const struct record_run *run, struct record_result *result);
void record_result_release(struct record_result *result);

#endif
