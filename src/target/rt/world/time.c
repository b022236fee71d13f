// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps the times that a thread may know.  In: operations that order threads.  Out: for each
 * thread, the latest times that it, or any thread ordered before it, has read.
 *
 * A clock must not run backwards for a thread that could notice it.  For instance, if a thread
 * takes a lock after another thread has released it, the thread must not read an earlier time than
 * the other one did.  Threads that are not ordered cannot notice it.  They get the times of the
 * recorded run, whichever of them runs first.  So threads read the same times in both orders of a
 * race.
 *
 * A release stores the thread's times in a table without keys.  If two objects share an entry, a
 * thread may later read a later time than necessary.
 */
#include "rt/common/hash.h"
#include "rt/core/layer.h"
#include "rt/world/world.h"

enum { PLACES = 4096 }; /* number of entries in the table */

bool rt_time_setup(void)
{
	rt_giving()->left = rt_map(PLACES * RADDLE_SOURCES * sizeof *rt_giving()->left);
	return rt_giving()->left != NULL;
}

static _Atomic uint64_t *place_of(uint64_t object)
{
	uint64_t h = rt_hash(object);

	return &rt_giving()->left[(h >> 40) % PLACES * RADDLE_SOURCES];
}

static void leave(const struct rt_thread *t, uint64_t object)
{
	_Atomic uint64_t *place = place_of(object);

	for (uint32_t i = 0; i < RADDLE_SOURCES; i++) {
		uint64_t there = atomic_load_explicit(&place[i], memory_order_relaxed);

		while (there < rt_replayed(t)->known[i] &&
		       !atomic_compare_exchange_weak(&place[i], &there, rt_replayed(t)->known[i]))
			;
	}
}

static void learn(struct rt_thread *t, uint64_t object)
{
	_Atomic uint64_t *place = place_of(object);

	for (uint32_t i = 0; i < RADDLE_SOURCES; i++) {
		uint64_t there = atomic_load_explicit(&place[i], memory_order_relaxed);

		if (there > rt_replayed(t)->known[i])
			rt_replayed(t)->known[i] = there;
	}
}

/* Converts the number of a thread to a value that no object has as its address. */
static uint64_t object_of(uint32_t number)
{
	return number | 1ull << 63;
}

void rt_time_ends(struct rt_thread *t)
{
	leave(t, object_of(t->number));
}

void rt_time_created(struct rt_thread *parent, struct rt_thread *child)
{
	__builtin_memcpy(rt_replayed(child)->known, rt_replayed(parent)->known,
			 sizeof rt_replayed(child)->known);
}

void rt_time_joined(struct rt_thread *t, uint32_t number)
{
	if (number != UINT32_MAX)
		learn(t, object_of(number));
}

void rt_time_releasing(struct rt_op *op, uint32_t kind, uintptr_t object)
{
	(void)kind;
	leave(op->t, object);
}

void rt_time_acquired(struct rt_thread *t, uint32_t kind, uintptr_t object, uint64_t result)
{
	(void)kind;
	if (!result)
		learn(t, object);
}

void rt_time_atomic(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how)
{
	(void)size;
	(void)site;
	learn(t, address);
	if (how & RT_ACCESS_WRITE)
		leave(t, address);
}
