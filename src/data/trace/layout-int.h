/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of pieces, for trace/ only. trace/full.h is its public part. */
#ifndef TRACE_LAYOUT_INT_H
#define TRACE_LAYOUT_INT_H

#include "raddle/event.h"
#include "trace/full.h"

/* A field of a raw piece, which has at most eight bytes.  Its role decides how it is predicted
 * (trace/pack.c). */
enum trace_field_role { TRACE_FIELD_OTHER, TRACE_FIELD_ADDRESS, TRACE_FIELD_LOADED, TRACE_FIELD_STORED };

struct trace_field {
	uint16_t offset;
	uint8_t size;
	uint8_t role; /* enum trace_field_role */
	uint32_t slot;
};

/* The number of slots for fields.  Further fields share slots, which bounds the memory of a
 * packer. */
#define TRACE_PACK_SLOTS 65536u
/* The number of slots at the beginning that are for records that are not pieces. */
#define TRACE_PACK_ROW_SLOTS 1024u

/* Describes a slot of a unit, which is a range of site numbers.  `first` is the index at which
 * piece number 1 of the unit would be, and [begin, end) is the range of its pieces. */
struct trace_layout_slot {
	size_t first, begin, end;
};

struct trace_layout {
	struct trace_piece *pieces;
	struct trace_op *ops, *plain; /* `plain` leaves out the ops of kind VALUE */
	struct trace_value *values;
	struct trace_field *fields;
	struct trace_layout_slot *slots;
	size_t count, op_count, plain_count, value_count, field_count;
};

static inline const struct trace_piece *trace_layout_get(const struct trace_layout *l, uint32_t piece)
{
	if (piece > RADDLE_SITE_MAX)
		return NULL;
	const struct trace_layout_slot *s = &l->slots[piece >> RADDLE_SITE_LOCAL_BITS];
	size_t index = s->first + (piece & ((1u << RADDLE_SITE_LOCAL_BITS) - 1)) - 1;
	return index >= s->begin && index < s->end ? &l->pieces[index] : NULL;
}

#endif
