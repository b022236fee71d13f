/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the records of a full trace.  It reads the chunks of a stream, which are raw or packed, and
 * returns records one by one.
 *
 * The reader finds the layout of each piece and returns the piece's ops in turn.  All offsets were
 * checked when the layout was made, so the reader only checks whether the whole piece is there.
 *
 * The reader also tracks the call stack, because it attributes an event to the last call in the
 * innermost scope, that is, in the function that is being executed.
 */
#include "trace/full.h"

#include "base/alloc.h"
#include "base/error.h"
#include "raddle/full.h"
#include "trace/format-int.h"
#include "trace/layout-int.h"
#include "trace/pack.h"

#include <stdlib.h>
#include <string.h>

/* The number of bytes in a fault record: a code, two numbers of 4 bytes and two values of 16
 * bytes. */
#define FAULT_SIZE 41
#define DEPTH_MAX (1u << 24) /* largest number of scopes that are kept, to bound memory */

struct scope {
	uint64_t frame;
	uint32_t function; /* number of the piece with its entry */
	uint32_t call;	   /* site of the last call in the scope */
};

struct trace_full {
	struct trace_stream stream;
	const struct trace_layout *layout;
	struct trace_unpacker *unpacker;
	const uint8_t *begin, *p, *end;
	/* The piece whose ops come next, or NULL if a new record begins. */
	const struct trace_piece *piece;
	const uint8_t *base;	    /* the bytes of `piece` */
	const struct trace_op *ops; /* the ops of `piece` that the caller wants */
	uint32_t op, op_end;
	/* The index of the op that was not finished, or UINT32_MAX if all ops were finished. */
	uint32_t unfinished;
	bool values;
	bool fed;      /* the caller feeds raw bytes, so there are no chunks */
	bool fed_last; /* the caller will not feed more bytes */
	/* True if `branch` is the next record, but the bytes so far have not shown its target. */
	bool has_branch;
	bool ended; /* the stream ended, with `end_code` */
	int end_code;
	struct trace_record branch;
	struct scope *scopes;
	size_t depth, scope_capacity;
	uint64_t deeper; /* number of scopes beyond DEPTH_MAX, which are only counted */
	/* A copy of a piece that is followed by fewer than 8 readable bytes. */
	uint8_t tail[RADDLE_PIECE_MAX + 8];
	struct trace_event event;
	struct trace_value atomic[2];
	struct trace_pointer pointers[RADDLE_FULL_POINTERS];
};

static const char *const kind_names[TRACE_FULL_KINDS] = {
	"entry",   "load", "store", "alloca", "restore", "call",   "tail",  "result", "return", "branch",
	"landing", "copy", "fill",  "value",  "range",	 "atomic", "fence", "event",  "fault",
};

const char *trace_full_kind_name(enum trace_full_kind kind)
{
	RD_ASSERT(kind < TRACE_FULL_KINDS);
	return kind_names[kind];
}

static uint64_t load64(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, 8);
	return le64toh(v);
}

static uint32_t load32(const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, 4);
	return le32toh(v);
}

static uint64_t load_small(const uint8_t *p, size_t size)
{
	uint64_t v = 0;
	switch (size) {
	case 1: return *p;
	case 4: return load32(p);
	case 8: return load64(p);
	default: memcpy(&v, p, size < 8 ? size : 8); return le64toh(v);
	}
}

uint64_t trace_record_value(const struct trace_record *r, size_t i)
{
	if (i >= r->value_count)
		return 0;
	return load_small(r->bytes + r->values[i].offset, r->values[i].size);
}

int trace_full_open(struct trace_full **out, struct trace *trace, const struct trace_layout *layout,
		    size_t index, bool values)
{
	RD_ASSERT(layout != NULL);
	struct trace_full *f = rd_xcalloc(1, sizeof *f);
	int err = trace_open_thread_full(trace, index, &f->stream);
	if (err) {
		free(f);
		return err;
	}
	f->layout = layout;
	f->values = values;
	f->unpacker = trace_unpacker_new(layout, f->stream.version);
	*out = f;
	return RD_OK;
}

