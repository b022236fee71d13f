/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds sources of non-determinism: places where a run may have used something that its events do
 * not determine, such as the time.  A run is pseudo-deterministic only if there is no such use
 * (the second condition).  This file checks that condition with a list of known sources.
 */
#ifndef REVERSIBLE_SOURCE_H
#define REVERSIBLE_SOURCE_H

#include "reversible/run.h"
#include "trace/full.h"

enum rev_source_kind {
	REV_OF_TIME,	  /* the clock */
	REV_OF_TIMEOUT,	  /* a wait with a time limit */
	REV_OF_RANDOM,	  /* random numbers, names of temporary files */
	REV_OF_IDENTITY,  /* numbers of processes and threads */
	REV_OF_INPUT,	  /* sockets, terminals, and which descriptor is ready first */
	REV_OF_ADDRESS,	  /* addresses that leave the program */
	REV_OF_NUMBER,	  /* addresses that the program calculates with, for example for a hash */
	REV_OF_UNWRITTEN, /* memory without a recorded write */
	/* Several threads use a file, stream or descriptor table, and their order is not fixed. */
	REV_OF_OUTPUT,
	REV_OF_CHOICE, /* which of several threads is woken, or is the serial one of a barrier */
	REV_OF_SIGNAL, /* signals that arrive at any time */
	REV_SOURCE_KINDS,
};
const char *rev_source_kind_name(enum rev_source_kind kind);
const char *rev_source_kind_text(enum rev_source_kind kind); /* for messages */

struct rev_source {
	uint8_t kind; /* enum rev_source_kind */
	uint32_t site;
	uint32_t thread;  /* the first thread that used it, as an index of rev_run.threads */
	const char *what; /* the function or event; valid as long as the site table */
	uint64_t count;
};

struct rev_sources;
/* Makes a list of sources.  `layout` is the layout of the trace.  If it is NULL, calculations with
 * addresses are not found. */
struct rev_sources *rev_sources_new(const struct rev_run *run, const struct trace_sites *sites,
				    const struct trace_layout *layout);
void rev_sources_free(struct rev_sources *s);

/* Processes a record.  Call this for all records, in the order of the run.  `thread` is an index of
 * rev_run.threads. */
void rev_sources_feed(struct rev_sources *s, uint32_t thread, const struct trace_record *r);

/* Notes a load of bytes without a recorded write. */
void rev_sources_unwritten(struct rev_sources *s, uint32_t thread, uint32_t site);

/* Returns the function that the thread called last, or "" if it has called none. */
const char *rev_sources_call(const struct rev_sources *s, uint32_t thread);

/* Some library functions have a hidden state.  The first function returns the number of that
 * state, from 1, or 0 if the library function has none.  Functions that share a state have the
 * same number.  The second function returns the name of a state. */
unsigned rev_hidden_state(const char *function);
const char *rev_hidden_name(unsigned state);

/* Returns the list, which the caller must free, and stores its length in *count. */
struct rev_source *rev_sources_take(struct rev_sources *s, size_t *count);

#endif
