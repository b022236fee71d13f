/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a campaign of fault injection: one line for each run (inject/runlog.h).  A line
 * contains everything that is needed to inject the same fault again.
 */
#ifndef INJECT_LOG_H
#define INJECT_LOG_H

#include "inject/runlog.h"
#include "inject/choose.h"
#include "inject/run.h"

/* Bytes for a place; longer texts are cut.  Chosen by hand: a path and a function fit. */
#define INJECT_TEXT 512

/* The result of a run.  Empty strings mean unknown. */
struct inject_verdict {
	enum runlog_outcome outcome;
	char place[INJECT_TEXT]; /* place of a crash: file:line:column function */
	enum runlog_deviation deviation;
	char deviation_at[INJECT_TEXT], deviation_thread[INJECT_THREAD_NAME];
	uint32_t deviation_site;
	uint64_t records; /* number of records of the run that were compared */
	char diff[64];	  /* path of the diff, relative to the campaign's directory */
	char trace[64];	  /* path of the trace, relative to the campaign's directory */
};

/* Appends the log line of a run, with its newline. */
void inject_log_line(const struct trace_sites *sites, const struct inject_fault *fault,
		     const struct inject_run *run, const struct inject_verdict *verdict, struct rd_buf *line);

/* Reconstructs the fault from a log line that was parsed. */
int inject_log_fault(const struct runlog_run *run, struct inject_fault *fault);

/* Reconstructs the fault from the text of a log line, as the user copied it. */
int inject_log_fault_line(const char *line, struct inject_fault *fault);

typedef int inject_line_fn(void *context, const struct runlog_run *run, const char *text, size_t length);
/* Calls `fn` for each complete line of a log.  Stores the length of the file in *length, without
 * an incomplete last line.  Skips damaged lines with a warning.  A missing file counts as empty.
 * If the callback returns a value other than 0, the function stops and returns that value.  The
 * texts of a run are valid until the callback returns. */
int inject_log_read(const char *path, inject_line_fn *fn, void *context, uint64_t *length);

#endif