void trace_full_open_raw(struct trace_full **out, const struct trace_layout *layout, uint32_t thread,
			 bool values)
{
	RD_ASSERT(layout != NULL);
	struct trace_full *f = rd_xcalloc(1, sizeof *f);
	f->layout = layout;
	f->values = values;
	f->fed = true;
	f->stream.thread = thread;
	f->stream.name = "raw bytes";
	*out = f;
}

void trace_full_feed(struct trace_full *f, const void *raw, size_t length)
{
	RD_ASSERT(raw != NULL || length == 0);
	f->begin = f->p = raw;
	f->end = length ? f->begin + length : f->begin;
	f->piece = NULL;
	f->fed_last = length == 0;
	f->ended = false;
}

bool trace_full_is_cut(const struct trace_full *f)
{
	return f->stream.damage == TRACE_TRUNCATED;
}

void trace_full_close(struct trace_full *f)
{
	if (!f)
		return;
	trace_stream_close(&f->stream);
	trace_unpacker_free(f->unpacker);
	free(f->scopes);
	free(f);
}

/* --- scopes -------------------------------------------------------------------------- */

static void push(struct trace_full *f, uint32_t function, uint64_t frame)
{
	if (f->depth == DEPTH_MAX) {
		f->deeper++;
		return;
	}
	RD_GROW(f->scopes, f->scope_capacity, f->depth + 1);
	f->scopes[f->depth++] = (struct scope){frame, function, 0};
}

static void pop(struct trace_full *f)
{
	if (f->deeper)
		f->deeper--;
	else
		f->depth -= f->depth != 0;
}

/* Removes the scopes that an exception or longjmp() left. */
static void land(struct trace_full *f, uint64_t frame)
{
	size_t depth = f->depth;
	while (depth > 0 && f->scopes[depth - 1].frame != frame)
		depth--;
	if (depth == 0)
		return;
	f->depth = depth;
	f->deeper = 0;
}

size_t trace_full_stack(const struct trace_full *f, uint32_t *sites, size_t max)
{
	RD_ASSERT(sites != NULL || max == 0);
	for (size_t i = 0; i < f->depth && i < max; i++)
		sites[i] = f->scopes[f->depth - 1 - i].call;
	return f->depth;
}

/* --- pieces ---------------------------------------------------------------------------- */

/* Finds how far an incomplete piece was executed, which is up to the last op that has an
 * address. */
static void find_end(struct trace_full *f)
{
	uint32_t count = f->op_end;
	f->op_end = 0;
	for (uint32_t i = count; i-- > 0;) {
		const struct trace_op *op = &f->ops[i];
		if (!op->address || load64(f->base + op->offset) == 0)
			continue;
		f->op_end = i + 1;
		if (op->kind != TRACE_FULL_LOAD ||
		    load_small(f->base + op->offset + 8, op->values[0].size) == 0)
			f->unfinished = i;
		return;
	}
}

/* Returns the piece whose bytes are at p.  Returns NULL, with the reason in *why, if there is
 * none. */
static const struct trace_piece *piece_at(const struct trace_full *f, const char **why)
{
	const struct trace_piece *piece;
	*why = "it is cut off";
	if (f->end - f->p < RADDLE_PIECE_HEAD)
		return NULL;
	*why = "the layout has no such piece";
	piece = trace_layout_get(f->layout, raddle_piece_number(load32(f->p)));
	if (!piece || (size_t)(f->end - f->p) >= piece->size)
		return piece;
	*why = "the piece is cut off";
	return NULL;
}

static void begin_piece(struct trace_full *f, const struct trace_piece *piece)
{
	f->piece = piece;
	f->base = f->p;
	f->p += piece->size;
	if (f->end - f->p < 8)
		f->base = memcpy(f->tail, f->base, piece->size);
	f->op = 0;
	f->ops = f->values ? piece->ops : piece->plain;
	f->op_end = f->values ? piece->op_count : piece->record_count;
	f->unfinished = UINT32_MAX;
	if (piece->size > RADDLE_PIECE_HEAD && f->base[piece->size - 1] == 0)
		find_end(f);
}

