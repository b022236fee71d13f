/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line of a campaign's log: one run with its fault and its result (doc/format/runlog.md).  A line
 * is a JSON object.  The writer makes it from a struct runlog_run, and the reader returns such a
 * struct; both use the same table of members.
 */
#ifndef INJECT_RUNLOG_H
#define INJECT_RUNLOG_H

#include "base/buf.h"
#include "base/map.h"

#include <glob.h>
#include <stdbool.h>
#include <stdint.h>

/* How a run ended, observed from outside the program; the worst outcome comes first. */
enum runlog_outcome {
	RUNLOG_CRASH,
	RUNLOG_HANG,
	RUNLOG_DETECTED, /* the program itself reported that something is wrong */
	RUNLOG_SDC,	 /* silent data corruption: it ended normally with wrong output */
	RUNLOG_MASKED,	 /* it ended as the golden run does */
	RUNLOG_INACTIVE, /* "not-activated": the fault did not happen or changed no value */
	RUNLOG_OUTCOMES
};

/* How the run's trace first deviates from the golden one. */
enum runlog_deviation {
	RUNLOG_NONE,
	RUNLOG_DATA,
	RUNLOG_ADDRESS,
	RUNLOG_CONTROL,
	RUNLOG_MISSING,
	RUNLOG_EXTRA,
	RUNLOG_DEVIATIONS
};

struct runlog_run {
	uint64_t run;	   /* number of the run in the campaign */
	const char *fault; /* kind of the fault, such as "BitFlip" */

	/* The fault.  `plan` alone determines it. */
	const char *thread, *where, *opcode; /* such as "T_0_2", "pca.c:88:12 calc_mean", "load" */
	uint64_t site, instance;
	const char *action, *mask; /* such as "flip", "0x0000000000000400" */
	int64_t bit;		   /* -1 for null */
	const char *plan;	   /* all faults of the run, in the syntax of `raddle record --fault` */
	bool fired;
	const char *before, *after;
	/* for stratified sampling: the stratum; `population` is its number of instances */
	const char *stratum;
	uint64_t population;

	/* The result; texts may be NULL. */
	enum runlog_outcome outcome;
	const char *signal; /* such as "SIGSEGV" */
	int64_t exit;	    /* exit status; -1 for null */
	const char *place;  /* place of the crash */
	enum runlog_deviation deviation;
	const char *deviation_at, *deviation_thread;
	uint64_t deviation_site; /* site of the record that deviates; 0 if unknown */
	uint64_t records;
	double cpu_ms, wall_ms;
	/* File with the difference of the output, relative to the campaign's directory. */
	const char *diff;
	const char *trace; /* trace of the run, relative to the campaign's directory */
};

const char *runlog_outcome_name(enum runlog_outcome outcome);
/* Finds the outcome with that name.  Returns false if there is none. */
bool runlog_outcome_find(const char *name, enum runlog_outcome *outcome);
const char *runlog_deviation_name(enum runlog_deviation deviation);

/* Appends the log line of a run, including the newline. */
void runlog_write(struct rd_buf *out, const struct runlog_run *run);

/* Parses a line.  `length` is its length without the newline.  `texts` owns the texts of *run and
 * stores equal texts only once.  Returns NULL if the line is valid, otherwise a text that states
 * what is wrong. */
const char *runlog_parse(struct runlog_run *run, const char *line, size_t length, struct rd_names *texts);

/* Maximum number of bytes of a line.  A longer line is an error; it may be, for example, a hole in
 * a sparse file. */
#define RUNLOG_LINE_MAX (1 << 20)

typedef int runlog_line_fn(void *context, const char *line, size_t length);
/* Calls `fn` for each complete line of a log, without its newline, until `fn` returns a value other
 * than 0.  Returns that value, or an error if a line is too long.  Stores the total length of the
 * complete lines in *whole; what follows is an incomplete line. */
int runlog_lines(const char *text, size_t length, runlog_line_fn *fn, void *context, size_t *whole);

/* Finds the logs of a campaign's shards, DIRECTORY/log.N.  There may be none.  The caller must call
 * globfree(). */
int runlog_shards(const char *directory, glob_t *found);

#endif
