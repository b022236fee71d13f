/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packer and the unpacker, side by side because they must agree: both keep a `struct guess`
 * that sees the same fields in the same order.
 *
 * A chunk has three parts: how long the second is, marks, data.  Marks: half a byte for
 * each record, then one for each of its fields, the lengths of their differences, up to a whole
 * byte.  Data: the differences themselves, and whatever was not guessed.  Version 1, which is only
 * read, has a whole byte for a record and guesses less.
 *
 * Guesses: the next piece is one of the two that last came after this one, or near it; an address moves as it
 * did the last two times; a loaded value is what the address was last seen to hold; everything else is what
 * it was before.  An address that is far from its guess may be near another one that was seen not long ago: a
 * thread that does little has met most of its fields never before.
 */
#include "trace/pack.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "raddle/full.h"
#include "trace/layout.h"
#include "trace/writer.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* Marks of records. */
enum { MARK_FIRST, MARK_SECOND, MARK_PIECE, MARK_ROW, MARK_RAW, MARK_NEAR, MARK_NEXT, MARK_SAME_ROW };

#define CELLS 4096u	 /* addresses whose content is remembered */
#define SUCCESSORS 8192u /* pieces whose successors are */
#define RAW_MAX (1u << 16)
#define NEXT 2u /* how far the piece with the next number is, zigzag coded */

/* Addresses that were not guessed, the last one first.  One that is FAR bytes or more from its guess is
 * compared with them.  Lengths of more than 8 say which of them the difference is to, and how long it is;
 * LENGTH_OTHER, that a byte of the data says so. */
#define SEEN 16u
#define FAR 2u
#define VERY_FAR 4u
#define APART 3u /* bytes of the difference between addresses of different regions */
enum { LENGTH_NONE = 9, LENGTH_ONE = 11, LENGTH_TWO = 14, LENGTH_OTHER = 15 };

#define STACK_SIZE (8u << 20) /* that a thread has unless somebody says otherwise */

struct slot {
	uint64_t last, step, step_before;
};

struct cell {
	uint64_t address, value;
};

/* What was seen so far. */
struct guess {
	const struct trace_layout *layout;
	unsigned version;
	uint32_t piece; /* the last one */
	uint32_t (*next)[2];
	struct slot *slots;
	struct cell *cells;
	uint64_t seen[SEEN];
	uint8_t row, next_row[128]; /* the last one; what came behind each last time */
};

static size_t slot_count(const struct trace_layout *layout)
{
	size_t slots = TRACE_PACK_ROW_SLOTS + layout->field_count; /* most layouts have few */
	return slots < TRACE_PACK_SLOTS ? slots : TRACE_PACK_SLOTS;
}

static inline struct slot *row_slot(struct guess *g, uint8_t code, size_t field)
{
	return &g->slots[((code & 0x7fu) * 8 + field % 8) % TRACE_PACK_ROW_SLOTS];
}

/* What may be known before anything was seen. */
static void guess_begin(struct guess *g)
{
	const struct trace_layout *l = g->layout;
	const char *operands = trace_kind(RADDLE_THREAD_START)->operands;
	g->piece = 0;
	g->row = 0;
	memset(g->next_row, 0, sizeof g->next_row);
	if (g->version < 2)
		return;
	g->next_row[0] = RADDLE_THREAD_START;
	g->next_row[RADDLE_THREAD_START] = g->next_row[RADDLE_TLS] = RADDLE_TLS;
	g->next_row[RADDLE_THREAD_CREATE] = RADDLE_HANDLE;
	g->next_row[RADDLE_JOIN_REQUEST] = RADDLE_THREAD_JOIN;
	g->piece = l->count ? l->pieces[0].number : 0;
	row_slot(g, RADDLE_THREAD_START, (size_t)(strchr(operands, 'a') - operands) + 1)->last = STACK_SIZE;
}

static void guess_init(struct guess *g, const struct trace_layout *layout, unsigned version)
{
	*g = (struct guess){.layout = layout, .version = version};
	g->next = rd_xcalloc(SUCCESSORS, sizeof *g->next);
	g->slots = rd_xcalloc(slot_count(layout), sizeof *g->slots);
	g->cells = rd_xcalloc(CELLS, sizeof *g->cells);
	guess_begin(g);
}

static void guess_reset(struct guess *g)
{
	memset(g->seen, 0, sizeof g->seen);
	memset(g->next, 0, SUCCESSORS * sizeof *g->next);
	memset(g->slots, 0, slot_count(g->layout) * sizeof *g->slots);
	memset(g->cells, 0, CELLS * sizeof *g->cells);
	guess_begin(g);
}

