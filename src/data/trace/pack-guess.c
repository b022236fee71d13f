/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guesses the next fields of a stream from the fields of earlier records, for the packer and the
 * unpacker (pack-int.h).  The guesses are:
 *
 *   - The next piece is one of the two that last followed this one, or a piece near it.
 *   - An address changes by the same amount as the last two times.
 *   - A loaded value is the one that was last seen at its address.
 *   - Every other field keeps its last value.
 *
 * An address that is far from its guess may still be near a recent address.  This case matters for
 * a thread that does little, because most of its fields occur for the first time.
 */
#include "trace/pack-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>

/* The size of a thread's stack in bytes, unless the program chooses another size. */
#define STACK_SIZE (8u << 20)

static size_t slot_count(const struct trace_layout *layout)
{
	/* Most layouts have few fields. */
	size_t slots = TRACE_PACK_ROW_SLOTS + layout->field_count;
	return slots < TRACE_PACK_SLOTS ? slots : TRACE_PACK_SLOTS;
}

static inline struct guess_slot *row_slot(struct guess *g, uint8_t code, size_t field)
{
	return &g->slots[((code & 0x7fu) * 8 + field % 8) % TRACE_PACK_ROW_SLOTS];
}

/* Sets the guesses for the first record. */
static void guess_begin(struct guess *g)
{
	const struct trace_layout *l = g->layout;
	const char *operands = trace_kind(RADDLE_THREAD_START)->operands;
	g->piece = 0;
	g->row = 0;
	memset(g->next_row, 0, sizeof g->next_row);
	if (g->version < 2)
		return;
	g->next_row[0] = RADDLE_THREAD_START;
	g->next_row[RADDLE_THREAD_START] = g->next_row[RADDLE_TLS] = RADDLE_TLS;
	g->next_row[RADDLE_THREAD_CREATE] = RADDLE_HANDLE;
	g->next_row[RADDLE_JOIN_REQUEST] = RADDLE_THREAD_JOIN;
	g->piece = l->count ? l->pieces[0].number : 0;
	row_slot(g, RADDLE_THREAD_START, (size_t)(strchr(operands, 'a') - operands) + 1)->last = STACK_SIZE;
}

void guess_init(struct guess *g, const struct trace_layout *layout, unsigned version)
{
	*g = (struct guess){.layout = layout, .version = version};
	g->next = rd_xcalloc(GUESS_SUCCESSORS, sizeof *g->next);
	g->slots = rd_xcalloc(slot_count(layout), sizeof *g->slots);
	g->cells = rd_xcalloc(GUESS_CELLS, sizeof *g->cells);
	guess_begin(g);
}

void guess_reset(struct guess *g)
{
	memset(g->recent, 0, sizeof g->recent);
	memset(g->next, 0, GUESS_SUCCESSORS * sizeof *g->next);
	memset(g->slots, 0, slot_count(g->layout) * sizeof *g->slots);
	memset(g->cells, 0, GUESS_CELLS * sizeof *g->cells);
	guess_begin(g);
}

void guess_release(struct guess *g)
{
	RD_FREE(g->next, g->slots, g->cells);
}

void guess_remember(struct guess *g, unsigned entry, unsigned bytes, uint64_t address)
{
	if (bytes >= GUESS_APART)
		entry = GUESS_RECENT - 1;
	memmove(g->recent + 1, g->recent, entry * sizeof *g->recent);
	g->recent[0] = address;
}

size_t guess_row_fields(const uint8_t *p, size_t left, uint8_t *sizes)
{
	static const uint8_t range[] = {4, 8, 8, 8, 4, 1}, fence[] = {4, 8};
	static const uint8_t fault[] = {4, 4, 8, 8, 8, 8}, atomic[] = {4, 8, 8, 1, 1};
	size_t n = 0;
	switch (*p) {
	case RADDLE_FULL_RANGE:
		memcpy(sizes, range, n = sizeof range);
		if (left < 34 || p[33] > RADDLE_FULL_POINTERS)
			return 0;
		for (unsigned i = 0; i < 2u * p[33]; i++)
			sizes[n++] = 8;
		return n;
	case RADDLE_FULL_ATOMIC:
		memcpy(sizes, atomic, n = sizeof atomic);
		if (left < 23 || p[22] > 16)
			return 0;
		for (unsigned i = 0; i < 2; i++)
			for (unsigned size = p[22]; size; size -= sizes[n++])
				sizes[n] = size < 8 ? (uint8_t)size : 8;
		return n;
	case RADDLE_FULL_FENCE: memcpy(sizes, fence, n = sizeof fence); return n;
	case RADDLE_FULL_FAULT: memcpy(sizes, fault, n = sizeof fault); return n;
	default: break;
	}
	const struct trace_kind *kind = trace_kind(*p);
	if (*p < RADDLE_FIRST_ROW || !kind->name)
		return 0;
	for (const char *letter = kind->operands; *letter; letter++)
		sizes[n++] = *letter == 'b' ? 4 : 8;
	return n;
}

size_t guess_row_tail(const uint8_t *p, const uint8_t *sizes, size_t count)
{
	const char *operands = *p >= RADDLE_FIRST_ROW ? trace_kind(*p)->operands : "";
	size_t at = 1, n = strlen(operands);
	if (n == 0 || operands[n - 1] != 'b')
		return 0;
	for (size_t i = 0; i + 1 < count; i++)
		at += sizes[i];
	return get(p + at, 4);
}

size_t guess_row_length(const uint8_t *sizes, size_t count)
{
	size_t length = 1;
	for (size_t i = 0; i < count; i++)
		length += sizes[i];
	return length;
}

struct guess_slot *guess_field_slot(struct guess *g, uint8_t code, size_t field)
{
	char letter = 0;
	if (code == RADDLE_FULL_ATOMIC || code == RADDLE_FULL_FENCE)
		letter = field == 1 ? 'q' : 0;
	else if (code >= RADDLE_FIRST_ROW)
		letter = trace_kind(code)->operands[field];
	if (g->version >= 2 && (letter == 'q' || letter == 't'))
		return row_slot(g, RADDLE_FULL_END, letter == 't');
	return row_slot(g, code, field);
}

void guess_see_row(struct guess *g, uint8_t code, const uint8_t *row)
{
	const char *operands = trace_kind(RADDLE_THREAD_START)->operands;
	size_t at = 1 + 8 * (size_t)(strchr(operands, 'a') - operands);
	g->next_row[g->row & 127] = code;
	g->row = code;
	/* Variables of a thread are near the upper end of its stack. */
	if (g->version >= 2 && code == RADDLE_THREAD_START)
		guess_remember(g, GUESS_RECENT - 1, GUESS_APART, get(row + at, 8) + get(row + at + 8, 8));
}
