/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside rt/steer/: what happens to the ledger of a thread (rt/steer/spin.c) at its operations and
 * accesses.  These functions are inline, because they are called millions of times in a run.
 */
#ifndef RT_STEER_LEDGER_INT_H
#define RT_STEER_LEDGER_INT_H

#include "rt/steer/steer-int.h"

/* Called when the thread has seen something new, and so may do something that others wait for.
 * From then on, all other threads must check again before it is certain that all of them spin. */
static inline void rt_spin_news(struct rt_thread *t)
{
	if (rt_steered(t)->slot)
		rt_steered(t)->slot->spins = 0;
	rt_steering()->turns.news++;
	if (RT_UNLIKELY(rt_steered(t)->quiet)) {
		rt_steered(t)->quiet--;
		return;
	}
	rt_steering()->entries.clock.work++;
	rt_steered(t)->work++;
}

/* Called at a new operation: the thread has left its loop. */
static inline void rt_spin_reset(struct rt_thread *t)
{
	struct rt_spin *s = &rt_steered(t)->spin;

	if (RT_UNLIKELY(s->notified))
		rt_spin_complete(t);
	s->count = s->steady = s->yields = 0;
	s->fresh = rt_takes_turns() ? RT_SPIN_FRESH : 0;
}

/* Called before each access.  The first accesses after an operation count as new. */
static inline void rt_spin_see(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site,
			       uint32_t how)
{
	struct rt_spin *s = &rt_steered(t)->spin;

	if (RT_LIKELY(s->fresh && !t->busy)) {
		s->fresh--;
		rt_spin_news(t);
	} else {
		rt_spin_touch(t, address, size, site, how);
	}
}

#endif
