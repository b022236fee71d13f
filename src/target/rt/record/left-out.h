/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the place of an access in a thinned run, and counts the accesses that are left out
 * (rt/record/thin.h).  The functions are inline because most accesses of a long run end here.
 */
#ifndef RT_RECORD_LEFT_OUT_H
#define RT_RECORD_LEFT_OUT_H

#include "rt/record/recorder.h"
#include "rt/record/thin.h"

/* rt/record/thin.c.  Called at the thread's first access after thinning began.  If there is no
 * memory, all places of the thread stay cold. */
RT_COLD_KEEPS void rt_thin_begin_places(struct rt_thread *t);

/* Called when a record of the place is about to be appended, and there is room for one more
 * record. */
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

/* Returns true if the last access of the place was left out, was in this block, and was made after
 * the last operation.  Then this access is left out too.  In a loop over memory, most accesses are
 * in the same block as the access before. */
static inline __attribute__((always_inline)) bool
rt_was_left_out_here(const struct rt_thread *t, const struct rt_place *p, uintptr_t address)
{
	return p->tag == (address >> RADDLE_BLOCK_SHIFT | t->self.epoch) && p->step == t->steps;
}

#endif
