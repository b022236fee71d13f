/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of one kind by object and thread: for each object, the threads that have such events on
 * it, and those events in program order.
 */
#ifndef ORDER_SLOTS_H
#define ORDER_SLOTS_H

#include "order/section.h"

struct slot {
	uint32_t thread, begin, end; /* item[begin..end) */
};

struct slots {
	uint32_t *first; /* of an object; first[object + 1] ends it */
	struct slot *slot;
	uint32_t *item;	 /* events */
	uint32_t *index; /* their indices in the thread, for binary search */
};

/* An event of the kind. */
struct slot_item {
	uint32_t event, object, thread, index;
};

/* Returns event number i, counted thread by thread in program order; false: the event is of another
 * kind. */
typedef bool slots_fn(const void *context, uint32_t i, struct slot_item *item);

/* `count`: events of all kinds. */
void slots_build(struct slots *s, uint32_t objects, uint32_t count, slots_fn *fn, const void *context);
void slots_release(struct slots *s);

/* Number of items of `slot` whose index is below `position`. */
uint32_t slots_below(const struct slots *s, const struct slot *slot, uint32_t position);

/* The last item of `slot` below `position`, or NONE. */
static inline uint32_t slots_last(const struct slots *s, const struct slot *slot, uint32_t position)
{
	uint32_t n = slots_below(s, slot, position);

	return n ? s->item[slot->begin + n - 1] : NONE;
}

/* How many threads have events of the kind on the object. */
static inline uint32_t slots_threads(const struct slots *s, uint32_t object)
{
	return s->first[object + 1] - s->first[object];
}

#endif
