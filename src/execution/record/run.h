/* SPDX-License-Identifier: Apache-2.0 */
/* One recorded run of a program. */
#ifndef RECORD_RUN_H
#define RECORD_RUN_H

#include "base/buf.h"
#include "record/watch.h"
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

	/* Decides whether a program that makes no progress is deadlocked; if so, it is killed.
	 * NULL: it is left alone.  Not used for full traces. */
	record_hang_fn *stands;

	/* Asked regularly: whether that many events are all that an analysis can use.  Then the
	 * program's time is up.  May be NULL. */
	bool (*enough)(void *context, uint64_t events);

	/* Called after the program was started, and after its end with the content of its
	 * meta.json; may be NULL. */
	void (*started)(void *context, pid_t pid);
	void (*ended)(void *context, const struct trace_meta *meta);

	/* Asked while processes that the program forked outlive it.  False: their time is up, and
	 * they are ended.  NULL: they are left alone and followed in the background. */
	bool (*outlived)(void *context);
	void *context;
};

struct record_result {
	struct run_end end;
	bool stood;	      /* it was deadlocked, and was killed */
	struct rd_buf answer; /* what the callback wrote about that */
};

/* The result must be released also after a failure.  While the program runs, our signals are
 * forwarded to it. */
int record_run(const struct record_run *run, struct record_result *result);
void record_result_release(struct record_result *result);

#endif