static void guess_release(struct guess *g)
{
	RD_FREE(g->next, g->slots, g->cells);
}

static inline uint32_t *successors(struct guess *g)
{
	return g->next[(g->piece * 2654435761u >> 8) % SUCCESSORS];
}

static inline void follow(struct guess *g, uint32_t piece)
{
	uint32_t *next = successors(g);
	if (next[0] != piece) {
		next[1] = next[0];
		next[0] = piece;
	}
	g->piece = piece;
}

static inline struct cell *cell_of(struct guess *g, uint64_t address)
{
	return &g->cells[(address ^ address >> 12) / 4 % CELLS];
}

static inline uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ (0 - (v & 1));
}

/* The same field as it is guessed, and what it turns out to be. */
static inline uint64_t guess_value(const struct slot *s)
{
	return s->last;
}

static inline uint64_t guess_address(const struct slot *s)
{
	return s->last + s->step;
}

static inline void learn_address(struct slot *s, uint64_t value)
{
	uint64_t step = value - s->last;
	if (step == s->step_before)
		s->step = step;
	s->step_before = step;
	s->last = value;
}

/* The address is so many bytes from number `entry`: it takes its place if it is of the same region, and else
 * that of the one that was not needed for longest. */
static void see(struct guess *g, unsigned entry, unsigned bytes, uint64_t address)
{
	if (bytes >= APART)
		entry = SEEN - 1;
	memmove(g->seen + 1, g->seen, entry * sizeof *g->seen);
	g->seen[0] = address;
}

/* --- fields ------------------------------------------------------------------------------- */

/* Of a field by its size; 9 to 15 cannot occur but could be read. */
static const uint64_t masks[16] = {
	0,     0xff,  0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff,
	~0ull, ~0ull, ~0ull,  ~0ull,	~0ull,	    ~0ull,	  ~0ull,	  ~0ull,
};

static inline uint64_t mask_of(unsigned size)
{
	return masks[size];
}

/* Where eight bytes can be read, whatever the size. */
static inline uint64_t get_fast(const uint8_t *p, unsigned size)
{
	uint64_t v;
	memcpy(&v, p, 8);
	return le64toh(v) & masks[size];
}

/* Writes eight bytes; what is behind the field is written later. */
static inline void put_fast(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, 8);
}

static inline uint64_t get(const uint8_t *p, unsigned size)
{
	uint64_t v = 0;
	switch (size) {
	case 1: return *p;
	case 2: memcpy(&v, p, 2); break;
	case 4: memcpy(&v, p, 4); break;
	case 8: memcpy(&v, p, 8); break;
	default: memcpy(&v, p, size);
	}
	return le64toh(v);
}

static inline void put(uint8_t *p, uint64_t v, unsigned size)
{
	v = htole64(v);
	switch (size) {
	case 1: *p = (uint8_t)v; break;
	case 2: memcpy(p, &v, 2); break;
	case 4: memcpy(p, &v, 4); break;
	case 8: memcpy(p, &v, 8); break;
	default: memcpy(p, &v, size);
	}
}

/* Differences are signed numbers of the field's size. */
static inline uint64_t difference(uint64_t value, uint64_t guessed, unsigned size)
{
	unsigned shift = 64 - 8 * size;
	return zigzag((uint64_t)((int64_t)((value - guessed) << shift) >> shift));
}

/* --- rows of the runtime ------------------------------------------------------------------ */

/* Sizes of the fields of a record that is no piece, after its code, as digits; NULL: there is none.
 * `n` counts what follows a row of such a size. */
static size_t row_fields(const uint8_t *p, size_t left, uint8_t *sizes)
{
	static const uint8_t range[] = {4, 8, 8, 8, 4, 1}, fence[] = {4, 8};
	static const uint8_t fault[] = {4, 4, 8, 8, 8, 8}, atomic[] = {4, 8, 8, 1, 1};
	size_t n = 0;
	switch (*p) {
	case RADDLE_FULL_RANGE:
		memcpy(sizes, range, n = sizeof range);
		if (left < 34 || p[33] > RADDLE_FULL_POINTERS)
			return 0;
		for (unsigned i = 0; i < 2u * p[33]; i++)
			sizes[n++] = 8;
		return n;
	case RADDLE_FULL_ATOMIC:
		memcpy(sizes, atomic, n = sizeof atomic);
		if (left < 23 || p[22] > 16)
			return 0;
		for (unsigned i = 0; i < 2; i++)
			for (unsigned size = p[22]; size; size -= sizes[n++])
				sizes[n] = size < 8 ? (uint8_t)size : 8;
		return n;
	case RADDLE_FULL_FENCE: memcpy(sizes, fence, n = sizeof fence); return n;
	case RADDLE_FULL_FAULT: memcpy(sizes, fault, n = sizeof fault); return n;
	default: break;
	}
	const struct trace_kind *kind = trace_kind(*p);
	if (*p < RADDLE_FIRST_ROW || !kind->name)
		return 0;
	for (const char *letter = kind->operands; *letter; letter++)
		sizes[n++] = *letter == 'b' ? 4 : 8;
	return n;
}

