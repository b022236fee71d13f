/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The general decoder.  It handles every kind of record, is driven by a table, and makes all
 * checks.  The inline function in the header handles common accesses, and leaves everything else
 * and everything doubtful to this file.
 *
 * Invariants: d->p points to the first byte of a record until the whole record has been decoded,
 * and begin <= p <= end.
 */
#include "trace/decode.h"

#include "base/alloc.h"
#include "base/varint.h"

#include <stdlib.h>
#include <string.h>

/* A position within one record.  Only the first `error` is kept. */
struct place {
	const uint8_t *p, *end;
	const char *error;
};

static uint64_t get_long_varint(struct place *at)
{
	uint64_t v;
	enum rd_varint how = rd_varint_get(&at->p, at->end, &v);
	if (how == RD_VARINT_OK)
		return v;
	at->error = how == RD_VARINT_CUT ? "the record ends too early" : "a number is longer than 64 bits";
	return 0;
}

static inline uint64_t get_varint(struct place *at)
{
	if (at->p < at->end && *at->p < 0x80)
		return *at->p++;
	return get_long_varint(at);
}

static inline uint64_t get_zigzag(struct place *at)
{
	return rd_unzigzag(get_varint(at));
}

static inline uint32_t get_site(struct place *at, uint32_t previous)
{
	uint64_t site = previous + get_zigzag(at);
	if (site > RADDLE_SITE_MAX) {
		at->error = "a site number is out of range";
		return 0;
	}
	return (uint32_t)site;
}

static void reset(struct trace_decoder *d)
{
	d->site = 0;
	d->q = d->t = d->a = 0;
	d->run_left = 0;
	d->depth = 0;
	d->stack_version++;
	memset(d->slots, 0, sizeof d->slots);
}

void trace_decoder_start(struct trace_decoder *d, const void *records, size_t length)
{
	d->begin = d->p = records;
	d->end = d->begin + length;
	d->error = NULL;
	reset(d);
}

void trace_decoder_release(struct trace_decoder *d)
{
	free(d->stack);
	memset(d, 0, sizeof *d);
}

static void apply_stack(struct trace_decoder *d, struct place *at)
{
	uint64_t keep = get_varint(at);
	uint64_t count = get_varint(at);
	uint32_t site = 0;
	if (at->error)
		return;
	if (keep > d->depth) {
		at->error = "a stack record keeps more entries than there are";
		return;
	}
	if (count > (uint64_t)(at->end - at->p)) {
		at->error = "a stack record has more entries than bytes";
		return;
	}
	RD_GROW(d->stack, d->stack_capacity, keep + count);
	for (uint64_t i = 0; i < count && !at->error; i++) {
		site = get_site(at, site);
		d->stack[keep + i] = site;
	}
	d->depth = keep + count;
	d->stack_version++;
}

static void get_bytes(struct place *at, struct trace_event *e)
{
	uint64_t n = get_varint(at);
	if (!at->error && n > (uint64_t)(at->end - at->p))
		at->error = "a text is longer than the chunk";
	if (at->error)
		return;
	e->bytes = (const char *)at->p;
	e->length = n;
	at->p += n;
}

/* Reads one operand.  Only this function changes the decoder's state.  If the record later turns
 * out to be invalid, the stream ends, so a partial update does no harm. */
static uint64_t get_operand(struct trace_decoder *d, struct place *at, struct trace_event *e, char letter)
{
	switch (letter) {
	case 'q': d->q += get_zigzag(at); return e->q = d->q;
	case 't': d->t += get_zigzag(at); return e->t = d->t;
	case 'a': d->a += get_zigzag(at); return d->a;
	case 's': d->site = get_site(at, d->site); return e->site = d->site;
	case 'x':
		d->slots[d->site % RADDLE_SITE_SLOTS] += get_zigzag(at);
		return e->address = d->slots[d->site % RADDLE_SITE_SLOTS];
	case 'b': get_bytes(at, e); return e->length;
	default: return get_varint(at);
	}
}

