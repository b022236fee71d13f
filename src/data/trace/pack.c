/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs full traces.  It turns the raw bytes of a thread into the packed bytes of a chunk.
 *
 * A chunk has three parts: the length of the marks, the marks, and the data.  The marks contain
 * half a byte for each record, followed by half a byte for each of its fields.  The mark of a field
 * is the length of its difference from its guess (pack-int.h).  The marks of a record are padded to
 * a whole byte.  The data contain the differences themselves, and everything that cannot be
 * guessed.  Version 1, which can only be read, has a whole byte per record and guesses less.
 */
#include "trace/pack.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "trace/pack-int.h"
#include "trace/writer.h"

#include <stdlib.h>

struct pack_part {
	uint8_t *data;
	size_t length, capacity;
};

struct trace_packer {
	struct guess guess;
	bool ended; /* the thread has ended */
	/* A copy of a piece that is followed by fewer than 8 readable bytes. */
	uint8_t tail[RADDLE_PIECE_MAX + 8];
	struct pack_part marks, data;
	size_t raw;
	struct rd_buf out;
};

struct trace_packer *trace_packer_new(const struct trace_layout *layout)
{
	RD_ASSERT(layout != NULL);
	struct trace_packer *p = rd_xcalloc(1, sizeof *p);
	guess_init(&p->guess, layout, TRACE_FULL_VERSION);
	p->out = (struct rd_buf)RD_BUF_INIT;
	return p;
}

void trace_packer_free(struct trace_packer *p)
{
	if (!p)
		return;
	guess_release(&p->guess);
	free(p->marks.data);
	free(p->data.data);
	rd_buf_release(&p->out);
	free(p);
}

/* Makes room for `more` bytes, and for the few bytes that put_fast() writes after them. */
static inline uint8_t *room(struct pack_part *part, size_t more)
{
	if (part->capacity - part->length < more + 16)
		RD_GROW(part->data, part->capacity, part->length + more + 16);
	return part->data + part->length;
}

/* Writes differences.  A difference is added to the data, and its length is added to the marks, two
 * lengths per byte. */
struct pack_writer {
	uint8_t *marks, *data;
	unsigned odd;
};

static inline unsigned length_of(uint64_t d)
{
	return d ? 8 - (unsigned)__builtin_clzll(d) / 8 : 0;
}

static inline void write_length(struct pack_writer *w, unsigned length)
{
	if (w->odd)
		*w->marks++ |= (uint8_t)(length << 4);
	else
		*w->marks = (uint8_t)length;
	w->odd ^= 1;
}

/* Returns how many bytes of data it takes to store a difference of `bytes` bytes from the recent
 * address number `entry`. */
static inline unsigned cost_of(unsigned entry, unsigned bytes)
{
	static const unsigned first[] = {LENGTH_NONE, LENGTH_ONE, LENGTH_TWO, LENGTH_OTHER};
	return bytes < 3 && entry < first[bytes + 1] - first[bytes] ? bytes : 1 + bytes;
}

static __attribute__((noinline)) void write_far(struct guess *g, struct pack_writer *w, uint64_t d,
						uint64_t v)
{
	unsigned best = GUESS_RECENT, cost = length_of(d), bytes;
	for (unsigned i = 0; i < GUESS_RECENT; i++) {
		unsigned one = cost_of(i, length_of(zigzag(v - g->recent[i])));
		if (one < cost) {
			cost = one;
			best = i;
		}
	}
	if (best < GUESS_RECENT)
		d = zigzag(v - g->recent[best]);
	bytes = length_of(d);
	if (best == GUESS_RECENT) {
		write_length(w, bytes);
	} else if (cost == 1 + bytes) {
		write_length(w, LENGTH_OTHER);
		*w->data++ = (uint8_t)(best << 4 | bytes);
	} else {
		write_length(w, best + (bytes == 0 ? LENGTH_NONE : bytes == 1 ? LENGTH_ONE : LENGTH_TWO));
	}
	put_fast(w->data, d);
	w->data += bytes;
	guess_remember(g, best, best < GUESS_RECENT ? bytes : GUESS_APART, v);
}

static inline void write_difference(struct guess *g, struct pack_writer *w, uint64_t d, uint64_t v,
				    bool fresh)
{
	unsigned bytes = length_of(d);
	if (__builtin_expect(bytes >= (fresh ? GUESS_FAR : GUESS_VERY_FAR), 0) && raddle_may_be_pointer(v)) {
		write_far(g, w, d, v);
		return;
	}
	put_fast(w->data, d);
	w->data += bytes;
	write_length(w, bytes);
}

static inline void pack_field(struct guess *g, struct pack_writer *w, const struct trace_field *f,
			      const uint8_t *raw, uint64_t *address)
{
	struct guess_slot *s = &g->slots[f->slot];
	uint64_t v = get_fast(raw + f->offset, f->size);
	if (f->role == TRACE_FIELD_ADDRESS) {
		write_difference(g, w, rd_zigzag(v - guess_address(s)), v, !s->last);
		learn_address(s, v);
		*address = v;
		return;
	}
	uint64_t guessed = guess_value(s);
	if (f->role == TRACE_FIELD_LOADED || f->role == TRACE_FIELD_STORED) {
		struct guess_cell *c = cell_of(g, *address);
		if (f->role == TRACE_FIELD_LOADED && c->address == *address)
			guessed = c->value;
		c->address = *address;
		c->value = v;
	}
	write_difference(g, w, difference(v, guessed, f->size), v, !s->last);
	s->last = v;
}

