/* SPDX-License-Identifier: Apache-2.0 */
/* The byte layout of stream files (doc/format/trace.md), for trace/ only. */
#ifndef TRACE_FORMAT_INT_H
#define TRACE_FORMAT_INT_H

#include <stddef.h>
#include <stdint.h>

#define TRACE_STREAM_MAGIC "RDSTREAM"
/* Sizes in bytes (doc/format/trace.md). */
#define TRACE_STREAM_HEADER 16
#define TRACE_CHUNK_MAGIC 0x4b434452u /* "RDCK" */
#define TRACE_CHUNK_HEADER 32
#define TRACE_CHUNK_SUMMED 24 /* number of header bytes that the checksum covers */

#define TRACE_FULL_MAGIC "RDFULLTR"  /* streams of full traces */
#define TRACE_WORLD_MAGIC "RDWORLDS" /* the stream of the world */

enum trace_codec {
	TRACE_CODEC_RAW = 0,
	TRACE_CODEC_ZSTD = 1,
	TRACE_CODEC_PACKED = 2, /* packed, then compressed like TRACE_CODEC_ZSTD */
	/* Packed but not compressed, because compression would make the chunk longer. */
	TRACE_CODEC_SMALL = 3,
};

static inline int trace_is_packed(uint32_t codec)
{
	return codec == TRACE_CODEC_PACKED || codec == TRACE_CODEC_SMALL;
}

/* Makes the short chunk header that full traces use since version 2, because they have many small
 * chunks.  It consists of the magic number and the checksum, followed by the other fields with
 * seven bits per byte.  Returns the length of the short header. */
size_t trace_chunk_shorten(uint8_t out[TRACE_CHUNK_HEADER], const uint8_t header[TRACE_CHUNK_HEADER]);
/* Does the inverse of trace_chunk_shorten().  `left` is the number of remaining bytes of the file.
 * Returns the length of the short header, 0 if more bytes are needed, or SIZE_MAX if the bytes are
 * not a header. */
size_t trace_chunk_expand(uint8_t header[TRACE_CHUNK_HEADER], const uint8_t *p, size_t left);

/* Returns the XXH64 of header bytes 0 to 23 and the stored bytes. */
uint64_t trace_chunk_sum(const uint8_t *header, const uint8_t *body, size_t length);

static inline void trace_put32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

static inline void trace_put64(uint8_t *p, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

static inline uint32_t trace_get32(const uint8_t *p)
{
	uint32_t v = 0;
	for (int i = 0; i < 4; i++)
		v |= (uint32_t)p[i] << (8 * i);
	return v;
}

static inline uint64_t trace_get64(const uint8_t *p)
{
	uint64_t v = 0;
	for (int i = 0; i < 8; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

#endif