/* Sets f->piece to the piece at p and returns 1.  Returns a negative number if there is no
 * piece. */
static int read_piece(struct trace_full *f)
{
	const char *why;
	const struct trace_piece *piece = piece_at(f, &why);
	if (!piece)
		return trace_stream_bad(&f->stream, (size_t)(f->p - f->begin), why);
	begin_piece(f, piece);
	return 1;
}

/* Returns true if the bytes show what follows a branch.  Stores the number of the next piece in
 * *piece, or 0 if another record follows.  Faults are skipped, because they refer to the piece
 * before them.  *piece is also 0 if the next piece begins with a function entry, because such a
 * piece belongs to a signal handler. */
static bool next_piece(const struct trace_full *f, uint64_t *piece)
{
	const struct trace_piece *next;
	const uint8_t *p = f->p;
	*piece = 0;
	while (p < f->end && (*p == RADDLE_FULL_RESET || *p == RADDLE_FULL_FAULT))
		p += *p == RADDLE_FULL_RESET ? 1 : f->end - p < FAULT_SIZE ? f->end - p : FAULT_SIZE;
	if (p == f->end || (f->fed && *p == RADDLE_FULL_END))
		return false;
	if (*p < RADDLE_FULL_PIECE || f->end - p < RADDLE_PIECE_HEAD)
		return true;
	next = trace_layout_get(f->layout, raddle_piece_number(load32(p)));
	if (next && !(next->op_count && next->ops[0].kind == TRACE_FULL_ENTRY))
		*piece = next->number;
	return true;
}

static void scope_change(struct trace_full *f, const struct trace_record *r)
{
	switch (r->kind) {
	case TRACE_FULL_ENTRY: push(f, f->piece->function, r->frame); break;
	case TRACE_FULL_CALL:
		if (f->depth && !f->deeper)
			f->scopes[f->depth - 1].call = r->site;
		break;
	case TRACE_FULL_TAIL:
	case TRACE_FULL_RETURN: pop(f); break;
	case TRACE_FULL_LANDING: land(f, r->frame); break;
	default: break;
	}
}

static void fill_op(struct trace_full *f, struct trace_record *r)
{
	uint32_t index = f->op++;
	const struct trace_op *op = &f->ops[index];
	const uint8_t *fields = f->base + op->offset;
	r->kind = op->kind;
	r->flags = index == f->unfinished ? TRACE_RECORD_UNFINISHED : 0;
	r->thread = f->stream.thread;
	r->site = op->site;
	r->piece = f->piece->number;
	r->op = op;
	r->size = op->size;
	r->value_count = op->value_count;
	r->values = op->values;
	r->bytes = fields;
	r->q = 0;
	r->address = (load64(fields) - 1) & op->address_mask;
	r->value = load64(f->base + op->value_at) & op->value_mask;
	if (op->simple)
		return;
	switch (op->kind) {
	case TRACE_FULL_BRANCH: f->has_branch = !next_piece(f, &r->value) && f->op == f->op_end; return;
	case TRACE_FULL_ALLOCA: r->size = r->value; return;
	case TRACE_FULL_COPY:
	case TRACE_FULL_FILL: r->size = load64(fields + op->values[1].offset); return;
	default:
		r->frame = op->frame ? load64(fields) : 0;
		r->callee = op->callee ? load64(fields) : 0;
		scope_change(f, r);
	}
}

/* --- records of the runtime --------------------------------------------------------------- */

static bool has(const struct trace_full *f, size_t bytes)
{
	return (size_t)(f->end - f->p) >= bytes;
}

static int cut_off(struct trace_full *f)
{
	return trace_stream_bad(&f->stream, (size_t)(f->p - f->begin), "it is cut off");
}

