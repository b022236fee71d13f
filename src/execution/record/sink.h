/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sink receives the records of one process.  It gathers the buffers of each thread into chunks of
 * a useful size and writes the process's trace directory.
 */
#ifndef RECORD_SINK_H
#define RECORD_SINK_H

#include "trace/meta.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_sink;
struct trace_layout;

/* Opens a sink and writes the first meta.json.  Copies `meta`, except for its strings, which must
 * outlive the sink.  `sites` may be NULL. */
int record_sink_open(struct record_sink **sink, const char *directory, const struct trace_meta *meta,
		     const char *sites);

/* Makes this a full trace.  Its buffers are packed by `layout`, which must outlive the sink. */
void record_sink_full(struct record_sink *sink, const struct trace_layout *layout);

/* Sets the pid, which was not known when the sink was opened, and writes meta.json again. */
int record_sink_started(struct record_sink *sink, int64_t pid);

/* Adds the bytes of a buffer, which start with RESET and contain `events` events.  For full traces
 * `events` is ignored, and the records are counted here. */
int record_sink_add(struct record_sink *sink, uint32_t thread, const void *records, size_t length,
		    uint64_t events);

/* Notes that `accesses` more accesses were left out.  All of them were at or after position
 * `from`, which is not 0. */
void record_sink_left_out(struct record_sink *sink, uint64_t accesses, uint64_t from);

/* Adds a buffer of the thread's input from outside (raddle/world.h). */
int record_sink_add_world(struct record_sink *sink, uint32_t thread, const void *records, size_t length);

/* Writes the gathered records. */
int record_sink_flush(struct record_sink *sink);
/* Does the same as record_sink_flush(), but only for some threads.  The next call continues with
 * the following threads.  Stores in *more whether any threads are left.  This function exists
 * because each thread has a file of its own.  Writing 20,000 files at once would keep the
 * collector from draining buffers. */
int record_sink_flush_some(struct record_sink *sink, bool *more);

/* Writes records that a thread has not handed over yet, so that concurrent readers see them.
 * Records that are added later replace them.  The caller must flush the sink first. */
int record_sink_preview(struct record_sink *sink, uint32_t thread, const void *records, size_t length);

size_t record_sink_pending(const struct record_sink *sink);  /* number of bytes gathered */
uint64_t record_sink_events(const struct record_sink *sink); /* number of events so far */
uint64_t record_sink_bytes(const struct record_sink *sink);  /* number of bytes written */

/* Sets how the process ended.  If `end` is TRACE_RUNNING, the status stays unknown. */
void record_sink_status(struct record_sink *sink, enum trace_end end, int code, bool core);
/* Notes that the process is killed because it hangs. */
void record_sink_set_hung(struct record_sink *sink);

/* Flushes, writes the final meta.json and frees the sink.  `stopped` is the reason why recording
 * ended early, or NULL.  Unless `last` is NULL, stores the content of meta.json in *last; its
 * strings are those passed to record_sink_open(). */
int record_sink_close(struct record_sink *sink, const char *stopped, struct trace_meta *last);

/* Frees the sink without writing anything, because a forked copy of this process has taken over. */
void record_sink_abandon(struct record_sink *sink);

#endif
