/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes numbers as bytes (LEB128).  Each byte holds seven bits, lowest first; its eighth bit
 * shows whether more bytes follow.  Differences are zigzag-encoded first, so small differences of
 * either sign are short.
 */
#ifndef BASE_VARINT_H
#define BASE_VARINT_H

#include "base/buf.h"

#include <stdint.h>

void rd_varint_put(struct rd_buf *out, uint64_t v);

enum rd_varint {
	RD_VARINT_OK,
	RD_VARINT_CUT,	/* the bytes end before the number does */
	RD_VARINT_LONG, /* the number has more than 64 bits */
};

/* Reads a number at *p and moves *p past it. */
static inline enum rd_varint rd_varint_get(const uint8_t **p, const uint8_t *end, uint64_t *v)
{
	*v = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (*p == end)
			return RD_VARINT_CUT;
		uint8_t byte = *(*p)++;
		if (shift == 63 && byte > 1)
			break;
		*v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return RD_VARINT_OK;
	}
	return RD_VARINT_LONG;
}

static inline uint64_t rd_zigzag(uint64_t difference)
{
	return difference << 1 ^ -(difference >> 63);
}

static inline uint64_t rd_unzigzag(uint64_t v)
{
	return v >> 1 ^ -(v & 1);
}

#endif
