/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs the raw bytes of full traces (doc/format/full.md, "Packed chunks").  The value of a field
 * is predicted from earlier ones, and only the difference is stored.  A general compressor is
 * applied afterwards.  The packer and the unpacker of a stream keep their state from chunk to
 * chunk, so chunks must be unpacked in order.
 */
#ifndef TRACE_PACK_H
#define TRACE_PACK_H

#include "trace/full.h"

#include <stddef.h>
#include <stdint.h>

struct trace_packer;
/* Makes a packer.  The layout must outlive it. */
struct trace_packer *trace_packer_new(const struct trace_layout *layout);
void trace_packer_free(struct trace_packer *p);

/* Adds the bytes of one buffer, up to the first invalid record.  Returns the number of records. */
uint64_t trace_pack(struct trace_packer *p, const uint8_t *raw, size_t length);

/* Returns true if the end of the thread was added.  Nothing may be added after that. */
bool trace_packed_end(const struct trace_packer *p);

/* Resets the packer for another thread. */
void trace_packer_reset(struct trace_packer *p);

/* Returns the number of raw bytes that were added since the last trace_packed_take(). */
size_t trace_packed_raw(const struct trace_packer *p);

/* Returns the packed bytes of everything that was added since the last call, and stores their
 * length in *length.  They are valid until the next call. */
const void *trace_packed_take(struct trace_packer *p, size_t *length);

struct trace_unpacker;
/* Makes an unpacker.  `version` is the version of the stream, which is 1 or TRACE_FULL_VERSION. */
struct trace_unpacker *trace_unpacker_new(const struct trace_layout *layout, unsigned version);
void trace_unpacker_free(struct trace_unpacker *u);

/* Unpacks a chunk, which must result in exactly `raw` bytes.  Returns NULL, or the reason why the
 * chunk is invalid. */
const char *trace_unpack(struct trace_unpacker *u, const uint8_t *packed, size_t length, size_t raw);
const uint8_t *trace_unpacked(const struct trace_unpacker *u);

#endif
