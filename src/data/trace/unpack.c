/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpacks full traces, as the inverse of pack.c.  It turns the packed bytes of a chunk, which are
 * not trusted, into raw bytes.
 */
#include "trace/pack.h"

#include "base/alloc.h"
#include "base/error.h"
#include "trace/pack-int.h"
#include "trace/writer.h"

#include <stdlib.h>

struct trace_unpacker {
	struct guess guess;
	uint8_t *raw;
	size_t length, capacity;
};

/* The bytes of a chunk's marks and data that have not been read yet.  Reading beyond the end of the
 * data returns 0 and sets `short_of`, which is checked after each record. */
struct pack_reader {
	const uint8_t *marks, *marks_end, *data, *data_end;
	unsigned odd;
	bool short_of;
};

struct trace_unpacker *trace_unpacker_new(const struct trace_layout *layout, unsigned version)
{
	RD_ASSERT(layout != NULL);
	struct trace_unpacker *u = rd_xcalloc(1, sizeof *u);
	guess_init(&u->guess, layout, version);
	return u;
}

void trace_unpacker_free(struct trace_unpacker *u)
{
	if (!u)
		return;
	guess_release(&u->guess);
	free(u->raw);
	free(u);
}

const uint8_t *trace_unpacked(const struct trace_unpacker *u)
{
	return u->raw;
}

static uint64_t read_slowly(struct pack_reader *r, unsigned bytes)
{
	uint64_t v = 0;
	size_t left = (size_t)(r->data_end - r->data);
	if (left < bytes || bytes > 8) {
		r->short_of = true;
		return 0;
	}
	memcpy(&v, r->data, bytes);
	r->data += bytes;
	return le64toh(v);
}

static inline uint64_t read_bytes(struct pack_reader *r, unsigned bytes)
{
	uint64_t v;
	if (__builtin_expect(r->data_end - r->data < 8 || bytes > 8, 0))
		return read_slowly(r, bytes);
	memcpy(&v, r->data, 8);
	r->data += bytes;
	return le64toh(v) & mask_of(bytes);
}

static __attribute__((noinline)) uint64_t read_far(struct guess *g, struct pack_reader *r, unsigned length)
{
	unsigned bytes = length < LENGTH_ONE ? 0 : length < LENGTH_TWO ? 1 : 2;
	unsigned entry = length - (bytes == 0 ? LENGTH_NONE : bytes == 1 ? LENGTH_ONE : LENGTH_TWO);
	uint64_t v;
	if (length == LENGTH_OTHER) {
		uint64_t which = read_slowly(r, 1);
		entry = (unsigned)(which >> 4);
		bytes = which & 15;
	}
	v = g->recent[entry] + unzigzag(read_bytes(r, bytes));
	guess_remember(g, entry, bytes, v);
	return v;
}

static inline uint64_t read_field(struct guess *g, struct pack_reader *r, uint64_t guessed, unsigned size,
				  bool fresh)
{
	unsigned length = r->odd ? *r->marks >> 4 : *r->marks & 15;
	uint64_t v;
	r->marks += r->odd;
	r->odd ^= 1;
	if (__builtin_expect(length > 8, 0))
		return read_far(g, r, length) & mask_of(size);
	v = (guessed + unzigzag(read_bytes(r, length))) & mask_of(size);
	if (__builtin_expect(length >= (fresh ? GUESS_FAR : GUESS_VERY_FAR), 0) && raddle_may_be_pointer(v))
		guess_remember(g, GUESS_RECENT - 1, GUESS_APART, v);
	return v;
}

static inline void unpack_field(struct guess *g, struct pack_reader *r, const struct trace_field *f,
				uint8_t *raw, uint64_t *address)
{
	struct guess_slot *s = &g->slots[f->slot];
	uint64_t v;
	if (f->role == TRACE_FIELD_ADDRESS) {
		v = read_field(g, r, guess_address(s), 8, !s->last);
		learn_address(s, v);
		*address = v;
		put_fast(raw + f->offset, v);
		return;
	}
	uint64_t guessed = guess_value(s);
	struct guess_cell *c = NULL;
	if (f->role == TRACE_FIELD_LOADED || f->role == TRACE_FIELD_STORED) {
		c = cell_of(g, *address);
		if (f->role == TRACE_FIELD_LOADED && c->address == *address)
			guessed = c->value;
	}
	v = read_field(g, r, guessed, f->size, !s->last);
	if (c)
		*c = (struct guess_cell){*address, v};
	s->last = v;
	put_fast(raw + f->offset, v);
}

/* Unpacks a piece.  Returns its length, or 0 if it is invalid. */
static size_t unpack_piece(struct trace_unpacker *u, struct pack_reader *r, uint32_t number, size_t left)
{
	const struct trace_piece *piece = trace_layout_get(u->guess.layout, number);
	uint8_t *raw = u->raw + u->length - left;
	uint64_t address = 0;
	if (!piece || piece->size > left ||
	    (size_t)(r->marks_end - r->marks) < (r->odd + piece->field_count + 1) / 2)
		return 0;
	put(raw, raddle_piece_head(number), RADDLE_PIECE_HEAD);
	follow(&u->guess, number);
	for (uint32_t i = 0; i < piece->field_count; i++)
		unpack_field(&u->guess, r, &piece->fields[i], raw, &address);
	r->marks += r->odd;
	r->odd = 0;
	if (piece->size > RADDLE_PIECE_HEAD)
		raw[piece->size - 1] = 1;
	return piece->size;
}