static int read_range(struct trace_full *f, struct trace_record *r)
{
	const uint8_t *p = f->p;
	if (!has(f, 34) || p[33] > RADDLE_FULL_POINTERS || !has(f, 34 + 16 * (size_t)p[33]))
		return cut_off(f);
	r->kind = TRACE_FULL_RANGE;
	r->site = load32(p + 1);
	r->address = load64(p + 5);
	r->size = load64(p + 13);
	r->value = load64(p + 21);
	r->pointer_count = load32(p + 29);
	r->listed = p[33];
	for (uint32_t i = 0; i < r->listed; i++) {
		f->pointers[i].offset = load64(p + 34 + 16 * i);
		f->pointers[i].value = load64(p + 42 + 16 * i);
	}
	r->pointers = f->pointers;
	f->p += 34 + 16 * (size_t)p[33];
	return 1;
}

static int read_atomic(struct trace_full *f, struct trace_record *r)
{
	const uint8_t *p = f->p;
	if (!has(f, 23) || !has(f, 23 + 2 * (size_t)p[22]))
		return cut_off(f);
	uint8_t size = p[22];
	r->kind = TRACE_FULL_ATOMIC;
	r->site = load32(p + 1);
	r->q = load64(p + 5);
	r->address = load64(p + 13);
	r->flags = p[21] & 1 ? TRACE_RECORD_STORED : 0;
	r->size = size;
	f->atomic[0] = (struct trace_value){TRACE_VALUE_INT, size, 0, false};
	f->atomic[1] = (struct trace_value){TRACE_VALUE_INT, size, size, false};
	r->values = f->atomic;
	r->value_count = size ? 2 : 0;
	r->bytes = p + 23;
	r->value = load_small(p + 23, size);
	f->p += 23 + 2 * (size_t)size;
	return 1;
}

static int read_fence(struct trace_full *f, struct trace_record *r)
{
	if (!has(f, 13))
		return cut_off(f);
	r->kind = TRACE_FULL_FENCE;
	r->site = load32(f->p + 1);
	r->q = load64(f->p + 5);
	f->p += 13;
	return 1;
}

static int read_fault(struct trace_full *f, struct trace_record *r)
{
	if (!has(f, FAULT_SIZE))
		return cut_off(f);
	r->kind = TRACE_FULL_FAULT;
	r->site = load32(f->p + 1);
	r->fault = load32(f->p + 5);
	r->before = load64(f->p + 9);
	r->after = load64(f->p + 25);
	f->p += FAULT_SIZE;
	return 1;
}

/* Reads an operand of an event.  Returns its length, or 0 if it is cut off. */
static size_t read_operand(struct trace_full *f, const uint8_t *p, char letter, uint64_t *value)
{
	struct trace_event *e = &f->event;
	size_t left = (size_t)(f->end - p);
	if (letter != 'b') {
		if (left < 8)
			return 0;
		*value = load64(p);
		return 8;
	}
	if (left < 4 || left - 4 < load32(p))
		return 0;
	*value = e->length = load32(p);
	e->bytes = (const char *)p + 4;
	return 4 + e->length;
}

static int read_event(struct trace_full *f, struct trace_record *r)
{
	struct trace_event *e = &f->event;
	const struct trace_kind *kind = trace_kind(*f->p);
	const uint8_t *p = f->p + 1;
	bool addressed = false;
	if (*f->p < RADDLE_FIRST_ROW || !kind->name)
		return trace_stream_bad(&f->stream, (size_t)(f->p - f->begin), "unknown record");
	*e = (struct trace_event){.kind = *f->p};
	for (unsigned i = 0; kind->operands[i]; i++) {
		size_t n = read_operand(f, p, kind->operands[i], &e->values[i]);
		if (!n)
			return cut_off(f);
		p += n;
		if (kind->operands[i] == 'q')
			e->q = e->values[i];
		else if (kind->operands[i] == 't')
			e->t = e->values[i];
		else if (kind->operands[i] == 'a' && !addressed) {
			e->address = e->values[i];
			addressed = true;
		}
	}
	f->p = p;
	r->kind = TRACE_FULL_EVENT;
	r->site = f->depth && !f->deeper ? f->scopes[f->depth - 1].call : 0;
	r->q = e->q;
	r->address = e->address;
	r->event = e;
	return 1;
}