static void pack_piece(struct trace_packer *p, const struct trace_piece *piece, const uint8_t *raw)
{
	struct guess *g = &p->guess;
	const uint32_t *next = successors(g);
	struct pack_writer w = {room(&p->marks, 2 + piece->field_count / 2),
				room(&p->data, 4 + 9 * piece->field_count), 1};
	uint64_t address = 0;
	uint32_t apart = (uint32_t)rd_zigzag((uint64_t)(int32_t)(piece->number - g->piece));
	*w.marks = next[0] == piece->number   ? MARK_FIRST
		   : next[1] == piece->number ? MARK_SECOND
		   : apart == GUESS_NEXT      ? MARK_NEXT
		   : apart < 256	      ? MARK_NEAR
					      : MARK_PIECE;
	if (*w.marks == MARK_NEAR) {
		*w.data++ = (uint8_t)apart;
	} else if (*w.marks == MARK_PIECE) {
		memcpy(w.data, raw, RADDLE_PIECE_HEAD);
		w.data += RADDLE_PIECE_HEAD;
	}
	follow(g, piece->number);
	for (uint32_t i = 0; i < piece->field_count; i++)
		pack_field(g, &w, &piece->fields[i], raw, &address);
	p->marks.length = (size_t)(w.marks + w.odd - p->marks.data);
	p->data.length = (size_t)(w.data - p->data.data);
}

static void pack_bytes(struct pack_part *part, const uint8_t *bytes, size_t length)
{
	memcpy(room(part, length), bytes, length);
	part->length += length;
}

static void pack_raw(struct trace_packer *p, const uint8_t *raw, size_t length)
{
	uint8_t size[4];
	put(size, length, 4);
	*room(&p->marks, 1) = MARK_RAW;
	p->marks.length++;
	pack_bytes(&p->data, size, 4);
	pack_bytes(&p->data, raw, length);
}

/* Packs a record that is not a piece.  Returns its length, or 0 if it is invalid. */
static size_t pack_row(struct trace_packer *p, const uint8_t *raw, size_t left)
{
	uint8_t sizes[GUESS_ROW_FIELDS];
	size_t count = guess_row_fields(raw, left, sizes), length = guess_row_length(sizes, count), at = 1;
	if (!count || length > left)
		return 0;
	size_t tail = guess_row_tail(raw, sizes, count);
	if (tail > left - length || tail > GUESS_RAW_MAX)
		return 0;
	struct pack_writer w = {room(&p->marks, 3 + count / 2), room(&p->data, 1 + 9 * count), 1};
	*w.marks = *raw == p->guess.next_row[p->guess.row & 127] ? MARK_SAME_ROW : MARK_ROW;
	if (*w.marks == MARK_ROW)
		*w.data++ = *raw;
	for (size_t i = 0; i < count; i++) {
		struct guess_slot *s = guess_field_slot(&p->guess, *raw, i);
		uint64_t v = get(raw + at, sizes[i]);
		write_difference(&p->guess, &w, difference(v, s->last, sizes[i]), v, !s->last);
		s->last = v;
		at += sizes[i];
	}
	p->marks.length = (size_t)(w.marks + w.odd - p->marks.data);
	p->data.length = (size_t)(w.data - p->data.data);
	guess_see_row(&p->guess, *raw, raw);
	pack_bytes(&p->data, raw + length, tail);
	return length + tail;
}

uint64_t trace_pack(struct trace_packer *p, const uint8_t *raw, size_t length)
{
	RD_ASSERT(raw != NULL || length == 0);
	const uint8_t *at = raw, *end = raw + length;
	uint64_t records = 0;
	while (at < end && *at) {
		if (*at == RADDLE_FULL_RESET) {
			at++;
			continue;
		}
		size_t size = 0, left = (size_t)(end - at);
		if (*at >= RADDLE_FULL_PIECE) {
			const struct trace_piece *piece =
				left < RADDLE_PIECE_HEAD
					? NULL
					: trace_layout_get(p->guess.layout,
							   raddle_piece_number((uint32_t)get(at, 4)));
			if (!piece || piece->size > left)
				break;
			size = piece->size;
			if (size > RADDLE_PIECE_HEAD && at[size - 1] != 1)
				pack_raw(p, at, size);
			else if (left - size >= 8)
				pack_piece(p, piece, at);
			else
				pack_piece(p, piece, memcpy(p->tail, at, size));
			records += piece->record_count;
		} else {
			size = pack_row(p, at, left);
			if (!size)
				break;
			records++;
			p->ended |= *at == RADDLE_THREAD_END;
		}
		p->raw += size;
		at += size;
	}
	return records;
}

bool trace_packed_end(const struct trace_packer *p)
{
	return p->ended;
}

void trace_packer_reset(struct trace_packer *p)
{
	guess_reset(&p->guess);
	p->marks.length = p->data.length = p->raw = 0;
	p->ended = false;
}

size_t trace_packed_raw(const struct trace_packer *p)
{
	return p->raw;
}

const void *trace_packed_take(struct trace_packer *p, size_t *length)
{
	RD_ASSERT(length != NULL);
	size_t left = p->marks.length;
	rd_buf_clear(&p->out);
	for (; left > 0x7f; left >>= 7)
		rd_buf_addc(&p->out, (char)(left | 0x80));
	rd_buf_addc(&p->out, (char)left);
	rd_buf_add(&p->out, (char *)p->marks.data, p->marks.length);
	rd_buf_add(&p->out, (char *)p->data.data, p->data.length);
	p->marks.length = p->data.length = p->raw = 0;
	*length = p->out.length;
	return p->out.data;
}
