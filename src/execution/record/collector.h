/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector writes the traces of a recorded program and of all processes that the program
 * forks.  It reads the records from memory that it shares with these processes (the session),
 * until all of them have ended.  It is single-threaded.
 *
 * If no directory is given, the collector writes nothing.  It only waits for the program, calls
 * `look` at intervals, and passes the buffers to `take`.
 */
#ifndef RECORD_COLLECTOR_H
#define RECORD_COLLECTOR_H

#include "run/clock.h"
#include "run/session.h"
#include "trace/meta.h"

#include <stdbool.h>
#include <sys/types.h>

struct trace_layout;

struct record_options {	       /* zero values are the defaults */
	const char *directory; /* NULL if nothing is to be written */
	const char *sites;     /* path of the site table of the flavour, or NULL */
	/* The meta data that is known before the start.  All its strings must outlive the
	 * collector. */
	struct trace_meta *meta;
	uint64_t limit;			   /* largest number of bytes on disk; 0 for no limit */
	const struct trace_layout *layout; /* for a full trace (trace/full.h); else NULL */

	/* Called with each buffer of records if there is no directory.  The buffers of a thread
	 * are passed in order, and each is valid only until the callback returns.  `process` is
	 * the number of the process in the session's table, 0 for the first one.  May be NULL. */
	void (*take)(void *context, uint32_t process, uint32_t thread, const void *records, size_t length);

	/* Called about every `look_ms` milliseconds while the first process runs; may be NULL. */
	void (*look)(void *context, pid_t pid);
	/* Called after `look`.  If it returns true, collecting stops although the first process is
	 * still running.  May be NULL. */
	bool (*leaves)(void *context);
	/* Returns true if the run has ended although its first process still exists.  In that
	 * case, also stores the wait status that this process would have had.  May be NULL. */
	bool (*ended)(void *context, int *status);
	void *context;
	unsigned look_ms;
};

struct record_collector;

/* Opens the trace of the first process, which has not started yet. */
int record_collector_open(struct record_collector **c, struct run_session *session,
			  const struct record_options *options);

/* Reads the session's buffers until the child process `pid` has ended.  Stores the wait status of
 * the process in *status and the content of its meta.json in *last.  If `leaves` returned true
 * first, stores neither. */
int record_collector_run(struct record_collector *c, pid_t pid, int *status, struct trace_meta *last);

/* Returns true if forked process n is known to have ended. */
bool record_collector_has_ended(const struct record_collector *c, uint32_t n);

/* Brings the trace of the first process on disk up to date, including the records that its threads
 * have not handed over yet.  Call this only from `look`. */
void record_collector_show(struct record_collector *c);

/* Returns true if the last record of some thread of the first process is a request for a lock.
 * Call this only from `look`. */
bool record_collector_has_request(struct record_collector *c);

/* Notes in meta.json that the first process was killed because it hung. */
void record_collector_set_hung(struct record_collector *c);

/* Returns the number of events that the first process has recorded so far. */
uint64_t record_collector_events(const struct record_collector *c);

/* Returns the number of forked processes that still run. */
size_t record_collector_alive(const struct record_collector *c);

/* Adds up the processor times of the recorded processes, and the numbers of their threads that are
 * awake.  The program time (run/clock.h) is computed from these sums. */
void record_collector_measure(const struct record_collector *c, struct run_clock_look *look);

/* Reads the session's buffers until all forked processes have ended.  When `wait` returns false,
 * ends these processes, first with SIGTERM.  If `wait` is NULL, they may run without limit. */
void record_collector_rest(struct record_collector *c, bool (*wait)(void *context), void *context);

void record_collector_close(struct record_collector *c);

/* Frees the collector without completing the traces.  A forked copy of this process does that. */
void record_collector_abandon(struct record_collector *c);

#endif
