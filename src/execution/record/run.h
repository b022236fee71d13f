/* SPDX-License-Identifier: Apache-2.0 */
/* One run of a program, recorded. */
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
	const char *directory;	  /* of the trace; nothing is in the way */
	uint64_t limit;		  /* bytes of the trace; 0: none */
	bool no_world;		  /* what comes from outside is not recorded (trace/world.h) */
	bool all_accesses;	  /* none is left out of a long run (rt/record/thin.h) */
	const int *streams;	  /* the program's; NULL: ours */
	struct run_limits limits; /* but for memory and file_size, which are ours */
	struct run_fault *faults; /* of a full trace; filled in with what became of them */
	size_t fault_count;

	/* Says whether a program that does not move does so for good: then it is ended.  NULL: it is left
	 * alone, as one with a full trace always is. */
	record_stands_fn *stands;

	/* Asked now and then: whether so many events are all that anybody can look at.  Then the time of the
	 * program is up.  May be NULL. */
	bool (*enough)(void *context, uint64_t events);

	/* When the program was started, and when it has ended with what its meta.json says; may be NULL. */
	void (*started)(void *context, pid_t pid);
	void (*ended)(void *context, const struct trace_meta *meta);

	/* Asked while processes that the program forked outlive it: false: they have had time enough and are
	 * ended.  NULL: they are left alone and followed in the background. */
	bool (*outlived)(void *context);
	void *context;
};

struct record_result {
	struct run_end end;
	bool stood;	      /* it stood still for good, and was ended */
	struct rd_buf answer; /* what `stands` wrote about that */
};

/* The result is released also after a failure.  While the program runs our signals are its. */
int record_run(const struct record_run *run, struct record_result *result);
void record_result_release(struct record_result *result);

#endif
