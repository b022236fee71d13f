// SPDX-License-Identifier: Apache-2.0
/*
 * Determines which threads are ordered after which tracked access.  In: operations that order
 * threads.  Out: masks of threads.
 *
 * An object stores the masks of the threads that released it.  `any` combines the masks of all of
 * them, and `writers` only the masks of threads that held the object exclusively.  A thread that
 * acquires the object adds these masks to its own.  The table is small, since it contains the
 * objects of a few milliseconds.  When it is full, every thread is treated as possibly ordered
 * after everything.
 *
 * This file is independent of tasks and time; test/unit/u-rt-guard.c compares it with vector
 * clocks.
 */
#include "rt/guard/guard.h"

/* The maximum number of entries that a search examines; most searches need only a few. */
enum { PROBES = 64 };

struct guard_tables guard_tables;

static struct guard_object *find(uintptr_t address, bool add)
{
	uint32_t at = (uint32_t)((address >> 2) * 0x9E3779B97F4A7C15ull >> 40);

	for (uint32_t i = 0; i < PROBES; i++) {
		struct guard_object *o = &guard_tables.objects[(at + i) % GUARD_OBJECTS];

		if (o->address == address)
			return o;
		if (o->address)
			continue;
		if (!add || guard_tables.used_count == GUARD_OBJECTS / 2)
			return NULL;
		guard_tables.used[guard_tables.used_count++] = (uint32_t)(o - guard_tables.objects);
		o->address = address;
		return o;
	}
	return NULL;
}

void guard_track_acquire(struct guard_thread *t, uintptr_t address, enum guard_way way)
{
	const struct guard_object *o = find(address, false);
	struct guard_mask learnt = {0, guard_tables.overflow.maybe};

	if (o && way == GUARD_WEAK)
		learnt.maybe |= o->any.maybe;
	else if (o)
		guard_mask_add(&learnt, way == GUARD_SHARED ? o->writers : o->any);
	guard_mask_add(&t->mask, learnt);
}

static void publish(const struct guard_mask *mask, uintptr_t address, enum guard_way way)
{
	struct guard_object *o;

	if (!mask->maybe)
		return;
	o = find(address, true);
	if (!o) {
		guard_tables.overflow.maybe |= mask->maybe;
		return;
	}
	if (way == GUARD_WEAK) {
		o->any.maybe |= mask->maybe;
		o->writers.maybe |= mask->maybe;
		return;
	}
	guard_mask_add(&o->any, *mask);
	if (way == GUARD_EXCLUSIVE)
		guard_mask_add(&o->writers, *mask);
}

void guard_track_release(struct guard_thread *t, uintptr_t address, enum guard_way way)
{
	publish(&t->mask, address, way);
}

void guard_track_publish(const struct guard_mask *mask, uintptr_t address)
{
	publish(mask, address, GUARD_EXCLUSIVE);
}

struct guard_mask guard_track_of(uintptr_t address)
{
	const struct guard_object *o = find(address, false);
	struct guard_mask all = {0, guard_tables.overflow.maybe};

	if (o)
		guard_mask_add(&all, o->any);
	return all;
}

static void drop(struct guard_mask *mask, uint32_t bits)
{
	mask->sure &= ~bits;
	mask->maybe &= ~bits;
}

void guard_track_forget(uint32_t bits)
{
	uint32_t rest = 0;

	for (struct guard_thread *t = guard.threads; t; t = t->next) {
		drop(&t->mask, bits);
		drop(&t->fence, bits);
		drop(&t->pending, bits);
		if (t->adopted)
			t->mask.maybe = UINT32_MAX;
		else
			rest |= t->mask.maybe;
	}
	drop(&guard_tables.overflow, bits);
	for (uint32_t i = 0; i < guard_tables.used_count; i++) {
		drop(&guard_tables.objects[guard_tables.used[i]].any, bits);
		drop(&guard_tables.objects[guard_tables.used[i]].writers, bits);
		rest |= guard_tables.objects[guard_tables.used[i]].any.maybe;
	}
	if (rest)
		return;
	for (uint32_t i = 0; i < guard_tables.used_count; i++)
		guard_tables.objects[guard_tables.used[i]].address = 0;
	guard_tables.used_count = 0;
}
