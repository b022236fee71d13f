// SPDX-License-Identifier: Apache-2.0
/*
 * Sorts events by object and thread, with a counting sort.  Because the events come thread by
 * thread, the items of each object are grouped by thread and in program order.
 */
#include "order/slots.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"

#include <stdlib.h>

/* Cuts the items of each object where the thread changes.  `thread` has the thread of each item. */
static void cut(struct slots *s, uint32_t objects, const uint32_t *thread)
{
	size_t count = 0, capacity = 0;
	uint32_t *first = rd_xmalloc(((size_t)objects + 1) * sizeof *first);

	for (uint32_t o = 0; o < objects; o++) {
		first[o] = (uint32_t)count;
		for (uint32_t i = s->first[o]; i < s->first[o + 1]; i++) {
			if (i == s->first[o] || s->slot[count - 1].thread != thread[i]) {
				RD_GROW(s->slot, capacity, count + 1);
				s->slot[count++] = (struct slot){thread[i], i, i};
			}
			s->slot[count - 1].end = i + 1;
		}
	}
	first[objects] = (uint32_t)count;
	free(s->first);
	s->first = first;
}

void slots_build(struct slots *s, uint32_t objects, uint32_t count, slots_fn *fn, const void *context)
{
	struct slot_item *items = NULL;
	size_t total = 0, capacity = 0;
	uint32_t *thread;

	*s = (struct slots){.first = rd_xcalloc((size_t)objects + 2, sizeof *s->first)};
	for (uint32_t i = 0; i < count; i++) {
		if (total == capacity)
			RD_GROW(items, capacity, total + 1);
		if (!fn(context, i, &items[total]))
			continue;
		RD_ASSERT(items[total].object < objects);
		RD_ASSERT(!total || items[total - 1].thread <= items[total].thread);
		s->first[items[total++].object + 2]++;
	}
	for (uint32_t o = 1; o < objects + 2; o++)
		s->first[o] += s->first[o - 1];
	s->item = rd_xmalloc((total + 1) * sizeof *s->item);
	s->index = rd_xmalloc((total + 1) * sizeof *s->index);
	thread = rd_xmalloc((total + 1) * sizeof *thread);
	for (size_t i = 0; i < total; i++) {
		uint32_t at = s->first[items[i].object + 1]++;

		s->item[at] = items[i].event;
		s->index[at] = items[i].index;
		thread[at] = items[i].thread;
	}
	free(items);
	cut(s, objects, thread);
	free(thread);
}

void slots_release(struct slots *s)
{
	RD_FREE(s->first, s->slot, s->item, s->index);
	*s = (struct slots){0};
}

uint32_t slots_below(const struct slots *s, const struct slot *slot, uint32_t position)
{
	return (uint32_t)rd_lower_bound(s->index, slot->begin, slot->end, position) - slot->begin;
}
