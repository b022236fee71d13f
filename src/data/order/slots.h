/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index of the events of one kind, such as the writes to variables.  For each object, it lists
 * the threads with such events and, for each of these threads, the events in program order.
 */
#ifndef ORDER_SLOTS_H
#define ORDER_SLOTS_H

#include "order/section.h"

struct slot {
	uint32_t thread, begin, end; /* the events are item[begin] to item[end - 1] */
};

struct slots {
	uint32_t *first; /* the index of each object's first slot; first[object + 1] is the end */
	struct slot *slot;
	uint32_t *item; /* the events of all slots */
	/* For each item, the index of the event in its thread, for binary search. */
	uint32_t *index;
};

/* An event of the requested kind. */
struct slot_item {
	uint32_t event, object, thread, index;
};

/* Stores a description of event number i in *item.  Events are numbered thread by thread, in
 * program order.  Returns false if the event is not of the kind that is indexed. */
typedef bool slots_fn(const void *context, uint32_t i, struct slot_item *item);

/* Builds the table.  `count` is the number of events of all kinds. */
void slots_build(struct slots *s, uint32_t objects, uint32_t count, slots_fn *fn, const void *context);
void slots_release(struct slots *s);

/* Returns the number of items of `slot` whose index is below `position`. */
uint32_t slots_below(const struct slots *s, const struct slot *slot, uint32_t position);

/* Returns the last item of `slot` whose index is below `position`, or NONE if there is none. */
static inline uint32_t slots_last(const struct slots *s, const struct slot *slot, uint32_t position)
{
	uint32_t n = slots_below(s, slot, position);

	return n ? s->item[slot->begin + n - 1] : NONE;
}

/* Returns the number of threads that have events of the kind on the object. */
static inline uint32_t slots_threads(const struct slots *s, uint32_t object)
{
	return s->first[object + 1] - s->first[object];
}

#endif