#define ROW_FIELDS (6 + 2 * RADDLE_FULL_POINTERS)

/* Bytes after the fields. */
static size_t row_tail(const uint8_t *p, const uint8_t *sizes, size_t count)
{
	const char *operands = *p >= RADDLE_FIRST_ROW ? trace_kind(*p)->operands : "";
	size_t at = 1, n = strlen(operands);
	if (n == 0 || operands[n - 1] != 'b')
		return 0;
	for (size_t i = 0; i + 1 < count; i++)
		at += sizes[i];
	return get(p + at, 4);
}

static size_t row_length(const uint8_t *sizes, size_t count)
{
	size_t length = 1;
	for (size_t i = 0; i < count; i++)
		length += sizes[i];
	return length;
}

/* Places in the order of all and times go on from row to row, whatever the rows are: fields 0 and 1 of a code
 * that no row has. */
static struct slot *field_slot(struct guess *g, uint8_t code, size_t field)
{
	char letter = 0;
	if (code == RADDLE_FULL_ATOMIC || code == RADDLE_FULL_FENCE)
		letter = field == 1 ? 'q' : 0;
	else if (code >= RADDLE_FIRST_ROW)
		letter = trace_kind(code)->operands[field];
	if (g->version >= 2 && (letter == 'q' || letter == 't'))
		return row_slot(g, RADDLE_FULL_END, letter == 't');
	return row_slot(g, code, field);
}

/* Behind a whole row.  What a thread keeps on its stack is near the end of it. */
static void see_row(struct guess *g, uint8_t code, const uint8_t *row)
{
	const char *operands = trace_kind(RADDLE_THREAD_START)->operands;
	size_t at = 1 + 8 * (size_t)(strchr(operands, 'a') - operands);
	g->next_row[g->row & 127] = code;
	g->row = code;
	if (g->version >= 2 && code == RADDLE_THREAD_START)
		see(g, SEEN - 1, APART, get(row + at, 8) + get(row + at + 8, 8));
}

/* --- packing ------------------------------------------------------------------------------- */

struct part {
	uint8_t *data;
	size_t length, capacity;
};

