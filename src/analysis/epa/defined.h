/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records which bytes of an object the program has written.  Padding is never written, so it
 * contains remains of earlier data, which differ from run to run.
 */
#ifndef EPA_DEFINED_H
#define EPA_DEFINED_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Objects with more bytes than this count as completely defined, to limit memory. */
#define EPA_DEFINED_MAX (1u << 26)

struct epa_defined {
	uint64_t size;	/* size of the object in bytes */
	uint64_t few;	/* a bit for each byte, for objects of at most 64 bytes */
	uint64_t *many; /* the bits of larger objects; NULL if `few` is used or `whole` is set */
	bool whole;	/* all bytes are defined */
};

/* Begins an object.  If *d was used for an earlier object of the same size, its memory is
 * reused. */
void epa_defined_begin(struct epa_defined *d, uint64_t size, bool whole);
void epa_defined_release(struct epa_defined *d);

/* Marks the bytes of the range as defined, except the bytes in the mask `except`, which become
 * undefined.  Bit i of the mask stands for byte i of the range, so only the first 64 bytes can be
 * excepted. */
void epa_defined_set(struct epa_defined *d, uint64_t offset, uint64_t size, uint64_t except);

/* Returns a bit mask of the undefined bytes in a range of at most eight bytes. */
uint8_t epa_defined_without(const struct epa_defined *d, uint64_t offset, uint64_t size);

/* --- bits for another property: which bytes are part of an address --- */

struct epa_parts {
	struct epa_defined bits; /* the bits are in `few` or `many`, as in struct epa_defined */
	bool any;		 /* some byte is or was part of an address, so the bits exist */
};

static inline void epa_parts_begin(struct epa_parts *p)
{
	p->any = false;
}

/* Records which bytes of a range are parts of addresses: exactly those in the mask `which`.  The
 * range has at most eight bytes, and lies in an object of `object` bytes. */
void epa_parts_set(struct epa_parts *p, uint64_t object, uint64_t offset, uint64_t size, uint8_t which);

/* Returns a bit mask of the bytes that are part of an address, in a range of at most eight
 * bytes. */
static inline uint8_t epa_parts_get(const struct epa_parts *p, uint64_t offset, uint64_t size)
{
	RD_ASSERT(size <= 8);
	if (!p->any || p->bits.whole || offset >= p->bits.size || size > p->bits.size - offset)
		return 0;
	return (uint8_t)(~epa_defined_without(&p->bits, offset, size) & (0xffu >> (8 - size)));
}

#endif
