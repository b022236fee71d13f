// SPDX-License-Identifier: Apache-2.0
/*
 * Reads and writes the stream `world`.
 *
 * A chunk is a sequence of pieces.  Each piece consists of the number of the thread, the length,
 * and the records.  It contains what the runtime wrote into one buffer, so differences between
 * records start afresh in each piece.
 */
#include "trace/world.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/varint.h"

#include <stdlib.h>
#include <string.h>

const struct trace_world_row *trace_world_row(uint32_t kind)
{
	static const struct trace_world_row none = {0}, rows[RADDLE_WORLD_RECORDS] = {
#define RADDLE_WORLD(code, constant, name, operands, names, meaning) [code] = {name, operands, names},
#include "raddle/world.inc"
							};

	return kind < RADDLE_WORLD_RECORDS ? &rows[kind] : &none;
}

const struct trace_source_row *trace_source_row(uint32_t source)
{
	static const struct trace_source_row rows[] = {
#define RADDLE_SOURCE(constant, name, unit, meaning) {name, unit},
#include "raddle/world.inc"
	};

	RD_ASSERT(source < RADDLE_SOURCES);
	return &rows[source];
}

/* ---- pieces ---- */

void trace_world_begin_piece(struct rd_buf *out, uint32_t thread, size_t length)
{
	rd_varint_put(out, thread);
	rd_varint_put(out, length);
}

/* Reads a number.  Returns false if it is incomplete. */
static bool get_varint(const uint8_t **p, const uint8_t *end, uint64_t *v)
{
	return rd_varint_get(p, end, v) == RD_VARINT_OK;
}

static int bad(struct trace_world *w, const uint8_t *at, const char *what)
{
	size_t offset = (size_t)(at - w->stream.decoder.begin);

	w->p = w->end = NULL;
	return trace_stream_bad(&w->stream, offset, what);
}

/* Begins the next piece of the chunk. */
static int next_piece(struct trace_world *w)
{
	struct trace_decoder *d = &w->stream.decoder;
	const uint8_t *start = d->p;
	uint64_t thread, length;

	if (!get_varint(&d->p, d->end, &thread) || !get_varint(&d->p, d->end, &length) ||
	    thread > UINT32_MAX || length > (uint64_t)(d->end - d->p))
		return bad(w, start, "a piece is longer than its chunk");
	w->thread = (uint32_t)thread;
	w->p = d->p;
	w->end = d->p += length;
	w->order = 0;
	memset(w->values, 0, sizeof w->values);
	return 1;
}

static int next_chunk(struct trace_world *w)
{
	int got = trace_stream_chunk(&w->stream);

	if (got > 0)
		w->stream.decoder.p = w->stream.decoder.begin;
	return got;
}

/* ---- records ---- */

static bool get_bytes(struct trace_world *w, struct trace_world_record *r)
{
	uint64_t length;

	if (!get_varint(&w->p, w->end, &length) || length > (uint64_t)(w->end - w->p))
		return false;
	r->bytes = w->p;
	r->length = (size_t)length;
	w->p += length;
	return true;
}

static bool get_operand(struct trace_world *w, struct trace_world_record *r, char letter, size_t *count)
{
	uint64_t v;

	if (letter == 'b')
		return get_bytes(w, r);
	if (!get_varint(&w->p, w->end, &v) || (letter == 's' && v >= RADDLE_SOURCES))
		return false;
	if (letter == 'o')
		r->order = w->order += (uint64_t)rd_unzigzag(v);
	else if (letter == 'v')
		r->operand[(*count)++] = w->values[r->operand[0]] += (uint64_t)rd_unzigzag(v);
	else
		r->operand[(*count)++] = v;
	return true;
}

static int decode(struct trace_world *w, struct trace_world_record *r)
{
	const uint8_t *start = w->p;
	const struct trace_world_row *row = trace_world_row(*w->p++);
	size_t count = 0;

	*r = (struct trace_world_record){.kind = *start, .thread = w->thread};
	if (!row->name)
		return bad(w, start, "unknown record of the world");
	for (const char *letter = row->operands; *letter; letter++)
		if (!get_operand(w, r, *letter, &count))
			return bad(w, start, "a record of the world is cut off");
	return 1;
}

int trace_world_next(struct trace_world *w, struct trace_world_record *r)
{
	while (w->p == w->end) {
		bool more = w->stream.decoder.p < w->stream.decoder.end;
		int got = more ? next_piece(w) : next_chunk(w);

		if (got <= 0)
			return got;
	}
	return decode(w, r);
}

/* ---- files ---- */

int trace_world_open_bytes(struct trace_world *w, const void *data, size_t length, const char *name)
{
	int err;

	*w = (struct trace_world){
		.inflater = trace_inflater_new(), .file = RD_BUF_INIT, .name = rd_xstrdup(name)};
	err = trace_stream_open_world(&w->stream, w->inflater, data, length, w->name);
	if (err)
		trace_world_close(w);
	return err;
}

int trace_world_open(struct trace_world *w, const char *path)
{
	struct rd_buf file = RD_BUF_INIT;
	int err = rd_file_read(path, &file);

	if (!err)
		err = trace_world_open_bytes(w, file.data, file.length, path);
	if (err)
		rd_buf_release(&file);
	else
		w->file = file;
	return err;
}

void trace_world_close(struct trace_world *w)
{
	trace_stream_close(&w->stream);
	trace_inflater_free(w->inflater);
	rd_buf_release(&w->file);
	free(w->name);
	*w = (struct trace_world){.file = RD_BUF_INIT};
}
