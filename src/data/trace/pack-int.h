/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations that the packer and the unpacker of full traces share (doc/format/full.md).  Each
 * of them has a `struct guess`, the state from which fields are guessed.  Both update this state
 * with the same fields in the same order, so both guess the same values.
 */
#ifndef TRACE_PACK_INT_H
#define TRACE_PACK_INT_H

#include "raddle/full.h"
#include "trace/layout-int.h"

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The mark of a record states its kind or, for a piece, how the piece's number was guessed. */
enum { MARK_FIRST, MARK_SECOND, MARK_PIECE, MARK_ROW, MARK_RAW, MARK_NEAR, MARK_NEXT, MARK_SAME_ROW };

/* The sizes of the tables.  They are part of the format, because packer and unpacker must agree. */
#define GUESS_CELLS 4096u      /* number of addresses whose contents are remembered */
#define GUESS_SUCCESSORS 8192u /* number of pieces whose successors are remembered */
/* The number of recent addresses that are remembered, newest first.  Only addresses that are far
 * from their guesses are remembered. */
#define GUESS_RECENT 16u

#define GUESS_RAW_MAX (1u << 16) /* largest `b` operand, in bytes, that is stored unchanged */
/* The zigzag code of a difference of 1, which means the piece with the next number. */
#define GUESS_NEXT 2u

/* A value that may be an address is compared with the recent addresses if its difference from its
 * guess is long.  Long means at least GUESS_FAR bytes while the slot of the field is 0, and at
 * least GUESS_VERY_FAR bytes later.  If the mark of a field is more than 8, it encodes a recent
 * address and the length of the difference from that address.  If the mark is LENGTH_OTHER, a byte
 * of the data encodes both. */
#define GUESS_FAR 2u	  /* bytes of a difference, while the slot of the field is 0 */
#define GUESS_VERY_FAR 4u /* bytes of a difference, once the slot of the field is not 0 */
#define GUESS_APART 3u	  /* bytes of the difference between addresses of different regions */
enum { LENGTH_NONE = 9, LENGTH_ONE = 11, LENGTH_TWO = 14, LENGTH_OTHER = 15 };

/* The maximum number of fields of a row. */
#define GUESS_ROW_FIELDS (6 + 2 * RADDLE_FULL_POINTERS)

struct guess_slot {
	uint64_t last, step, step_before;
};

struct guess_cell {
	uint64_t address, value;
};

/* The state from which fields are guessed. */
struct guess {
	const struct trace_layout *layout;
	unsigned version;
	uint32_t piece; /* number of the last piece */
	uint32_t (*next)[2];
	struct guess_slot *slots;
	struct guess_cell *cells;
	uint64_t recent[GUESS_RECENT];
	/* The last row, and for each row the one that last followed it. */
	uint8_t row, next_row[128];
};

void guess_init(struct guess *g, const struct trace_layout *layout, unsigned version);
void guess_reset(struct guess *g);
void guess_release(struct guess *g);

/* Adds an address to the recent addresses.  `bytes` is the length of its difference from
 * recent[entry].  If this shows that both are in the same region, the address replaces that entry;
 * otherwise it replaces the least recently used entry. */
void guess_remember(struct guess *g, unsigned entry, unsigned bytes, uint64_t address);

/* Stores the sizes of the fields that follow the code of a record that is not a piece.  Returns the
 * number of fields, or 0 if the record is invalid. */
size_t guess_row_fields(const uint8_t *p, size_t left, uint8_t *sizes);

/* guess_row_tail() returns the number of bytes after the fields. guess_row_length() returns the
 * number of bytes of the code and the fields together. */
size_t guess_row_tail(const uint8_t *p, const uint8_t *sizes, size_t count);
size_t guess_row_length(const uint8_t *sizes, size_t count);

/* Returns the slot of a field of a row.  The fields for q and for times use the same slots in rows
 * of all kinds, because their values continue from row to row.  These are the slots for
 * fields 0 and 1 of the code RADDLE_FULL_END, because no row has that code. */
struct guess_slot *guess_field_slot(struct guess *g, uint8_t code, size_t field);

/* Call this after a whole row. */
void guess_see_row(struct guess *g, uint8_t code, const uint8_t *row);

static inline uint32_t *successors(struct guess *g)
{
	return g->next[(g->piece * 2654435761u >> 8) % GUESS_SUCCESSORS];
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

static inline struct guess_cell *cell_of(struct guess *g, uint64_t address)
{
	return &g->cells[(address ^ address >> 12) / 4 % GUESS_CELLS];
}

static inline uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ (0 - (v & 1));
}

/* Returns the guess for a field that keeps its last value. */
static inline uint64_t guess_value(const struct guess_slot *s)
{
	return s->last;
}

static inline uint64_t guess_address(const struct guess_slot *s)
{
	return s->last + s->step;
}

static inline void learn_address(struct guess_slot *s, uint64_t value)
{
	uint64_t step = value - s->last;
	if (step == s->step_before)
		s->step = step;
	s->step_before = step;
	s->last = value;
}

/* --- fields --- */

/* The mask of a field, indexed by its size in bytes.  A field has at most 8 bytes.  The entries for
 * 9 to 15 make every 4-bit number a valid index. */
static const uint64_t masks[16] = {
	0,     0xff,  0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff,
	~0ull, ~0ull, ~0ull,  ~0ull,	~0ull,	    ~0ull,	  ~0ull,	  ~0ull,
};

static inline uint64_t mask_of(unsigned size)
{
	return masks[size];
}

/* Reads a field.  Eight bytes must be readable at `p`, even if the field is shorter. */
static inline uint64_t get_fast(const uint8_t *p, unsigned size)
{
	uint64_t v;
	memcpy(&v, p, 8);
	return le64toh(v) & masks[size];
}

/* Writes eight bytes.  The bytes after the field are overwritten later. */
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

/* Returns the difference of a value from its guess, as a signed number of the field's size. */
static inline uint64_t difference(uint64_t value, uint64_t guessed, unsigned size)
{
	unsigned shift = 64 - 8 * size;
	return zigzag((uint64_t)((int64_t)((value - guessed) << shift) >> shift));
}

#endif
