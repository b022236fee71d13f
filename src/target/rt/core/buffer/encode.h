/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoder: turns records into bytes, as raddle/event.h describes.  Header-only so that the hot
 * path is straight-line code and the unit tests can run it against the trace reader.
 *
 * The encoder tracks the state of the decoder.  It does not manage buffers, threads or signals;
 * rt/record/recorder.c does.  Every function takes the write position and returns the new one; the
 * caller guarantees space: RT_RECORD_MAX bytes for a record, RT_STACK_MAX for a stack record.
 *
 * The stack.  An entry of the shadow stack that has been written to the stream carries the bit
 * RT_STACK_EMITTED.  Replacing an entry clears its bit, and every entry above it must be stored
 * again before it becomes valid.  So if an entry below `stack_known` has the bit, the decoder knows
 * that entry and all entries below it.  `stack_at` is the position of the top when the stack was
 * last written.  If the top is still there and the topmost entry has its bit, the stack has not
 * changed.  Entry -1 is a sentinel with the bit set.
 *
 * A stack deeper than RT_STACK_WHOLE is written as its outermost RT_STACK_OUTER entries, site 0,
 * and its innermost RT_STACK_INNER ones.
 *
 * Runs.  A site that walks through an array makes accesses at equal distances.  From the third
 * access on, they are written as one STRIDE record.  The last byte of that record is the number of
 * accesses.  It is incremented in place, even if accesses of other sites were written after the
 * record.  So accesses may change their order, but never across a record that is not an access;
 * `floor` is the position after the last such record.  In the same way, ranges of equal size at
 * equal distances become a RANGES record.
 */
#ifndef RT_ENCODE_H
#define RT_ENCODE_H

#include "raddle/event.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define RT_STACK_EMITTED 0x80000000u /* set in an entry that was written to the stream */
/* Numbers of entries of the stack (see above).  They were chosen by hand, so that a stack record
 * takes at most a sixth of a buffer. */
#define RT_STACK_WHOLE 1024
#define RT_STACK_OUTER 512
#define RT_STACK_INNER 32

#define RT_RECORD_MAX 128 /* bytes of the longest record without a `b` operand */
#define RT_STACK_MAX (5 * RT_STACK_WHOLE + 16)
#define RT_BYTES_MAX 4096 /* bytes; longer `b` operands are cut */

/* The last access made by any of the sites that share this slot. */
struct rt_slot {
	uint64_t address;
	uint64_t by;   /* the distance from the access before it */
	uint8_t *at;   /* points to its record or, in a run, to the count in the record; or NULL */
	uint32_t site; /* its site; with the bit RT_SLOT_RANGE if it was a range */
	/* How much the count in the record may still grow; 0 if the record is not a run. */
	uint16_t left;
	uint16_t size; /* the size of a range; 0 if it is too long for a run */
};
#define RT_RUN_MAX 127 /* the maximum number of accesses in a run, whose count takes one byte */
#define RT_SLOT_RANGE 0x80000000u

struct rt_encoder {
	uint64_t site;	  /* the previous site */
	uint64_t q, t, a; /* the previous operands of these letters */
	uint32_t *stack_base;
	uint32_t *stack_at;
	size_t stack_known;
	const uint8_t *floor; /* bytes below this address do not change any more */
	struct rt_slot slot[RADDLE_SITE_SLOTS];
};

/* One record, before it is encoded. */
struct rt_record {
	uint32_t code;	/* a code of event.inc, or RADDLE_ACCESS, RANGE, ATOMIC or FENCE */
	uint32_t site;	/* the site, for those last four codes */
	uint32_t count; /* the number of operands or, in a stack record, of frames */
	uint32_t length;
	uint64_t operand[RADDLE_MAX_OPERANDS];
	const void *bytes; /* the `b` operand, which has `length` bytes */
};

