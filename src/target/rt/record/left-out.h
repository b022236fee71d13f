/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In a thinned run, accesses at frequently executed places are left out (rt/record/thin.h).  These
 * functions find the place of an access, and count the accesses that are left out.  They are
 * inline because most accesses of a long run end here.
 */
#ifndef RT_RECORD_LEFT_OUT_H
#define RT_RECORD_LEFT_OUT_H

#include "rt/record/recorder.h"
#include "rt/record/thin.h"

/* Called at the thread's first access after thinning began (rt/record/thin.c).  If no memory is
 * available, all places of the thread stay cold, and none of its accesses is left out. */
RT_COLD_KEEPS void rt_thin_begin_places(struct rt_thread *t);

/* Called when a record of the place is about to be appended.  The buffer must have room for one
 * more record. */
void rt_thin_record_at(struct rt_thread *t, uint32_t site);

static inline __attribute__((always_inline)) struct rt_place *rt_hot_place(const struct rt_thread *t,
									   uint32_t site)
{
	struct rt_place *places = t->places ? t->places : rt_thin.nowhere, *p = places + rt_place_index(site);

	if (RT_LIKELY(p->heat == (RT_PLACE_HOT | site)))
		return p;
	p = places + rt_place_other(site);
	return p->heat == (RT_PLACE_HOT | site) ? p : NULL;
}

/* Counts an access that is left out.  Called with the encoder taken. */
static inline __attribute__((always_inline)) void rt_leave_out(struct rt_thread *t, struct rt_place *p)
{
	if (p->step != t->steps) {
		p->step = t->steps;
		p->left = 0;
	}
	p->left++;
	t->buffer->left_out++;
}

/* Like rt_leave_out(), but also stores the block for rt_was_left_out_here(). */
static inline __attribute__((always_inline)) void rt_leave_out_at(struct rt_thread *t, struct rt_place *p,
								  uintptr_t address)
{
	rt_leave_out(t, p);
	p->tag = address >> RADDLE_BLOCK_SHIFT | t->self.epoch;
}

/* Returns true if the last access of the place was left out, was in the block of memory that
 * contains `address`, and was made after the last operation.  Then the new access is left out too.
 * In a loop over memory, most accesses are in the same block as the access before. */
static inline __attribute__((always_inline)) bool
rt_was_left_out_here(const struct rt_thread *t, const struct rt_place *p, uintptr_t address)
{
	return p->tag == (address >> RADDLE_BLOCK_SHIFT | t->self.epoch) && p->step == t->steps;
}

#endif
