/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line of a campaign's log: one injected run, what was done to it and what came of
 * it (doc/format/runlog.md).  A line is a JSON object; the writer makes it of a struct
 * epa_run and the reader gives that back, both from one table of members.
 */
#ifndef EPA_RUNLOG_H
#define EPA_RUNLOG_H

#include "base/buf.h"
#include "base/map.h"

#include <glob.h>
#include <stdbool.h>
#include <stdint.h>

/* How a run ended, for who looks at the program from outside; worst first. */
enum epa_run_outcome {
	EPA_RUN_CRASH,
	EPA_RUN_HANG,
	EPA_RUN_DETECTED, /* the program itself told that something is wrong */
	EPA_RUN_SDC,	  /* silent data corruption: it ended well with wrong output */
	EPA_RUN_MASKED,	  /* it ended as the golden run does */
	EPA_RUN_INACTIVE, /* "not-activated": the fault's place was not reached */
	EPA_RUN_OUTCOMES
};

/* How the run's trace first departs from the golden one. */
enum epa_run_deviation {
	EPA_RUN_NONE,
	EPA_RUN_DATA,
	EPA_RUN_ADDRESS,
	EPA_RUN_CONTROL,
	EPA_RUN_MISSING,
	EPA_RUN_EXTRA,
	EPA_RUN_DEVIATIONS
};

struct epa_run {
	uint64_t run;	   /* its number in the campaign */
	const char *fault; /* its kind: "BitFlip" */

	/* Where: this alone makes the fault again. */
	const char *thread, *where, *opcode; /* "T_0_2", "pca.c:88:12 calc_mean", "load" */
	uint64_t site, instance;
	const char *action, *mask; /* "flip", "0x0000000000000400" */
	int64_t bit;		   /* -1: null */
	const char *plan;	   /* all faults of the run, exactly, as `raddle record --fault` takes them */
	bool fired;
	const char *before, *after;
	const char *stratum; /* stratified sampling: which of the classes, of how many instances */
	uint64_t population;

	/* What came of it; texts may be NULL. */
	enum epa_run_outcome outcome;
	const char *signal; /* "SIGSEGV" */
	int64_t exit;	    /* -1: null */
	const char *place;  /* of the crash */
	enum epa_run_deviation deviation;
	const char *deviation_at, *deviation_thread;
	uint64_t records;
	double cpu_ms, wall_ms;
	const char *diff;  /* file with what differs in the output, from the campaign's directory */
	const char *trace; /* of the run, likewise */
};

const char *epa_run_outcome_name(enum epa_run_outcome outcome);
const char *epa_run_deviation_name(enum epa_run_deviation deviation);

/* Appends the line, newline included. */
void epa_run_write(struct rd_buf *out, const struct epa_run *run);

/* Reads a line of `length` bytes without its newline.  The texts of *run are owned by
 * `texts`, which keeps one copy of equal ones.  Returns NULL, or what is wrong. */
const char *epa_run_parse(struct epa_run *run, const char *line, size_t length, struct rd_names *texts);

/* Calls `fn` for each line of a log that is there as a whole, without its newline, until it returns
 * something; returns that.  *whole is the length of these lines: what follows is one that a process did not
 * finish. */
typedef int epa_run_line_fn(void *context, const char *line, size_t length);
int epa_run_lines(const char *text, size_t length, epa_run_line_fn *fn, void *context, size_t *whole);

/* The logs of a campaign's shards, DIRECTORY/log.N; none is no error.  The caller calls globfree(). */
int epa_run_shards(const char *directory, glob_t *found);

#endif