static int read_other(struct trace_full *f, struct trace_record *r)
{
	*r = (struct trace_record){.thread = f->stream.thread};
	switch (*f->p) {
	case RADDLE_FULL_RANGE: return read_range(f, r);
	case RADDLE_FULL_ATOMIC: return read_atomic(f, r);
	case RADDLE_FULL_FENCE: return read_fence(f, r);
	case RADDLE_FULL_FAULT: return read_fault(f, r);
	default: return read_event(f, r);
	}
}

/* --- reading records ---------------------------------------------------------------------- */

static int next_chunk(struct trace_full *f)
{
	const struct trace_decoder *d = &f->stream.decoder;
	int got = trace_stream_chunk(&f->stream);
	if (got <= 0)
		return got;
	f->begin = d->begin;
	f->end = d->end;
	if (trace_is_packed(f->stream.codec)) {
		const char *why = trace_unpack(f->unpacker, d->begin, (size_t)(d->end - d->begin),
					       f->stream.length_raw);
		if (why)
			return trace_stream_bad(&f->stream, 0, why);
		f->begin = trace_unpacked(f->unpacker);
		f->end = f->begin + f->stream.length_raw;
	}
	f->p = f->begin;
	return 1;
}

/* Gets more bytes when all bytes so far have been read.  Returns 1 if there are more, or else the
 * value that trace_full_next() must return. */
static int more_bytes(struct trace_full *f)
{
	int got = f->fed ? 0 : f->ended ? f->end_code : next_chunk(f);
	if (got > 0)
		return got;
	f->p = f->end = NULL;
	f->ended = !f->fed || f->fed_last;
	f->end_code = got;
	return got;
}

/* Reads the next record in all but the common case. */
static int next_slow(struct trace_full *f, struct trace_record *r)
{
	for (;;) {
		int got;
		if (f->p == f->end || (f->fed && *f->p == RADDLE_FULL_END)) {
			got = more_bytes(f);
			if (got <= 0 && !(f->has_branch && f->ended))
				return got;
		}
		if (f->has_branch && (next_piece(f, &f->branch.value) || f->ended)) {
			f->has_branch = false;
			*r = f->branch;
			return 1;
		}
		if (*f->p == RADDLE_FULL_RESET) {
			f->p++;
			continue;
		}
		got = *f->p >= RADDLE_FULL_PIECE ? read_piece(f) : read_other(f, r);
		if (got < 0) {
			f->p = f->end = NULL;
			f->piece = NULL;
			return got;
		}
		return f->piece ? 0 : 1;
	}
}

int trace_full_next(struct trace_full *f, struct trace_record *r)
{
	for (;;) {
		if (f->piece) {
			if (f->op < f->op_end) {
				fill_op(f, r);
				if (!f->has_branch)
					return 1;
				f->branch = *r;
			}
			f->piece = NULL;
		}
		int got = next_slow(f, r);
		if (got || !f->piece)
			return got;
	}
}

bool trace_full_rest(struct trace_full *f, struct trace_rest *rest)
{
	const struct trace_piece *piece;
	const char *why;
	if (f->has_branch)
		return false;
	if (!f->piece || f->op == f->op_end) {
		if (f->p == f->end || *f->p < RADDLE_FULL_PIECE || !(piece = piece_at(f, &why)))
			return false;
		begin_piece(f, piece);
	}
	*rest = (struct trace_rest){f->ops + f->op, f->base, f->op_end - f->op};
	return f->unfinished == UINT32_MAX;
}

void trace_full_skip(struct trace_full *f, uint32_t count)
{
	f->op += count;
}
