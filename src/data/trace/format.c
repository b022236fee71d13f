/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the checksum of a chunk and converts its short header, for both the writer and the
 * reader.  The checksum covers the first bytes of the header and the body.  It is stored between
 * them, so it is computed over two pieces.
 */
#include "trace/format-int.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t trace_chunk_sum(const uint8_t *header, const uint8_t *body, size_t length)
{
	XXH64_state_t sum;
	XXH64_reset(&sum, 0);
	XXH64_update(&sum, header, TRACE_CHUNK_SUMMED);
	XXH64_update(&sum, body, length);
	return XXH64_digest(&sum);
}

/* The offsets of a short header's fields in a long header.  A short header contains the last field
 * only with codec PACKED.  With codec SMALL, this field has the same value as the field before it.
 * With any other codec, its value is 0. */
static const uint8_t brief[] = {16, 4, 8, 12, 20};
#define FIELDS (sizeof brief)
#define BRIEF_BEGIN 12 /* offset of the first field, after magic number and checksum */

size_t trace_chunk_shorten(uint8_t out[TRACE_CHUNK_HEADER], const uint8_t header[TRACE_CHUNK_HEADER])
{
	size_t n = BRIEF_BEGIN, fields = FIELDS - (trace_get32(header + 16) != TRACE_CODEC_PACKED);
	memcpy(out, header, 4);
	memcpy(out + 4, header + TRACE_CHUNK_SUMMED, 8);
	for (size_t i = 0; i < fields; i++) {
		uint32_t v = trace_get32(header + brief[i]);
		for (; v > 0x7f; v >>= 7)
			out[n++] = (uint8_t)(v | 0x80);
		out[n++] = (uint8_t)v;
	}
	return n;
}

size_t trace_chunk_expand(uint8_t header[TRACE_CHUNK_HEADER], const uint8_t *p, size_t left)
{
	size_t n = BRIEF_BEGIN, fields = FIELDS;
	if (left < BRIEF_BEGIN)
		return 0;
	memset(header, 0, TRACE_CHUNK_HEADER);
	memcpy(header, p, 4);
	memcpy(header + TRACE_CHUNK_SUMMED, p + 4, 8);
	for (size_t i = 0; i < fields; i++) {
		uint64_t v = 0;
		unsigned shift = 0;
		do {
			if (n == left)
				return 0;
			if (shift > 28)
				return SIZE_MAX;
			v |= (uint64_t)(p[n] & 0x7f) << shift;
			shift += 7;
		} while (p[n++] & 0x80);
		if (v > UINT32_MAX)
			return SIZE_MAX;
		trace_put32(header + brief[i], (uint32_t)v);
		if (i == 0 && v != TRACE_CODEC_PACKED)
			fields--;
	}
	if (trace_get32(header + 16) == TRACE_CODEC_SMALL)
		memcpy(header + 20, header + 12, 4);
	return n;
}
