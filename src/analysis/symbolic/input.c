// SPDX-License-Identifier: Apache-2.0
/*
 * Turns values of variables into an input.  In: the values that the solver found.  Out: the bytes
 * of the input.  Numbers are written as digits, strings are replaced, and a string is cut or padded
 * to have the right length.
 */
#include "symbolic/trace.h"

#include "base/alloc.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_MAX 4096u /* largest number of bytes of a slot, as in solve.c */

/* The replacement of a slot, which is a range of bytes of an input (raddle/shadow.h). */
struct slot_edit {
	uint64_t offset;
	uint32_t length;
	struct rd_buf text;
};

struct slot_edits {
	struct slot_edit *items;
	size_t count, capacity;
};

static void render_number(const struct raddle_shadow_var *v, uint64_t value, struct rd_buf *out)
{
	if (v->base == 16)
		rd_buf_addf(out, "%" PRIx64, value);
	else if (v->base == 8)
		rd_buf_addf(out, "%" PRIo64, value);
	else if (v->is_unsigned)
		rd_buf_addf(out, "%" PRIu64, value);
	else
		rd_buf_addf(out, "%" PRId64, (int64_t)value);
}

/* Cuts a slot to the wanted length, or repeats its last byte until the slot has that length. */
static void render_length(const struct raddle_shadow_var *v, uint64_t value, const struct rd_buf *data,
			  struct rd_buf *out)
{
	uint64_t have = v->offset < data->length ? data->length - v->offset : 0;

	if (have > v->length)
		have = v->length;
	for (uint64_t i = 0; i < value && i < LENGTH_MAX; i++)
		rd_buf_addc(out, !have ? 'a' : data->data[v->offset + (i < have ? i : have - 1)]);
}

static void add_slot(const struct sym_trace *t, const struct raddle_shadow_var *v, uint64_t value,
		     const struct rd_buf *data, struct slot_edits *edits)
{
	struct slot_edit e = {v->offset, v->length, RD_BUF_INIT};

	switch (v->sort) {
	case RADDLE_VAR_NUMBER: render_number(v, value, &e.text); break;
	case RADDLE_VAR_LENGTH: render_length(v, value, data, &e.text); break;
	case RADDLE_VAR_EQUAL:
		if (!value)
			return;
		rd_buf_add(&e.text, t->text + v->text, v->text_length);
		break;
	default: return;
	}
	RD_GROW(edits->items, edits->capacity, edits->count + 1);
	edits->items[edits->count++] = e;
}

/* Sorts changes from the end of the input backwards, so that earlier offsets stay valid.  Of two
 * changes at the same offset, the one with the longer slot comes first and wins. */
static int by_place(const void *x, const void *y)
{
	const struct slot_edit *a = x, *b = y;

	return a->offset != b->offset ? (a->offset < b->offset ? 1 : -1)
				      : (a->length < b->length) - (a->length > b->length);
}

static void apply_slots(struct slot_edits *edits, struct rd_buf *data)
{
	uint64_t before = UINT64_MAX; /* all bytes from this offset on are already written */

	if (edits->count)
		qsort(edits->items, edits->count, sizeof *edits->items, by_place);
	for (size_t i = 0; i < edits->count; i++) {
		struct slot_edit *e = &edits->items[i];
		struct rd_buf now = RD_BUF_INIT;

		if (e->offset <= data->length && e->offset + e->length <= before) {
			size_t end =
				e->offset + e->length < data->length ? e->offset + e->length : data->length;

			rd_buf_add(&now, data->data ? data->data : "", e->offset);
			rd_buf_add(&now, e->text.data ? e->text.data : "", e->text.length);
			rd_buf_add(&now, (data->data ? data->data : "") + end, data->length - end);
			rd_buf_release(data);
			*data = now;
			before = e->offset;
		}
		rd_buf_release(&e->text);
	}
	free(edits->items);
}

static bool is_changed(const struct raddle_shadow_var *v, uint64_t value)
{
	return (value & raddle_expr_mask(v->bits)) != (v->value & raddle_expr_mask(v->bits));
}

/* Changes the bytes of one input.  Returns false if nothing has changed. */
static bool change(const struct sym_trace *t, uint32_t input, const uint64_t *values, struct rd_buf *data)
{
	RD_ASSERT(input < t->input_count);
	struct slot_edits edits = {0};
	bool changed = false;

	for (size_t i = 0; i < t->var_count; i++) {
		const struct raddle_shadow_var *v = &t->vars[i];

		if (v->input != input || !is_changed(v, values[i]))
			continue;
		changed = true;
		if (v->sort == RADDLE_VAR_BYTE && v->offset < data->length)
			data->data[v->offset] = (char)values[i];
	}
	for (size_t i = 0; i < t->var_count; i++)
		if (t->vars[i].input == input && is_changed(&t->vars[i], values[i]))
			add_slot(t, &t->vars[i], values[i], data, &edits);
	apply_slots(&edits, data);
	return changed;
}

int sym_input_make(const struct sym_trace *t, const uint64_t *values, const struct rd_override *base,
		   sym_content_fn *content, void *context, struct rd_override *out)
{
	rd_override_copy(out, base);
	for (uint32_t i = 0; i < t->input_count; i++) {
		struct rd_override_part part = sym_trace_part(t, i);
		struct rd_buf data = RD_BUF_INIT;

		if (content(context, &part)) {
			rd_buf_add(&data, part.data ? part.data : "", part.length);
			free(part.data);
			part.data = NULL;
			if (change(t, i, values, &data)) {
				part.data = data.data;
				part.length = data.length;
				rd_override_set(out, &part);
			}
		}
		rd_buf_release(&data);
		free(part.name);
	}
	return RD_OK;
}
