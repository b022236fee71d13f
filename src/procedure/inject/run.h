/* SPDX-License-Identifier: Apache-2.0 */
/* One run of the program with faults: in its own scratch directory, with limits, its records in
 * memory. */
#ifndef INJECT_RUN_H
#define INJECT_RUN_H

#include "inject/choose.h"
#include "inject/output.h"
#include "run/group.h"
#include "run/meter.h"
#include "run/program.h"

/* Raw buffers of a run (trace/full.h), in the order in which each thread filled them. */
struct inject_buffer {
	uint32_t thread;
	size_t length;
	const uint8_t *bytes;
	const uint8_t *from; /* start of the file mapping that they are in; NULL: not mapped */
};

struct inject_raw { /* zero is empty; the next run reuses the memory */
	struct inject_buffer *buffers;
	size_t count, capacity;
	uint8_t **blocks; /* the first ones are in memory, the others in a file */
	size_t block_count, block_capacity, block, used;
	int file; /* descriptor + 1; 0: there is no file */
	uint64_t bytes;
};

/* The program to run. */
struct inject_target {
	const struct inject_setup *setup;
	const struct run_program *program; /* its full flavour */
	const struct trace_layout *layout;
};

struct inject_run {
	struct run_end end;
	bool cut;			     /* not all of its records were kept */
	uint64_t seen, fired, before, after; /* of the first fault */
	uint32_t thread;		     /* number of the thread that it struck */
	bool there, outlived; /* the campaign's process existed; the first process ended before it */
	struct inject_raw raw;
	struct inject_raw first; /* of the first process, if the campaign is about another one */
	struct run_group group;	 /* of this run and the next ones */
	bool ungrouped;		 /* control groups are not available, */
	uint64_t processes;	 /* so RLIMIT_NPROC is this; 0: no limit */
	struct run_output output;
};

/* Runs the program in the directory `scratch`, which is created, or emptied if it exists.  `fault`
 * may be NULL.  The result must be zero before the first run.  It may be reused;
 * inject_run_release() releases it. */
int inject_run(const struct inject_target *target, const char *scratch, const struct inject_fault *fault,
	       struct inject_run *run);
void inject_run_release(struct inject_run *run);

/* Whether it was killed because it did not end in time. */
static inline bool inject_hangs(const struct inject_run *run)
{
	return run->end.how == RUN_TIMED_OUT || run->end.how == RUN_STALLED;
}

#endif
