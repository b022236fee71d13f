/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plain encoder of records, for imports and tests.  It appends to a growing buffer, and tracks
 * the state that the decoder will have.  trace_encode_reset() begins a new chunk.  The runtime has
 * an encoder of its own, because it must not allocate memory.
 */
#ifndef TRACE_ENCODE_INT_H
#define TRACE_ENCODE_INT_H

#include "base/buf.h"
#include "base/varint.h"
#include "raddle/event.h"
#include "trace/event.h"

#include <stdint.h>
#include <string.h>

struct trace_encoder {
	struct rd_buf out;
	uint32_t site;
	uint64_t q, t, a;
	uint64_t slots[RADDLE_SITE_SLOTS];
};

static inline void trace_encode_varint(struct trace_encoder *e, uint64_t v)
{
	rd_buf_reserve(&e->out, 10);
	char *p = e->out.data + e->out.length;
	while (v >= 0x80) {
		*p++ = (char)(v | 0x80);
		v >>= 7;
	}
	*p++ = (char)v;
	e->out.length = (size_t)(p - e->out.data);
}

/* Empties the buffer and starts a chunk. */
static inline void trace_encode_reset(struct trace_encoder *e)
{
	if (!e->out.data)
		e->out = (struct rd_buf)RD_BUF_INIT;
	rd_buf_clear(&e->out);
	rd_buf_addc(&e->out, RADDLE_RESET);
	e->site = 0;
	e->q = e->t = e->a = 0;
	memset(e->slots, 0, sizeof e->slots);
}

static inline void trace_encode_slot(struct trace_encoder *e, uint64_t address)
{
	uint64_t *slot = &e->slots[e->site % RADDLE_SITE_SLOTS];
	trace_encode_varint(e, rd_zigzag(address - *slot));
	*slot = address;
}

static inline void trace_encode_site(struct trace_encoder *e, uint32_t site)
{
	trace_encode_varint(e, rd_zigzag((uint64_t)site - e->site));
	e->site = site;
}

static inline void trace_encode_access(struct trace_encoder *e, uint32_t site, uint64_t address)
{
	uint64_t z = rd_zigzag((uint64_t)site - e->site);
	if (z < RADDLE_ACCESS_ESCAPE) {
		rd_buf_addc(&e->out, (char)(RADDLE_ACCESS_FLAG | z));
		e->site = site;
	} else {
		rd_buf_addc(&e->out, (char)(RADDLE_ACCESS_FLAG | RADDLE_ACCESS_ESCAPE));
		trace_encode_site(e, site);
	}
	trace_encode_slot(e, address);
}

/* Writes a stack that consists of the first `keep` entries of the previous stack and `count` new
 * entries. */
static inline void trace_encode_stack(struct trace_encoder *e, size_t keep, const uint32_t *sites,
				      size_t count)
{
	uint32_t previous = 0;
	rd_buf_addc(&e->out, RADDLE_STACK);
	trace_encode_varint(e, keep);
	trace_encode_varint(e, count);
	for (size_t i = 0; i < count; i++) {
		trace_encode_varint(e, rd_zigzag((uint64_t)sites[i] - previous));
		previous = sites[i];
	}
}

/* Encodes an event of any row of the table.  `values` is indexed by operand, and `bytes` is the `b`
 * operand. */
static inline void trace_encode_row(struct trace_encoder *e, enum raddle_event kind, const uint64_t *values,
				    const void *bytes)
{
	const char *letters = trace_kind(kind)->operands;
	rd_buf_addc(&e->out, (char)kind);
	for (unsigned i = 0; letters[i]; i++) {
		uint64_t *last = letters[i] == 'q' ? &e->q : letters[i] == 't' ? &e->t : &e->a;
		switch (letters[i]) {
		case 'q':
		case 't':
		case 'a':
			trace_encode_varint(e, rd_zigzag(values[i] - *last));
			*last = values[i];
			break;
		case 's': trace_encode_site(e, (uint32_t)values[i]); break;
		case 'x': trace_encode_slot(e, values[i]); break;
		case 'b':
			trace_encode_varint(e, values[i]);
			rd_buf_add(&e->out, bytes, values[i]);
			break;
		default: trace_encode_varint(e, values[i]);
		}
	}
}

#endif
