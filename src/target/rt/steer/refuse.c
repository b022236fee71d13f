// SPDX-License-Identifier: Apache-2.0
/*
 * Refusals: threads that try to take a lock, fail, and therefore do not reach their goal.  In:
 * attempts to take locks.  Out: a certificate, `refusal` in raddle/steer.h.
 *
 * A goal lies after a certain operation of its thread.  A thread that tries a lock repeatedly
 * begins an operation each time, and so gets past that operation.  A thread that tries once takes
 * another path after the failure.  If the lock's owner itself is stopped at a goal, then in both
 * cases the owner kept the thread from its goal.
 */
#include "rt/steer/steer-int.h"

#define NAP_MS 20 /* milliseconds between two checks */
/* Maximum number of naps for which the process waits until the replayer knows the name of the lock.
 * Only a safety net: the replayer looks 50 times a second, but a busy machine may delay it. */
#define KNOWN_NAPS 3000

/* Returns the slot of a thread that is stopped at a goal and holds the lock, or NONE. */
static uint32_t find_owner(uintptr_t object)
{
	for (uint32_t i = 0; i < rt_slot_count(); i++) {
		const struct raddle_slot *slot = rt_slot_at(i);
		uint32_t count = atomic_load(&slot->held_count);

		if (atomic_load(&slot->state) != RADDLE_SLOT_GOAL)
			continue;
		for (uint32_t k = 0; count && k < RADDLE_SLOT_HELD; k++)
			if ((atomic_load(&slot->held[k]) & ~1ull) == object)
				return i;
	}
	return RADDLE_STEER_NONE;
}

void rt_refuse_certify(const struct rt_thread *t)
{
	const struct rt_refused *r = &rt_steered(t)->refused;
	uint32_t owner;

	if (!r->kind || !rt_takes_turns())
		return;
	owner = find_owner(r->object);
	if (owner == RADDLE_STEER_NONE)
		return;
	rt_steer()->refusal = (struct raddle_steer_refusal){
		.slot = t->number, .owner = owner, .kind = r->kind, .site = r->site, .object = r->object};
}

void rt_refuse_note(struct rt_thread *t, uint32_t kind, uintptr_t object, bool taken)
{
	struct rt_refused *r = &rt_steered(t)->refused;

	if (!taken && raddle_manner(kind) == RADDLE_MANNER_TRY && raddle_is_lock(kind))
		*r = (struct rt_refused){object, kind, rt_call_site(t)};
	else if (taken && r->object == object)
		*r = (struct rt_refused){0};
}

/* Keeps the process alive until the replayer has looked up the name of the lock, unless the
 * replayer has ended.  If that fails, only the name is missing in the report. */
void rt_refuse_exit(void)
{
	struct raddle_steer_refusal *refusal = &rt_steer()->refusal;

	for (uint32_t naps = 0; naps < KNOWN_NAPS && refusal->kind && !atomic_load(&refusal->known) &&
				!rt_steer_is_deserted(naps);
	     naps++)
		rt_futex_wait(&refusal->known, 0, NAP_MS);
}