static inline uint64_t rt_zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint8_t *rt_put_varint(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

static inline uint8_t *rt_put_delta(uint8_t *p, uint64_t *previous, uint64_t value)
{
	uint64_t difference = value - *previous;

	*previous = value;
	return rt_put_varint(p, rt_zigzag(difference));
}

static inline uint8_t *rt_put_reset(struct rt_encoder *e, uint8_t *p)
{
	e->site = e->q = e->t = e->a = 0;
	e->stack_at = NULL;
	e->stack_known = 0;
	memset(e->slot, 0, sizeof e->slot);
	*p++ = RADDLE_RESET;
	e->floor = p;
	return p;
}

/* Writes the address of a record that is not a plain access.  This ends the run of the site. */
static inline uint8_t *rt_put_address(struct rt_encoder *e, uint8_t *p, uint32_t site, uint64_t address)
{
	struct rt_slot *slot = &e->slot[site % RADDLE_SITE_SLOTS];

	slot->at = NULL;
	return rt_put_delta(p, &slot->address, address);
}

/* Writes a single access as a record of its own, even if it would continue a run. */
static inline uint8_t *rt_put_access(struct rt_encoder *e, uint8_t *p, uint32_t site, uint64_t address)
{
	struct rt_slot *slot = &e->slot[site % RADDLE_SITE_SLOTS];
	uint64_t z = rt_zigzag(site - e->site);

	e->site = site;
	slot->by = address - slot->address;
	slot->at = p;
	slot->site = site;
	slot->left = 0;
	if (__builtin_expect(z < RADDLE_ACCESS_ESCAPE, 1)) {
		*p++ = (uint8_t)(RADDLE_ACCESS_FLAG | z);
	} else {
		*p++ = RADDLE_ACCESS_FLAG | RADDLE_ACCESS_ESCAPE;
		p = rt_put_varint(p, z);
	}
	return rt_put_delta(p, &slot->address, address);
}

static inline uint8_t *rt_put_stride(struct rt_encoder *e, uint8_t *p, const struct rt_record *r)
{
	p = rt_put_delta(p, &e->site, r->site);
	p = rt_put_address(e, p, r->site, r->operand[0]);
	e->slot[r->site % RADDLE_SITE_SLOTS].address += r->operand[1] * (r->operand[2] - 1);
	p = rt_put_varint(p, rt_zigzag(r->operand[1]));
	return rt_put_varint(p, r->operand[2]);
}

/* Returns true if the access continues a run (equally spaced accesses of one site), and the record
 * of the run may still change.  Records below `floor` (e->floor or higher) are final. */
static inline int rt_is_run(const struct rt_slot *slot, uint32_t site, uint64_t address, const uint8_t *floor)
{
	return address - slot->address == slot->by && slot->site == site && slot->at >= floor;
}

/* Writes the next access of a run: increments the count in its record, or begins a new record. */
static inline uint8_t *rt_put_run(struct rt_encoder *e, uint8_t *p, uint32_t site, uint64_t address)
{
	struct rt_slot *slot = &e->slot[site % RADDLE_SITE_SLOTS];

	if (slot->left) {
		slot->address = address;
		slot->left--;
		++*slot->at;
		return p;
	}
	*p++ = slot->site & RT_SLOT_RANGE ? RADDLE_RANGES : RADDLE_STRIDE;
	p = rt_put_delta(p, &e->site, site);
	p = rt_put_delta(p, &slot->address, address);
	p = rt_put_varint(p, rt_zigzag(slot->by));
	if (slot->site & RT_SLOT_RANGE)
		p = rt_put_varint(p, slot->size);
	*p = 1;
	slot->at = p;
	slot->left = RT_RUN_MAX - 1;
	return p + 1;
}

/* Returns true if the call stack with this top differs from the one that the decoder knows. */
static inline int rt_stack_changed(const struct rt_encoder *e, const uint32_t *top)
{
	return top != e->stack_at || !(top[-1] & RT_STACK_EMITTED);
}

static inline uint8_t *rt_put_frames(uint8_t *p, uint32_t *from, size_t count, uint64_t *previous)
{
	for (size_t i = 0; i < count; i++) {
		p = rt_put_delta(p, previous, from[i] & ~RT_STACK_EMITTED);
		from[i] |= RT_STACK_EMITTED;
	}
	return p;
}

static inline uint8_t *rt_put_stack(struct rt_encoder *e, uint8_t *p, uint32_t *top)
{
	size_t depth = (size_t)(top - e->stack_base);
	size_t whole = depth <= RT_STACK_WHOLE ? depth : RT_STACK_OUTER;
	size_t keep = whole < e->stack_known ? whole : e->stack_known;
	uint64_t previous = 0;

	while (keep > 0 && !(e->stack_base[keep - 1] & RT_STACK_EMITTED))
		keep--;
	*p++ = RADDLE_STACK;
	p = rt_put_varint(p, keep);
	p = rt_put_varint(p, whole - keep + (whole < depth ? 1 + RT_STACK_INNER : 0));
	p = rt_put_frames(p, e->stack_base + keep, whole - keep, &previous);
	if (whole < depth) {
		p = rt_put_delta(p, &previous, 0);
		p = rt_put_frames(p, top - RT_STACK_INNER, RT_STACK_INNER, &previous);
	}
	e->stack_known = whole;
	e->stack_at = top;
	e->floor = p;
	return p;
}

static inline const char *rt_operands(uint32_t code)
{
	static const char *const operands[256] = {
#define RADDLE_EVENT(c, constant, name, class, role, manner, counts, letters, ...) [c] = letters,
#include "raddle/event.inc"
	};
	return operands[code & 0xff];
}

static inline uint8_t *rt_put_event(struct rt_encoder *e, uint8_t *p, const struct rt_record *r)
{
	const uint64_t *operand = r->operand;

	if (r->code == RADDLE_ATOMIC || r->code == RADDLE_FENCE) {
		p = rt_put_delta(p, &e->q, *operand++);
		p = rt_put_delta(p, &e->site, r->site);
		if (r->code == RADDLE_FENCE)
			return p;
		p = rt_put_address(e, p, r->site, *operand++);
		return rt_put_varint(p, *operand);
	}
	for (const char *letter = rt_operands(r->code); *letter; letter++) {
		if (*letter == 'q')
			p = rt_put_delta(p, &e->q, *operand++);
		else if (*letter == 't')
			p = rt_put_delta(p, &e->t, *operand++);
		else if (*letter == 'a')
			p = rt_put_delta(p, &e->a, *operand++);
		else if (*letter == 'u')
			p = rt_put_varint(p, *operand++);
		else {
			p = rt_put_varint(p, r->length);
			memcpy(p, r->bytes, r->length);
			p += r->length;
		}
	}
	return p;
}

static inline uint8_t *rt_put_range(struct rt_encoder *e, uint8_t *p, uint32_t site, uint64_t address,
				    uint64_t size)
{
	*p++ = RADDLE_RANGE;
	p = rt_put_delta(p, &e->site, site);
	p = rt_put_address(e, p, site, address);
	return rt_put_varint(p, size);
}

/* Writes a range, which may continue a run.  `floor` is as in rt_is_run(). */
static inline uint8_t *rt_put_range_run(struct rt_encoder *e, uint8_t *p, uint32_t site, uint64_t address,
					uint64_t size, const uint8_t *floor)
{
	struct rt_slot *slot = &e->slot[site % RADDLE_SITE_SLOTS];
	uint64_t by = address - slot->address;
	uint8_t *at = p;

	if (rt_is_run(slot, site | RT_SLOT_RANGE, address, floor) && slot->size == size)
		return rt_put_run(e, p, site, address);
	p = rt_put_range(e, p, site, address, size);
	slot->by = by;
	slot->at = at;
	slot->site = site | RT_SLOT_RANGE;
	slot->left = 0;
	slot->size = size <= UINT16_MAX ? (uint16_t)size : 0;
	return p;
}

/* Writes a record that is not a plain access. */
static inline uint8_t *rt_put_record(struct rt_encoder *e, uint8_t *p, const struct rt_record *r)
{
	if (r->code == RADDLE_RANGE)
		return rt_put_range(e, p, r->site, r->operand[0], r->operand[1]);
	*p++ = (uint8_t)r->code;
	if (r->code == RADDLE_STRIDE)
		return rt_put_stride(e, p, r);
	p = rt_put_event(e, p, r);
	e->floor = p;
	return p;
}

#endif
