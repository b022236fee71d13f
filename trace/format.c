/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checksum of a chunk, in one place for writer and reader.  The stored
 * checksum lies between the header bytes it covers and the body, so two pieces
 * are summed.
 */
#include "trace/format.h"

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