struct trace_packer {
	struct guess guess;
	bool ended;			    /* the thread did */
	uint8_t tail[RADDLE_PIECE_MAX + 8]; /* a piece behind which there are not 8 bytes to read */
	struct part marks, data;
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

/* Room for `more` bytes and a few that may be written beyond them. */
static inline uint8_t *room(struct part *part, size_t more)
{
	if (part->capacity - part->length < more + 16)
		RD_GROW(part->data, part->capacity, part->length + more + 16);
	return part->data + part->length;
}

/* A difference goes to the data, its length to the marks: two lengths a byte. */
struct writer {
	uint8_t *marks, *data;
	unsigned odd;
};

static inline unsigned length_of(uint64_t d)
{
	return d ? 8 - (unsigned)__builtin_clzll(d) / 8 : 0;
}

static inline void write_length(struct writer *w, unsigned length)
{
	if (w->odd)
		*w->marks++ |= (uint8_t)(length << 4);
	else
		*w->marks = (uint8_t)length;
	w->odd ^= 1;
}

/* What goes into the data if the difference to an entry has so many bytes. */
static inline unsigned cost_of(unsigned entry, unsigned bytes)
{
	static const unsigned first[] = {LENGTH_NONE, LENGTH_ONE, LENGTH_TWO, LENGTH_OTHER};
	return bytes < 3 && entry < first[bytes + 1] - first[bytes] ? bytes : 1 + bytes;
}

static __attribute__((noinline)) void write_far(struct guess *g, struct writer *w, uint64_t d, uint64_t v)
{
	unsigned best = SEEN, cost = length_of(d), bytes;
	for (unsigned i = 0; i < SEEN; i++) {
		unsigned one = cost_of(i, length_of(zigzag(v - g->seen[i])));
		if (one < cost) {
			cost = one;
			best = i;
		}
	}
	if (best < SEEN)
		d = zigzag(v - g->seen[best]);
	bytes = length_of(d);
	if (best == SEEN) {
		write_length(w, bytes);
	} else if (cost == 1 + bytes) {
		write_length(w, LENGTH_OTHER);
		*w->data++ = (uint8_t)(best << 4 | bytes);
	} else {
		write_length(w, best + (bytes == 0 ? LENGTH_NONE : bytes == 1 ? LENGTH_ONE : LENGTH_TWO));
	}
	put_fast(w->data, d);
	w->data += bytes;
	see(g, best, best < SEEN ? bytes : APART, v);
}

static inline void write_difference(struct guess *g, struct writer *w, uint64_t d, uint64_t v, bool fresh)
{
	unsigned bytes = length_of(d);
	if (__builtin_expect(bytes >= (fresh ? FAR : VERY_FAR), 0) && raddle_may_be_pointer(v)) {
		write_far(g, w, d, v);
		return;
	}
	put_fast(w->data, d);
	w->data += bytes;
	write_length(w, bytes);
}

static inline void pack_field(struct guess *g, struct writer *w, const struct trace_field *f,
			      const uint8_t *raw, uint64_t *address)
{
	struct slot *s = &g->slots[f->slot];
	uint64_t v = get_fast(raw + f->offset, f->size);
	if (f->role == TRACE_FIELD_ADDRESS) {
		write_difference(g, w, zigzag(v - guess_address(s)), v, !s->last);
		learn_address(s, v);
		*address = v;
		return;
	}
	uint64_t guessed = guess_value(s);
	if (f->role == TRACE_FIELD_LOADED || f->role == TRACE_FIELD_STORED) {
		struct cell *c = cell_of(g, *address);
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
	struct writer w = {room(&p->marks, 2 + piece->field_count / 2),
			   room(&p->data, 4 + 9 * piece->field_count), 1};
	uint64_t address = 0;
	uint32_t apart = (uint32_t)zigzag((uint64_t)(int32_t)(piece->number - g->piece));
	*w.marks = next[0] == piece->number   ? MARK_FIRST
		   : next[1] == piece->number ? MARK_SECOND
		   : apart == NEXT	      ? MARK_NEXT
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

static void pack_bytes(struct part *part, const uint8_t *bytes, size_t length)
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

/* Returns the length of the record, 0 if it is none. */
static size_t pack_row(struct trace_packer *p, const uint8_t *raw, size_t left)
{
	uint8_t sizes[ROW_FIELDS];
	size_t count = row_fields(raw, left, sizes), length = row_length(sizes, count), at = 1;
	if (!count || length > left)
		return 0;
	size_t tail = row_tail(raw, sizes, count);
	if (tail > left - length || tail > RAW_MAX)
		return 0;
	struct writer w = {room(&p->marks, 3 + count / 2), room(&p->data, 1 + 9 * count), 1};
	*w.marks = *raw == p->guess.next_row[p->guess.row & 127] ? MARK_SAME_ROW : MARK_ROW;
	if (*w.marks == MARK_ROW)
		*w.data++ = *raw;
	for (size_t i = 0; i < count; i++) {
		struct slot *s = field_slot(&p->guess, *raw, i);
		uint64_t v = get(raw + at, sizes[i]);
		write_difference(&p->guess, &w, difference(v, s->last, sizes[i]), v, !s->last);
		s->last = v;
		at += sizes[i];
	}
	p->marks.length = (size_t)(w.marks + w.odd - p->marks.data);
	p->data.length = (size_t)(w.data - p->data.data);
	see_row(&p->guess, *raw, raw);
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

/* --- unpacking ------------------------------------------------------------------------------ */

struct trace_unpacker {
	struct guess guess;
	uint8_t *raw;
	size_t length, capacity;
};

/* What is left of the parts; reading beyond an end gives zeros and is noticed in the end. */
struct reader {
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

static uint64_t read_slowly(struct reader *r, unsigned bytes)
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

static inline uint64_t read_bytes(struct reader *r, unsigned bytes)
{
	uint64_t v;
	if (__builtin_expect(r->data_end - r->data < 8 || bytes > 8, 0))
		return read_slowly(r, bytes);
	memcpy(&v, r->data, 8);
	r->data += bytes;
	return le64toh(v) & mask_of(bytes);
}

static __attribute__((noinline)) uint64_t read_far(struct guess *g, struct reader *r, unsigned length)
{
	unsigned bytes = length < LENGTH_ONE ? 0 : length < LENGTH_TWO ? 1 : 2;
	unsigned entry = length - (bytes == 0 ? LENGTH_NONE : bytes == 1 ? LENGTH_ONE : LENGTH_TWO);
	uint64_t v;
	if (length == LENGTH_OTHER) {
		uint64_t which = read_slowly(r, 1);
		entry = (unsigned)(which >> 4);
		bytes = which & 15;
	}
	v = g->seen[entry] + unzigzag(read_bytes(r, bytes));
	see(g, entry, bytes, v);
	return v;
}

/* A field of so many bytes. */
static inline uint64_t read_field(struct guess *g, struct reader *r, uint64_t guessed, unsigned size,
				  bool fresh)
{
	unsigned length = r->odd ? *r->marks >> 4 : *r->marks & 15;
	uint64_t v;
	r->marks += r->odd;
	r->odd ^= 1;
	if (__builtin_expect(length > 8, 0))
		return read_far(g, r, length) & mask_of(size);
	v = (guessed + unzigzag(read_bytes(r, length))) & mask_of(size);
	if (__builtin_expect(length >= (fresh ? FAR : VERY_FAR), 0) && raddle_may_be_pointer(v))
		see(g, SEEN - 1, APART, v);
	return v;
}

static inline void unpack_field(struct guess *g, struct reader *r, const struct trace_field *f, uint8_t *raw,
				uint64_t *address)
{
	struct slot *s = &g->slots[f->slot];
	uint64_t v;
	if (f->role == TRACE_FIELD_ADDRESS) {
		v = read_field(g, r, guess_address(s), 8, !s->last);
		learn_address(s, v);
		*address = v;
		put_fast(raw + f->offset, v);
		return;
	}
	uint64_t guessed = guess_value(s);
	struct cell *c = NULL;
	if (f->role == TRACE_FIELD_LOADED || f->role == TRACE_FIELD_STORED) {
		c = cell_of(g, *address);
		if (f->role == TRACE_FIELD_LOADED && c->address == *address)
			guessed = c->value;
	}
	v = read_field(g, r, guessed, f->size, !s->last);
	if (c)
		*c = (struct cell){*address, v};
	s->last = v;
	put_fast(raw + f->offset, v);
}

/* 0: something is wrong. */
static size_t unpack_piece(struct trace_unpacker *u, struct reader *r, uint32_t number, size_t left)
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

static bool copy_data(struct reader *r, uint8_t *to, size_t length)
{
	if ((size_t)(r->data_end - r->data) < length)
		return false;
	memcpy(to, r->data, length);
	r->data += length;
	return true;
}

static size_t unpack_raw(struct reader *r, uint8_t *raw, size_t left)
{
	uint64_t length = read_slowly(r, 4);
	return length <= left && copy_data(r, raw, length) ? length : 0;
}

/* The sizes of some fields depend on the ones before, so they are looked up again. */
static size_t unpack_row(struct trace_unpacker *u, struct reader *r, uint8_t code, uint8_t *raw, size_t left)
{
	uint8_t sizes[ROW_FIELDS];
	size_t at = 1, count, tail;
	if (left == 0)
		return 0;
	memset(raw, 0, left < 64 ? left : 64);
	*raw = code;
	for (size_t i = 0; (count = row_fields(raw, left, sizes)) > i; i++) {
		if (at + sizes[i] > left || r->marks >= r->marks_end)
			return 0;
		struct slot *s = field_slot(&u->guess, *raw, i);
		s->last = read_field(&u->guess, r, s->last, sizes[i], !s->last);
		put(raw + at, s->last, sizes[i]);
		at += sizes[i];
	}
	if (count == 0)
		return 0;
	r->marks += r->odd;
	r->odd = 0;
	see_row(&u->guess, *raw, raw);
	tail = row_tail(raw, sizes, count);
	if (tail > left - at || !copy_data(r, raw + at, tail))
		return 0;
	return at + tail;
}

static size_t unpack_one(struct trace_unpacker *u, struct reader *r, size_t left)
{
	uint8_t mark = *r->marks, *raw = u->raw + u->length - left;
	if (u->guess.version < 2) {
		r->marks++;
	} else {
		mark &= 15;
		r->odd = 1; /* the other half is the length of the first field */
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

/* How many bytes say how long the marks are; 0: they are not there. */
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
	struct reader r = {packed, packed + marks, packed + marks, packed + length, 0, false};
	if (raw > u->capacity) {
		free(u->raw);
		u->raw = rd_xmalloc(raw + 8); /* put_fast() */
		u->capacity = raw;
	}
	u->length = raw;
	while (r.marks < r.marks_end && left) {
		size_t size = unpack_one(u, &r, left);
		if (!size || r.short_of)
			return "the packed bytes make no sense";
		left -= size;
	}
	if (left || r.marks != r.marks_end || r.data != r.data_end)
		return "the packed bytes do not unpack to the length that the chunk says";
	return NULL;
}
