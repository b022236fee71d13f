/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the records of one process go: gathers the buffers of each thread into
 * chunks of a useful size and writes its trace directory.
 */
#ifndef RECORD_SINK_H
#define RECORD_SINK_H

#include "trace/meta.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_sink;
struct trace_layout;

/* Copies what it needs of `meta` (strings stay the caller's and must live as
 * long) and writes the first meta.json.  `sites` may be NULL. */
int record_sink_open(struct record_sink **sink, const char *directory, const struct trace_meta *meta,
		     const char *sites);

/* The trace is a full one: buffers are packed by this layout, which must live as long. */
void record_sink_full(struct record_sink *sink, const struct trace_layout *layout);

/* The pid was not known when the sink was opened: writes meta.json again. */
int record_sink_started(struct record_sink *sink, int64_t pid);

/* Takes a buffer's bytes, which start with RESET, of `events` events (not for full traces, whose
 * records are counted here). */
int record_sink_add(struct record_sink *sink, uint32_t thread, const void *records, size_t length,
		    uint64_t events);

/* So many accesses more were left out, none of them before position `from`, which is not 0. */
void record_sink_left_out(struct record_sink *sink, uint64_t accesses, uint64_t from);

/* Takes a buffer's bytes of what came to the thread from outside (raddle/world.h). */
int record_sink_add_world(struct record_sink *sink, uint32_t thread, const void *records, size_t length);

/* Writes what was gathered. */
int record_sink_flush(struct record_sink *sink);
/* The same for some threads, the next ones at the next call; *more: not all had their turn.  Twenty thousand
 * threads are twenty thousand files, and whoever writes them all at once answers nobody meanwhile. */
int record_sink_flush_some(struct record_sink *sink, bool *more);

/* Writes the records that a thread has so far not handed over, for readers of now; what is
 * added later takes their place.  Everything gathered must have been flushed. */
int record_sink_preview(struct record_sink *sink, uint32_t thread, const void *records, size_t length);

size_t record_sink_pending(const struct record_sink *sink);  /* bytes gathered */
uint64_t record_sink_events(const struct record_sink *sink); /* so far */
uint64_t record_sink_bytes(const struct record_sink *sink);  /* bytes written */

/* The end of the process.  The status stays unknown with TRACE_RUNNING. */
void record_sink_status(struct record_sink *sink, enum trace_end end, int code, bool core);
void record_sink_stood(struct record_sink *sink); /* it is ended because it stood still */

/* Flushes, writes the last meta.json and frees the sink.  `stopped` is the
 * reason why recording ended early, or NULL.  *last, unless NULL, is what the
 * meta.json says; its strings are those given to record_sink_open(). */
int record_sink_close(struct record_sink *sink, const char *stopped, struct trace_meta *last);

/* Frees the sink and writes nothing: a copy of this process has taken over. */
void record_sink_abandon(struct record_sink *sink);

#endif
