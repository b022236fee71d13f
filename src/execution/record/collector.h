/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector: drains the session of a recorded program and of all processes
 * it forks into trace directories, until they have ended.  Single-threaded.
 * Without a directory it only waits for the program, and calls back meanwhile or hands the buffers on.
 */
#ifndef RECORD_COLLECTOR_H
#define RECORD_COLLECTOR_H

#include "run/session.h"
#include "trace/meta.h"

#include <stdbool.h>
#include <sys/types.h>

struct trace_layout;

struct record_options {		 /* zero values are the defaults */
	const char *directory;	 /* NULL: nothing is kept */
	const char *sites;	 /* site table of the flavour, or NULL */
	struct trace_meta *meta; /* what is known before the start; all strings outlive the collector */
	uint64_t limit;		 /* bytes on disk; 0: none */
	const struct trace_layout *layout; /* of a full trace (trace/full.h); NULL: it is none */

	/* Instead of a directory: takes the buffers, those of a thread in order, which are gone when it
	 * returns; `process` is the number in the session's table, 0 the first one's.  May be NULL. */
	void (*take)(void *context, uint32_t process, uint32_t thread, const void *records, size_t length);

	/* While the first process runs, called about each `look_ms`; may be NULL. */
	void (*look)(void *context, pid_t pid);
	void *context;
	unsigned look_ms;
};

struct record_collector;

/* Opens the trace of the first process, which is not started yet. */
int record_collector_open(struct record_collector **c, struct run_session *session,
			  const struct record_options *options);

/* Drains until process `pid`, a child of ours, has ended.  *status is what waitpid()
 * said, *last what its meta.json says. */
int record_collector_run(struct record_collector *c, pid_t pid, int *status, struct trace_meta *last);

/* Whether forked process n has ended, as far as was seen by then. */
bool record_collector_has_ended(const struct record_collector *c, uint32_t n);

/* Brings the trace of the first process up to date on the disk, with what its threads have
 * not handed over yet.  From `look` only. */
void record_collector_show(struct record_collector *c);

/* Whether the last thing a thread of the first process did was to ask for a lock.  From `look`
 * only. */
bool record_collector_has_request(struct record_collector *c);

/* The first process is ended because it stands still for good: says so in its meta.json. */
void record_collector_stood(struct record_collector *c);

/* Of the program itself, so far. */
uint64_t record_collector_events(const struct record_collector *c);

/* Forked processes that still run. */
size_t record_collector_alive(const struct record_collector *c);

/* Drains until all of them have ended.  When `wait` says that they have had time enough they are ended, by
 * SIGTERM first; NULL: they have any time. */
void record_collector_rest(struct record_collector *c, bool (*wait)(void *context), void *context);

void record_collector_close(struct record_collector *c);

/* Frees the collector and leaves the traces to a copy of this process. */
void record_collector_abandon(struct record_collector *c);

#endif
