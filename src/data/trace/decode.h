/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes records from memory (raddle/event.h defines the encoding).
 *
 * The bytes are not trusted.  A decoder never reads outside [begin, end).  If a record is not
 * valid, the decoder returns an error with a reason.  RESET and STACK records are applied, not
 * returned, so the call stack is always that of the last returned event.  A STRIDE or RANGES
 * record is returned as the accesses that it represents.
 */
#ifndef TRACE_DECODE_H
#define TRACE_DECODE_H

#include "base/varint.h"
#include "trace/event.h"

struct trace_decoder {
	const uint8_t *begin, *p, *end;
	uint32_t site;
	uint64_t q, t, a;
	/* The number of remaining accesses of a STRIDE or RANGES record, and the distance between
	 * them. */
	uint64_t run_left, run_step;
	uint64_t run_size; /* size of each range in bytes; 0 for plain accesses */
	uint32_t *stack;   /* call sites, outermost first */
	size_t depth, stack_capacity;
	uint64_t stack_version; /* changes whenever the stack may have changed */
	const char *error;	/* the reason why the last call failed */
	uint64_t slots[RADDLE_SITE_SLOTS];
};

/* Points a zeroed or used decoder at the records of one chunk. */
void trace_decoder_start(struct trace_decoder *d, const void *records, size_t length);
void trace_decoder_release(struct trace_decoder *d);

/* Stores the next event in *e and returns 1.  Returns 0 if no bytes are left.  If the record at
 * d->p is invalid, stores the reason in d->error and returns -1. */
int trace_decode_slow(struct trace_decoder *d, struct trace_event *e);

/* Decodes the next range of a RANGES record. */
int trace_decode_range(struct trace_decoder *d, struct trace_event *e);

static inline int trace_decode_run(struct trace_decoder *d, struct trace_event *e)
{
	d->run_left--;
	if (d->run_size != 0)
		return trace_decode_range(d, e);
	e->kind = RADDLE_ACCESS;
	e->site = d->site;
	e->address = d->slots[d->site % RADDLE_SITE_SLOTS] += d->run_step;
	e->size = 0;
	return 1;
}

/* Does the same as trace_decode_slow(), but decodes a plain access, which is the usual case,
 * without a function call. */
static inline int trace_decode(struct trace_decoder *d, struct trace_event *e)
{
	const uint8_t *p = d->p;
	if (d->run_left != 0)
		return trace_decode_run(d, e);
	if (d->end - p < 12 || *p < RADDLE_ACCESS_FLAG || (*p & 0x7f) == RADDLE_ACCESS_ESCAPE)
		return trace_decode_slow(d, e);
	uint32_t site = d->site + (uint32_t)rd_unzigzag(*p & 0x7f);
	if (site > RADDLE_SITE_MAX)
		return trace_decode_slow(d, e);
	uint64_t delta = p[1] & 0x7f;
	unsigned n = 1;
	while (p[n] & 0x80) {
		if (++n > 9)
			return trace_decode_slow(d, e);
		delta |= (uint64_t)(p[n] & 0x7f) << (7 * (n - 1));
	}
	uint64_t *slot = &d->slots[site % RADDLE_SITE_SLOTS];
	*slot += (uint64_t)rd_unzigzag(delta);
	d->site = site;
	d->p = p + n + 1;
	e->kind = RADDLE_ACCESS;
	e->site = site;
	e->address = *slot;
	e->size = 0;
	return 1;
}

#endif
