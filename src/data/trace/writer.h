/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a trace directory.
 *
 * One writer serves one trace (one process of the recorded run).  It is not thread-safe.  When a
 * function fails, it has already printed a message, errno is that of the failed system call
 * (ENOSPC, EDQUOT, ...), and the files on disk end after the last whole chunk.
 */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H

#include "trace/meta.h"

#include <stddef.h>
#include <stdint.h>

struct trace_writer;

/* The largest length of a chunk's records, in bytes. */
#define TRACE_CHUNK_MAX (1u << 20)

/* Creates the directory if it does not exist.  Fails with RD_EUSAGE if it already contains a
 * trace. */
int trace_writer_open(struct trace_writer **w, const char *directory);

/* Declares that all streams that are written from now on are those of a full trace
 * (trace/full.h). */
void trace_writer_full(struct trace_writer *w);

/* Appends one chunk to the stream of `thread`.  `records` must consist of whole records and start
 * with RESET.  Nothing is written for an empty chunk. */
int trace_writer_chunk(struct trace_writer *w, uint32_t thread, const void *records, size_t length);

/* Appends a temporary chunk, for readers of a trace that is still being written.  The next chunk
 * of the thread replaces this chunk, and trace_writer_close() removes it. */
int trace_writer_preview(struct trace_writer *w, uint32_t thread, const void *records, size_t length);

/* Appends one chunk to the stream of the world, the input from outside (trace/world.h).  Only the
 * owner can read the file, because the input may contain secrets. */
int trace_writer_world(struct trace_writer *w, const void *pieces, size_t length);

/* Does the same as trace_writer_chunk() for packed bytes (trace/pack.h), which unpack to `raw`
 * bytes. */
int trace_writer_packed(struct trace_writer *w, uint32_t thread, const void *packed, size_t length,
			size_t raw);

int trace_writer_meta(struct trace_writer *w, const struct trace_meta *meta);

/* Writes a copy of the site table. */
int trace_writer_sites(struct trace_writer *w, const char *path);

/* Returns the number of bytes written to streams until now. */
uint64_t trace_writer_bytes(const struct trace_writer *w);
uint64_t trace_writer_threads(const struct trace_writer *w);

/* Closes the files and frees the writer, even if it fails.  `w` may be NULL. */
int trace_writer_close(struct trace_writer *w);

/* Frees the writer without changing the files, which another process writes from now on. */
void trace_writer_abandon(struct trace_writer *w);

#endif
