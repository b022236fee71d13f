/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bytes of an object the program has written.  Padding is never written; it holds leftovers
 * of earlier data, which differ from run to run.
 */
#ifndef EPA_DEFINED_H
#define EPA_DEFINED_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EPA_DEFINED_MAX (1u << 26) /* larger objects count as completely defined; bounds memory */

struct epa_defined {
	uint64_t size;	/* of the object */
	uint64_t few;	/* a bit for each byte, if there are at most 64 */
	uint64_t *many; /* the bits of larger objects; NULL: `few` is used, or all are defined */
	bool whole;	/* all are defined */
};

/* Begins an object, perhaps again; the memory of an earlier one of the same size is reused. */
void epa_defined_begin(struct epa_defined *d, uint64_t size, bool whole);
void epa_defined_release(struct epa_defined *d);

/* Marks these bytes as defined, except those in `except` (of the first 64), which become undefined.
 */
void epa_defined_set(struct epa_defined *d, uint64_t offset, uint64_t size, uint64_t except);

/* Of at most eight bytes, the undefined ones. */
uint8_t epa_defined_without(const struct epa_defined *d, uint64_t offset, uint64_t size);

/* --- the same bits for another property: which bytes are part of an address --- */

struct epa_parts {
	struct epa_defined bits; /* `few` or `many`, as above */
	bool any;		 /* some byte is or was part of an address: the bits exist */
};

static inline void epa_parts_begin(struct epa_parts *p)
{
	p->any = false;
}

/* Sets the property of at most eight bytes of an object of size `object`: those in `which` are part
 * of an address, the others are not. */
void epa_parts_set(struct epa_parts *p, uint64_t object, uint64_t offset, uint64_t size, uint8_t which);

/* Of at most eight bytes, those that are part of an address. */
static inline uint8_t epa_parts_get(const struct epa_parts *p, uint64_t offset, uint64_t size)
{
	RD_ASSERT(size <= 8);
	if (!p->any || p->bits.whole || offset >= p->bits.size || size > p->bits.size - offset)
		return 0;
	return (uint8_t)(~epa_defined_without(&p->bits, offset, size) & (0xffu >> (8 - size)));
}

#endif
