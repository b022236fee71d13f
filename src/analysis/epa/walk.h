/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads all records of a full trace in one order.
 *
 * 	struct epa_source *s;         epa_source_open(&s, "DIR")
 * 	struct epa_walk *w;           epa_walk_open(&w, s)
 * 	while (epa_walk_next(w, &r) > 0) ...
 * 	epa_walk_close(w); epa_source_close(s);
 *
 * The order is that of trace/reader.h.  Records with q are sorted by q, and a thread's records
 * without q follow directly after its last record with q.  So a creation, an unlock or a release of
 * memory always comes before the records that depend on it.  If q decreases within a thread, the
 * largest q so far is used instead.  Records with equal q are ordered by thread number.
 *
 * A walk reads each record once and keeps at most one record per thread.
 */
#ifndef EPA_WALK_H
#define EPA_WALK_H

#include "trace/full.h"

/* The source of records: a trace directory, or raw buffers in memory. */
struct epa_source;
int epa_source_open(struct epa_source **source, const char *directory);

/* Makes a source of records from the buffers of a program that has ended.  The buffers are in
 * memory, unpacked, as the runtime filled them.  The layout and the sites must outlive the
 * source. */
void epa_source_of_memory(struct epa_source **source, const struct trace_layout *layout,
			  const struct trace_sites *sites);

/* Adds a buffer of a thread.  A thread's buffers must be added in the order in which they were
 * filled, and not while a walk is open.  The bytes are used in place and must outlive the
 * source. */
void epa_source_add(struct epa_source *source, uint32_t thread, const void *raw, size_t length);

/* Does the same as epa_source_add() for bytes in a shared mapping of a file.  The mapping begins at
 * `from`.  When the buffer has been read, all pages from `from` to the end of the buffer are
 * released, because the kernel maps more pages than were read. */
void epa_source_add_mapped(struct epa_source *source, uint32_t thread, const void *raw, size_t length,
			   const void *from);

void epa_source_close(struct epa_source *source); /* `source` may be NULL */

const struct trace_sites *epa_source_sites(const struct epa_source *source);
const struct trace_layout *epa_source_layout(const struct epa_source *source);
const char *epa_source_name(const struct epa_source *source); /* for messages */

/* One pass over a source.  Any number of passes may be open. */
struct epa_walk;
int epa_walk_open(struct epa_walk **walk, struct epa_source *source);
void epa_walk_close(struct epa_walk *walk); /* `walk` may be NULL */

/* Stores the next record in *r and returns 1.  The record's pointers are valid until the next call.
 * Returns 0 if there are no more records. */
int epa_walk_next(struct epa_walk *walk, struct trace_record *r);

/* Returns the first error of a stream, or 0 if there was none.  An error is reported when it
 * occurs, and ends only the stream in which it occurs. */
int epa_walk_error(const struct epa_walk *walk);

/* Returns true if the whole run was read: nothing is damaged or cut off, and the run was recorded
 * to its end.  Call this after the walk. */
bool epa_walk_is_whole(const struct epa_walk *walk);

/* epa_walk_threads() returns the number of threads.  The index of a thread is called its place.
 * Places are in ascending order of thread numbers. */
size_t epa_walk_threads(const struct epa_walk *walk);
size_t epa_walk_place(const struct epa_walk *walk); /* the place of the thread of the last record */
uint32_t epa_walk_number(const struct epa_walk *walk, size_t place);

/* Returns the name of a thread.  It consists of the name of the thread's creator and "_n", where n
 * counts the creator's threads from 0, for example T_0_1.  Names are known from the beginning of
 * the walk.  If the creator is unknown, for example because its stream or first record is lost,
 * thread number 7 has the name "T_?7". */
const char *epa_walk_name(const struct epa_walk *walk, size_t place);
const char *epa_thread_name(struct epa_walk *walk, uint32_t number);

/* Returns the thread-start event of a thread, or NULL if there is none.  The walk need not have
 * reached the event yet. */
const struct trace_event *epa_walk_start(const struct epa_walk *walk, uint32_t number);

/* Stores the call sites of the scopes around a thread's last record, like trace_full_stack(). */
size_t epa_walk_stack(const struct epa_walk *walk, size_t place, uint32_t *sites, size_t max);

/* Returns the reader of the thread that made the last record, or NULL if the thread has no more
 * records.  If the next record of this reader is part of a piece, it is also the next record of
 * the walk. */
struct trace_full *epa_walk_reader(const struct epa_walk *walk);

const struct epa_source *epa_walk_source(const struct epa_walk *walk);

#endif
