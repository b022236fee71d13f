/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a trace directory: the meta data, the site table, one stream per thread, and all threads
 * merged into one order.
 *
 * The merged order (the linearisation) follows these rules:
 *   - Records with a position in the global order (q) are in the order of q.
 *   - A record without q, such as a plain access, comes as early as the trace allows, which is
 *     directly after the preceding record with q in its thread.
 *   - The records of a thread stay in the order of their stream.  If q decreases within a stream,
 *     the largest q so far is used instead.
 *   - Records at equal positions are ordered by thread number.
 */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include "trace/meta.h"
#include "trace/sites.h"
#include "trace/stream.h"

struct trace;

/* Opens a trace directory.  With `force`, a missing meta.json or site table is accepted, and an
 * unreadable one is reported but accepted.  `path` may also name a single stream file.  This
 * implies `force`, and a site table in the same directory is used. */
int trace_open(struct trace **trace, const char *path, bool force);
void trace_close(struct trace *trace); /* `trace` may be NULL */

const char *trace_path(const struct trace *trace);
const struct trace_meta *trace_get_meta(const struct trace *trace);   /* zeroed if it is absent */
const struct trace_sites *trace_get_sites(const struct trace *trace); /* NULL if it is absent */

/* trace_thread_count() returns the number of threads.  Threads are in ascending order of their
 * thread numbers, which may have gaps. */
size_t trace_thread_count(const struct trace *trace);
uint32_t trace_thread_number(const struct trace *trace, size_t index);

/* Opens a separate stream on the thread with index `index`.  Close it with trace_stream_close()
 * before the trace is closed. */
int trace_open_thread(struct trace *trace, size_t index, struct trace_stream *s);

/* Sets the deadline for reading the trace's streams (base/clock.h), or 0 for no deadline.  A small
 * trace is always read completely. */
void trace_set_deadline(struct trace *trace, int64_t deadline_ns);
/* Returns true if the deadline cut a stream short. */
bool trace_is_late(const struct trace *trace);

/* Returns true if this is a full trace, whose threads are read with trace/full.h. */
bool trace_is_full(const struct trace *trace);
/* Opens a stream on a thread of a full trace. */
int trace_open_thread_full(struct trace *trace, size_t index, struct trace_stream *s);

/* All threads merged into one order. */
struct trace_merge {
	struct trace *trace;
	struct trace_lane {
		struct trace_stream stream;
		struct trace_event event;
		size_t index; /* index of the thread */
		bool live;
	} * lanes;
	size_t lane_count;
	uint32_t *heap; /* lanes that have events left; the lane with the next event is first */
	size_t heap_count;
	bool started;
	int err; /* the first error of any stream, which ended only that stream */
};

int trace_merge_open(struct trace_merge *m, struct trace *trace);
void trace_merge_close(struct trace_merge *m);

/* Returns the lane (a stream and its next event) whose event comes next, or NULL at the end.  Its
 * member `stream` contains the call stack and, in last_q, the position of the event. */
struct trace_lane *trace_merge_next(struct trace_merge *m);

typedef void trace_lane_fn(void *context, const struct trace_lane *lane);
/* Calls `fn` for all events, in the order of a merge. */
int trace_each(struct trace *trace, trace_lane_fn *fn, void *context);

#endif
