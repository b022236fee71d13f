/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes the file `world` of a trace directory (doc/format/world.md), which contains what
 * a run received from outside.  Records are returned in the order of the file.  Records of one
 * thread are in program order, and the member `order` orders records of different threads.
 *
 * The reader trusts no byte of the file, as in trace/stream.h.
 */
#ifndef TRACE_WORLD_H
#define TRACE_WORLD_H

#include "base/buf.h"
#include "raddle/world.h"
#include "trace/stream.h"

#define TRACE_WORLD_OPERANDS 3 /* largest number of operands in a row of world.inc */

/* A row of world.inc. */
struct trace_world_row {
	const char *name;     /* NULL if the code is not used */
	const char *operands; /* a letter for each operand */
	const char *names;    /* names of the operands */
};
const struct trace_world_row *trace_world_row(uint32_t kind);

struct trace_source_row {
	const char *name, *unit;
};
const struct trace_source_row *trace_source_row(uint32_t source);

struct trace_world_record {
	enum raddle_world_record kind;
	uint32_t thread;
	uint64_t order; /* position among the ordered records */
	/* The numeric operands, except the one that `order` holds.  If the record has a source,
	 * such as a clock, they are the source and its value. */
	uint64_t operand[TRACE_WORLD_OPERANDS];
	const uint8_t *bytes; /* valid until the next record */
	size_t length;
};

struct trace_world {
	struct trace_stream stream;
	struct trace_inflater *inflater;
	struct rd_buf file;
	char *name;
	const uint8_t *p, *end; /* the rest of the current piece */
	uint32_t thread;
	uint64_t order, values[RADDLE_SOURCES];
};

/* These functions open a file, or bytes that must outlive the reader.  Close the reader only if
 * they succeed. */
int trace_world_open(struct trace_world *w, const char *path);
int trace_world_open_bytes(struct trace_world *w, const void *data, size_t length, const char *name);
void trace_world_close(struct trace_world *w);

/* Returns the same as trace_stream_more(). */
int trace_world_next(struct trace_world *w, struct trace_world_record *r);

/* Writes the head of a piece of `length` bytes, which the caller adds. */
void trace_world_begin_piece(struct rd_buf *out, uint32_t thread, size_t length);

#endif
