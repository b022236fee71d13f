// SPDX-License-Identifier: Apache-2.0
/*
 * Lists in each slot the locks that the thread holds.  In: operations that took or released a lock.
 * Out: `held` of the slot, which the replayer reads to find deadlocks.
 */
#include "rt/common/bug.h"
#include "rt/core/io/channel.h"
#include "rt/steer/turn-int.h"

#include <errno.h>

#define ROBUST_BIT 16 /* a bit of `__kind`, the same since glibc 2.25 */

static void hold_lock(struct rt_thread *t, uint64_t entry)
{
	struct rt_steered *d = rt_steered(t);
	struct raddle_slot *slot = d->slot;

	if (!slot)
		return;
	for (uint32_t i = 0; i < d->listed && i < RADDLE_SLOT_HELD; i++)
		if (atomic_load(&slot->held[i]) == entry) {
			d->depth[i]++;
			return;
		}
	if (d->listed < RADDLE_SLOT_HELD) {
		RT_ASSERT(entry & ~1ull);
		d->depth[d->listed] = 1;
		atomic_store_explicit(&slot->held[d->listed], entry, memory_order_release);
	}
	atomic_store_explicit(&slot->held_count, ++d->listed, memory_order_release);
}

static uint32_t find_lock(const struct raddle_slot *slot, uintptr_t object)
{
	uint32_t count = atomic_load(&slot->held_count);

	for (uint32_t i = count < RADDLE_SLOT_HELD ? count : RADDLE_SLOT_HELD; i-- > 0;)
		if ((atomic_load(&slot->held[i]) & ~1ull) == object)
			return i;
	return UINT32_MAX;
}

static void drop_lock(struct rt_thread *t, uint32_t i)
{
	struct rt_steered *d = rt_steered(t);

	RT_ASSERT(i < RADDLE_SLOT_HELD && rt_steered(t)->depth[i] > 0);
	if (--d->depth[i] != 0)
		return;
	atomic_store_explicit(&d->slot->held[i], 0, memory_order_release);
	if (d->listed > RADDLE_SLOT_HELD)
		return;
	while (d->listed > 0 && atomic_load(&d->slot->held[d->listed - 1]) == 0)
		d->listed--;
	atomic_store_explicit(&d->slot->held_count, d->listed, memory_order_release);
}

/* Finds the lock in the list of any thread.  A mutex may be unlocked by a thread that did not lock
 * it. */
static _Atomic uint64_t *find_foreign(uintptr_t object)
{
	struct raddle_slot *slots = raddle_steer_slots(rt_steer());
	uint32_t count = atomic_load(&rt_steer()->slot_count);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t k = find_lock(&slots[i], object);
		if (k != UINT32_MAX)
			return &slots[i].held[k];
	}
	return NULL;
}

static bool is_robust(uint32_t kind, uintptr_t object)
{
	const pthread_mutex_t *mutex = (const pthread_mutex_t *)object;

	return raddle_class(kind) == RADDLE_CLASS_MUTEX && mutex->__data.__kind & ROBUST_BIT;
}

bool rt_comes_back(uint32_t kind, uintptr_t object)
{
	const struct raddle_slot *slots = raddle_steer_slots(rt_steer());
	uint32_t count = atomic_load(&rt_steer()->slot_count);

	if (!is_robust(kind, object))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (atomic_load(&slots[i].state) == RADDLE_SLOT_ENDED &&
		    find_lock(&slots[i], object) != UINT32_MAX)
			return true;
	return false;
}

static bool takes_lock(uint32_t kind)
{
	return raddle_is_lock(kind) && raddle_takes(kind);
}

static bool takes_shared(uint32_t kind)
{
	return raddle_role(kind) == RADDLE_ROLE_SHARE;
}

void rt_acquired(struct rt_thread *t, uint32_t kind, uintptr_t object, uint64_t result)
{
	bool taken = result == 0 || result == EOWNERDEAD;

	if (object == RT_CHANNEL_OUTSIDE)
		rt_expect_looks(t);
	rt_refuse_note(t, kind, object, taken);
	if (!taken)
		return;
	if (is_robust(kind, object))
		rt_context_refuse(RADDLE_UNFIT_ROBUST);
	if (takes_lock(kind))
		hold_lock(t, object | takes_shared(kind));
}

/* A robust mutex that a thread still holds passes to the next owner when the thread ends. */
void rt_leave_locks(struct rt_thread *t)
{
	const struct raddle_slot *slot = rt_steered(t)->slot;

	if (!slot || rt_steered(t)->listed > RADDLE_SLOT_HELD)
		RT_NOTIFY(abandons, t, RT_NONE);
	for (uint32_t i = 0; slot && i < rt_steered(t)->listed && i < RADDLE_SLOT_HELD; i++)
		if (atomic_load(&slot->held[i]))
			RT_NOTIFY(abandons, t, atomic_load(&slot->held[i]) & ~1ull);
}

/* Finds the entry of the lock before it is released, because another thread may hold it
 * afterwards. */
struct rt_lost rt_releasing(struct rt_thread *t, uintptr_t object)
{
	struct rt_lost lost = {UINT32_MAX, NULL};

	if (rt_steered(t)->slot)
		lost.own = find_lock(rt_steered(t)->slot, object);
	if (lost.own == UINT32_MAX)
		lost.foreign = find_foreign(object);
	return lost;
}

bool rt_is_read_lock(const struct rt_thread *t, const struct rt_lost *lost)
{
	return lost->own != UINT32_MAX && atomic_load(&rt_steered(t)->slot->held[lost->own]) & 1;
}

void rt_released(struct rt_thread *t, const struct rt_lost *lost, uint64_t result)
{
	if (result != 0)
		return;
	if (lost->own != UINT32_MAX)
		drop_lock(t, lost->own);
	else if (lost->foreign)
		atomic_store(lost->foreign, 0);
	else if (rt_steered(t)->listed > RADDLE_SLOT_HELD)
		atomic_store(&rt_steered(t)->slot->held_count, --rt_steered(t)->listed);
}
