/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads all records of a full trace in one order.
 *
 * 	struct epa_source *s;         epa_source_open(&s, "DIR")
 * 	struct epa_walk *w;           epa_walk_open(&w, s)
 * 	while (epa_walk_next(w, &r) > 0) ...
 * 	epa_walk_close(w); epa_source_close(s);
 *
 * The order is that of trace/reader.h: records with q in the order of q, and a thread's records
 * without q directly after its last one with q.  So a creation, an unlock or a release of memory
 * always comes before the records that depend on it.  If q decreases within a thread, the largest q
 * up to there is used instead; equal values of q are ordered by thread number.
 *
 * A walk reads each record once and keeps at most one record per thread.
 */
#ifndef EPA_WALK_H
#define EPA_WALK_H

#include "trace/full.h"

/* The source of records: a trace directory, or raw buffers in memory. */
struct epa_source;
int epa_source_open(struct epa_source **source, const char *directory);

/* Makes a source of the buffers of a program that has ended, as the runtime filled them: not on
 * disk and not packed.  Layout and sites must outlive the source. */
void epa_source_of_memory(struct epa_source **source, const struct trace_layout *layout,
			  const struct trace_sites *sites);

/* Adds a buffer of a thread.  A thread's buffers must be added in the order in which they were
 * filled, and not while a walk is open.  The bytes are used in place and must outlive the
 * source. */
void epa_source_add(struct epa_source *source, uint32_t thread, const void *raw, size_t length);

/* Does the same as epa_source_add() for bytes in a shared mapping of a file that begins at `from`.
 * When the buffer has been read, all pages from `from` to its end are released, because the kernel
 * maps more pages than are read. */
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

/* Returns 1 if *r is the next record, whose pointers are valid until the next call; 0 if there are
 * no more. */
int epa_walk_next(struct epa_walk *walk, struct trace_record *r);

/* Returns the first error of a stream, which was reported and ended only that stream, or 0 if there
 * was none. */
int epa_walk_error(const struct epa_walk *walk);

/* Returns true if the whole run was read: nothing is damaged or cut off, and it was recorded to its
 * end.  Call this after the walk. */
bool epa_walk_is_whole(const struct epa_walk *walk);

/* The number of threads.  Their indices, called places, are in ascending order of their numbers. */
size_t epa_walk_threads(const struct epa_walk *walk);
size_t epa_walk_place(const struct epa_walk *walk); /* the place of the thread of the last record */
uint32_t epa_walk_number(const struct epa_walk *walk, size_t place);

/* The name of a thread: that of its creator, followed by _n, where n counts the creator's threads
 * from 0: T_0, T_0_1.  Names are known from the beginning of the walk.  "T_?7" is thread number 7
 * if its creator is unknown, for example because its stream or first record is lost. */
const char *epa_walk_name(const struct epa_walk *walk, size_t place);
const char *epa_thread_name(struct epa_walk *walk, uint32_t number);

/* Returns the thread-start event of a thread, even before the walk has reached it, or NULL if there
 * is none. */
const struct trace_event *epa_walk_start(const struct epa_walk *walk, uint32_t number);

/* Stores the call sites of the scopes around a thread's last record, like trace_full_stack(). */
size_t epa_walk_stack(const struct epa_walk *walk, size_t place, uint32_t *sites, size_t max);

/* Returns the reader of the thread of the last record, or NULL if the thread has no more records.
 * If that reader's next record is part of a piece, it is also the next one of the walk. */
struct trace_full *epa_walk_reader(const struct epa_walk *walk);

const struct epa_source *epa_walk_source(const struct epa_walk *walk);

#endif
