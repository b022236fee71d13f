/* SPDX-License-Identifier: Apache-2.0 */
/* One run of the program with faults.  The run has its own scratch directory and limits, and its
 * records are kept in memory. */
#ifndef INJECT_RUN_H
#define INJECT_RUN_H

#include "inject/choose.h"
#include "inject/output.h"
#include "run/group.h"
#include "run/meter.h"
#include "run/program.h"

/* A raw buffer of a run (trace/full.h).  Buffers are in the order in which each thread filled
 * them. */
struct inject_buffer {
	uint32_t thread;
	size_t length;
	const uint8_t *bytes;
	/* Start of the file mapping that contains the buffer; NULL if it is not mapped. */
	const uint8_t *from;
};

struct inject_raw { /* zero is empty; the next run reuses the memory */
	struct inject_buffer *buffers;
	size_t count, capacity;
	uint8_t **blocks; /* the first blocks are in memory, the others in a file */
	size_t block_count, block_capacity, block, used;
	int file; /* 1 + the descriptor of the file; 0 if there is no file */
	uint64_t bytes;
};

/* The program to run. */
struct inject_target {
	const struct inject_setup *setup;
	const struct run_program *program; /* the program in its flavour `full` */
	const struct trace_layout *layout;
};

struct inject_run {
	struct run_end end;
	bool cut;			     /* not all of its records were kept */
	uint64_t seen, fired, before, after; /* as in struct run_fault, for the first fault */
	uint32_t thread;		     /* number of the thread at which it struck */
	/* About the process into which the campaign injects faults: `there` is true if it existed,
	 * and `outlived` is true if it outlived the first process. */
	bool there, outlived;
	struct inject_raw raw;
	/* Buffers of the first process, if the campaign is about another one. */
	struct inject_raw first;
	struct run_group group; /* control group of this run and the next ones */
	bool ungrouped;		/* control groups are not available */
	/* RLIMIT_NPROC of the program, used if `ungrouped`; 0 for no limit. */
	uint64_t processes;
	struct run_output output;
};

/* Runs the program in the directory `scratch`.  The directory is created, or emptied if it exists.
 * `fault` may be NULL. *run must be all zero before the first run, and can be reused for further
 * runs.  The caller must release it with inject_run_release(). */
int inject_run(const struct inject_target *target, const char *scratch, const struct inject_fault *fault,
	       struct inject_run *run);
void inject_run_release(struct inject_run *run);

/* Returns true if the program was killed because it did not end in time. */
static inline bool inject_hangs(const struct inject_run *run)
{
	return run->end.how == RUN_TIMED_OUT || run->end.how == RUN_STALLED;
}

#endif
