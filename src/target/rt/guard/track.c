// SPDX-License-Identifier: Apache-2.0
/*
 * Who is behind which tracked access.  In: operations that order threads.  Out: masks of threads.
 *
 * An object remembers what those knew who released it: `any` what all of them did, `writers` what those did
 * who did not only hold it for reading.  A thread that acquires it learns that.  The table is small, since it
 * has to hold the objects of some milliseconds; when it is full, everybody may have learnt everything.
 *
 * Nothing here knows of tasks or time, and test/unit/u-rt-guard.c compares it with vector clocks.
 */
#include "rt/guard/guard.h"

enum { OBJECTS = 8192, PROBES = 64 };

struct object {
	uintptr_t address; /* 0: free */
	struct guard_mask any, writers;
};

static struct object objects[OBJECTS];
static uint32_t used[OBJECTS], used_count;
static struct guard_mask overflow;

static struct object *find(uintptr_t address, bool add)
{
	uint32_t at = (uint32_t)((address >> 2) * 0x9E3779B97F4A7C15ull >> 40);

	for (uint32_t i = 0; i < PROBES; i++) {
		struct object *o = &objects[(at + i) % OBJECTS];

		if (o->address == address)
			return o;
		if (o->address)
			continue;
		if (!add || used_count == OBJECTS / 2)
			return NULL;
		used[used_count++] = (uint32_t)(o - objects);
		o->address = address;
		return o;
	}
	return NULL;
}

void guard_track_acquire(struct guard_thread *t, uintptr_t address, enum guard_way way)
{
	const struct object *o = find(address, false);
	struct guard_mask learnt = {0, overflow.maybe};

	if (o && way == GUARD_WEAK)
		learnt.maybe |= o->any.maybe;
	else if (o)
		guard_mask_add(&learnt, way == GUARD_SHARED ? o->writers : o->any);
	guard_mask_add(&t->mask, learnt);
}

static void publish(const struct guard_mask *mask, uintptr_t address, enum guard_way way)
{
	struct object *o;

	if (!mask->maybe)
		return;
	o = find(address, true);
	if (!o) {
		overflow.maybe |= mask->maybe;
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
	const struct object *o = find(address, false);
	struct guard_mask all = {0, overflow.maybe};

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
	drop(&overflow, bits);
	for (uint32_t i = 0; i < used_count; i++) {
		drop(&objects[used[i]].any, bits);
		drop(&objects[used[i]].writers, bits);
		rest |= objects[used[i]].any.maybe;
	}
	if (rest)
		return;
	for (uint32_t i = 0; i < used_count; i++)
		objects[used[i]].address = 0;
	used_count = 0;
}
