/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines the place at an offset in an object.  Elements of an array are merged, so an offset
 * into an array becomes the offset into its first element.  Adding a variable number of array
 * elements therefore does not change the place.  If any other variable is added to an address, the
 * place may be anywhere in the object.
 */
#include "ir/points.h"

static int64_t fold(const struct ir_points_object *o, int64_t offset)
{
	for (uint32_t i = 0; i < o->range_count; i++) {
		const struct ir_range *r = &o->ranges[i];
		if (offset >= r->start && offset < r->end)
			offset = r->start + (offset - r->start) % r->element;
	}
	return offset;
}

bool ir_object_place(const struct ir_points_object *o, int64_t offset, int64_t *place)
{
	if (offset < 0 || (o->size >= 0 && offset > o->size))
		return false;
	/* A pointer may point to the end of the object and then step back. */
	*place = o->size > 0 && offset == o->size ? IR_ANYWHERE : fold(o, offset);
	return true;
}

/* Returns the array around `at` whose element size divides the stride, or NULL if there is none. */
static const struct ir_range *array_at(const struct ir_points_object *o, int64_t at, int64_t stride)
{
	for (uint32_t i = 0; i < o->range_count; i++) {
		const struct ir_range *r = &o->ranges[i];
		if (at >= r->start && at < r->end && stride % r->element == 0)
			return r;
	}
	return NULL;
}

bool ir_object_step(const struct ir_points_object *o, int64_t from, const struct ir_constraint *step,
		    int64_t *place)
{
	*place = IR_ANYWHERE;
	if (from == IR_ANYWHERE || step->stride == IR_ANYWHERE)
		return true;
	if (step->stride == 0)
		return ir_object_place(o, from + step->offset, place);
	/* In a[i - 1].f, the constant part of the address may be outside the array.  The variable
	 * part brings it back. */
	const struct ir_range *r = array_at(o, from, step->stride);
	if (r != NULL) {
		int64_t inside = (from - r->start + step->offset) % r->element;
		*place = fold(o, r->start + inside + (inside < 0 ? r->element : 0));
		return true;
	}
	/* In s->array[i], the constant part of the address is the start of the array. */
	if (ir_object_place(o, from + step->offset, place) && *place != IR_ANYWHERE &&
	    array_at(o, *place, step->stride) != NULL)
		return true;
	*place = IR_ANYWHERE;
	return true;
}

bool ir_points_fits(const struct ir_points_call *c, const struct ir_points_function *f)
{
	return c->signature == 0 || f->signature == 0 || c->signature == f->signature;
}

int64_t ir_common_divisor(int64_t a, int64_t b)
{
	while (b != 0) {
		int64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}
