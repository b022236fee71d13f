// SPDX-License-Identifier: Apache-2.0
/*
 * Vector clocks that grow as more lanes (thread indexes, rt/detect/watch.h) are added.  A clock
 * belongs to a thread, or to an object whose lock protects it.
 */
#include "rt/detect/clock.h"

#include "rt/common/bug.h"

#define FIRST 8 /* the number of lanes of a new clock, which fill a cache line */

static bool make_room(struct rt_arena *a, struct rt_clock *c, uint32_t count)
{
	uint32_t capacity = c->capacity ? c->capacity : FIRST;
	uint64_t *bigger, *old = c->at;
	uint32_t old_capacity = c->capacity;

	RT_ASSERT(c->count <= c->capacity);
	if (count <= c->capacity)
		return true;
	while (capacity < count)
		capacity *= 2;
	bigger = rt_arena_get(a, capacity * sizeof *bigger);
	if (!bigger)
		return false;
	if (c->count)
		__builtin_memcpy(bigger, old, c->count * sizeof *bigger);
	c->at = bigger;
	c->capacity = capacity;
	rt_arena_put(a, old, old_capacity * sizeof *old);
	return true;
}

enum rt_joined rt_clock_join(struct rt_arena *a, struct rt_clock *into, const struct rt_clock *from)
{
	uint64_t news = 0;

	if (!make_room(a, into, from->count))
		return RT_JOINED_FAILED;
	if (into->count < from->count) {
		__builtin_memset(into->at + into->count, 0, (from->count - into->count) * sizeof *into->at);
		into->count = from->count;
	}
	for (uint32_t i = 0; i < from->count; i++) {
		uint64_t mine = into->at[i], other = from->at[i];
		news |= other > mine;
		into->at[i] = other > mine ? other : mine;
	}
	return news ? RT_JOINED_NEWS : RT_JOINED_NOTHING;
}

bool rt_clock_copy(struct rt_arena *a, struct rt_clock *into, const struct rt_clock *from)
{
	if (!make_room(a, into, from->count))
		return false;
	if (from->count)
		__builtin_memcpy(into->at, from->at, from->count * sizeof *into->at);
	into->count = from->count;
	return true;
}

bool rt_clock_set(struct rt_arena *a, struct rt_clock *c, uint32_t lane, uint64_t epoch)
{
	if (!make_room(a, c, lane + 1))
		return false;
	if (c->count <= lane) {
		__builtin_memset(c->at + c->count, 0, (lane + 1 - c->count) * sizeof *c->at);
		c->count = lane + 1;
	}
	RT_ASSERT(c->at[lane] <= epoch);
	c->at[lane] = epoch;
	return true;
}

void rt_clock_release(struct rt_arena *a, struct rt_clock *c)
{
	rt_arena_put(a, c->at, c->capacity * sizeof *c->at);
	*c = (struct rt_clock){0};
}