static void decode_row(struct trace_decoder *d, struct place *at, struct trace_event *e)
{
	const char *letters = trace_kind(e->kind)->operands;
	bool has_address = false;
	e->q = e->t = 0;
	e->bytes = "";
	e->length = 0;
	for (unsigned i = 0; letters[i] && !at->error; i++) {
		e->values[i] = get_operand(d, at, e, letters[i]);
		if (letters[i] == 'a' && !has_address) {
			e->address = e->values[i];
			has_address = true;
		}
	}
	if (e->kind == RADDLE_RANGE)
		e->size = e->values[2];
}

/* Does the same as decode_row(), but only for atomics, and faster.  A spinning thread makes
 * millions of them. */
static void decode_atomic(struct trace_decoder *d, struct place *at, struct trace_event *e)
{
	uint64_t *slot;

	e->t = 0;
	e->bytes = "";
	e->length = 0;
	e->values[0] = e->q = d->q += get_zigzag(at);
	e->values[1] = e->site = d->site = get_site(at, d->site);
	slot = &d->slots[d->site % RADDLE_SITE_SLOTS];
	e->values[2] = e->address = *slot += get_zigzag(at);
	e->values[3] = get_varint(at);
}

static void decode_access(struct trace_decoder *d, struct place *at, struct trace_event *e, uint8_t byte)
{
	uint64_t delta = byte & 0x7f;
	if (delta == RADDLE_ACCESS_ESCAPE)
		delta = get_varint(at);
	uint64_t site = d->site + (uint64_t)rd_unzigzag(delta);
	if (!at->error && site > RADDLE_SITE_MAX)
		at->error = "a site number is out of range";
	if (at->error)
		return;
	d->site = e->site = (uint32_t)site;
	d->slots[site % RADDLE_SITE_SLOTS] += get_zigzag(at);
	e->address = d->slots[site % RADDLE_SITE_SLOTS];
}

int trace_decode_range(struct trace_decoder *d, struct trace_event *e)
{
	e->kind = RADDLE_RANGE;
	e->q = e->t = 0;
	e->bytes = "";
	e->length = 0;
	e->values[0] = e->site = d->site;
	e->values[1] = e->address = d->slots[d->site % RADDLE_SITE_SLOTS] += d->run_step;
	e->values[2] = e->size = d->run_size;
	return 1;
}

/* Decodes a STRIDE or RANGES record and returns its first access. trace_decode_run() returns the
 * others. */
static void decode_run(struct trace_decoder *d, struct place *at, struct trace_event *e)
{
	bool ranges = e->kind == RADDLE_RANGES;
	get_operand(d, at, e, 's');
	get_operand(d, at, e, 'x');
	uint64_t step = get_zigzag(at), size = ranges ? get_varint(at) : 0, count = get_varint(at);
	if (!at->error && (count == 0 || count > RADDLE_STRIDE_MAX))
		at->error = "a stride has too many accesses or none";
	if (!at->error && ranges && size == 0)
		at->error = "ranges without a length";
	if (at->error)
		return;
	e->kind = RADDLE_ACCESS;
	d->run_step = 0;
	d->run_size = size;
	if (ranges)
		trace_decode_range(d, e);
	d->run_step = step;
	d->run_left = count - 1;
}

int trace_decode_slow(struct trace_decoder *d, struct trace_event *e)
{
	if (d->run_left != 0)
		return trace_decode_run(d, e);
	while (d->p < d->end) {
		struct place at = {.p = d->p + 1, .end = d->end};
		uint8_t code = *d->p;
		bool event = true;
		e->kind = code & RADDLE_ACCESS_FLAG ? RADDLE_ACCESS : code;
		e->site = 0;
		e->address = 0;
		e->size = 0;
		if (code & RADDLE_ACCESS_FLAG) {
			decode_access(d, &at, e, code);
		} else if (code == RADDLE_RESET || code == RADDLE_STACK) {
			event = false;
			if (code == RADDLE_RESET)
				reset(d);
			else
				apply_stack(d, &at);
		} else if (code == RADDLE_STRIDE || code == RADDLE_RANGES) {
			decode_run(d, &at, e);
		} else if (code == RADDLE_ATOMIC) {
			decode_atomic(d, &at, e);
		} else if (trace_kind(code)->name) {
			decode_row(d, &at, e);
		} else {
			at.error = "unknown event code";
		}
		if (at.error) {
			d->error = at.error;
			return -1;
		}
		d->p = at.p;
		if (event)
			return 1;
	}
	return 0;
}