static bool copy_data(struct pack_reader *r, uint8_t *to, size_t length)
{
	if ((size_t)(r->data_end - r->data) < length)
		return false;
	memcpy(to, r->data, length);
	r->data += length;
	return true;
}

static size_t unpack_raw(struct pack_reader *r, uint8_t *raw, size_t left)
{
	uint64_t length = read_slowly(r, 4);
	return length <= left && copy_data(r, raw, length) ? length : 0;
}

/* Unpacks a record that is not a piece.  The sizes of some fields depend on earlier fields, so the
 * sizes are looked up again. */
static size_t unpack_row(struct trace_unpacker *u, struct pack_reader *r, uint8_t code, uint8_t *raw,
			 size_t left)
{
	uint8_t sizes[GUESS_ROW_FIELDS];
	size_t at = 1, count, tail;
	if (left == 0)
		return 0;
	memset(raw, 0, left < 64 ? left : 64);
	*raw = code;
	for (size_t i = 0; (count = guess_row_fields(raw, left, sizes)) > i; i++) {
		if (at + sizes[i] > left || r->marks >= r->marks_end)
			return 0;
		struct guess_slot *s = guess_field_slot(&u->guess, *raw, i);
		s->last = read_field(&u->guess, r, s->last, sizes[i], !s->last);
		put(raw + at, s->last, sizes[i]);
		at += sizes[i];
	}
	if (count == 0)
		return 0;
	r->marks += r->odd;
	r->odd = 0;
	guess_see_row(&u->guess, *raw, raw);
	tail = guess_row_tail(raw, sizes, count);
	if (tail > left - at || !copy_data(r, raw + at, tail))
		return 0;
	return at + tail;
}

static size_t unpack_one(struct trace_unpacker *u, struct pack_reader *r, size_t left)
{
	uint8_t mark = *r->marks, *raw = u->raw + u->length - left;
	if (u->guess.version < 2) {
		r->marks++;
	} else {
		mark &= 15;
		r->odd = 1; /* the other half of this byte contains the length of the first field */
	}
	switch (mark) {
	case MARK_FIRST:
	case MARK_SECOND: return unpack_piece(u, r, successors(&u->guess)[mark], left);
	case MARK_PIECE: return unpack_piece(u, r, raddle_piece_number((uint32_t)read_slowly(r, 4)), left);
	case MARK_NEXT: return unpack_piece(u, r, u->guess.piece + 1, left);
	case MARK_NEAR:
		return unpack_piece(u, r, u->guess.piece + (uint32_t)unzigzag(read_slowly(r, 1)), left);
	case MARK_SAME_ROW: return unpack_row(u, r, u->guess.next_row[u->guess.row & 127], raw, left);
	case MARK_ROW: return unpack_row(u, r, (uint8_t)read_slowly(r, 1), raw, left);
	case MARK_RAW:
		r->marks += r->odd;
		r->odd = 0;
		return unpack_raw(r, raw, left);
	default: return 0;
	}
}

/* Reads the head of a chunk, which contains the length of the marks.  Returns the length of the
 * head, or 0 if it is cut off. */
static size_t read_head(const struct trace_unpacker *u, const uint8_t *packed, size_t length, size_t *marks)
{
	size_t n = 0;
	if (u->guess.version < 2) {
		*marks = length < 4 ? 0 : get(packed, 4);
		return length < 4 ? 0 : 4;
	}
	do {
		if (n == length || n == 4)
			return 0;
		*marks |= (size_t)(packed[n] & 0x7f) << 7 * n;
	} while (packed[n++] & 0x80);
	return n;
}

const char *trace_unpack(struct trace_unpacker *u, const uint8_t *packed, size_t length, size_t raw)
{
	size_t left = raw, marks = 0, head = read_head(u, packed, length, &marks);
	if (!head || marks > length - head)
		return "the packed bytes are cut off";
	packed += head;
	length -= head;
	struct pack_reader r = {packed, packed + marks, packed + marks, packed + length, 0, false};
	if (raw > u->capacity) {
		free(u->raw);
		u->raw = rd_xmalloc(raw + 8); /* put_fast() may write 8 bytes after the end */
		u->capacity = raw;
	}
	u->length = raw;
	while (r.marks < r.marks_end && left) {
		size_t size = unpack_one(u, &r, left);
		if (!size || r.short_of)
			return "the packed bytes are invalid";
		left -= size;
	}
	if (left || r.marks != r.marks_end || r.data != r.data_end)
		return "the packed bytes do not unpack to the length in the chunk header";
	return NULL;
}
