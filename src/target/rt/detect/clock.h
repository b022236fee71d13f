/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector clocks.  A clock contains the last known epoch of each thread.  The index of a thread in
 * a clock is called its lane (rt/detect/watch.h).  Lanes beyond the end of a clock have epoch 0.
 */
#ifndef RT_CLOCK_H
#define RT_CLOCK_H

#include "rt/detect/arena.h"

struct rt_clock {
	uint64_t *at;
	uint32_t count, capacity;
};

static inline uint64_t rt_clock_at(const struct rt_clock *c, uint32_t lane)
{
	return lane < c->count ? c->at[lane] : 0;
}

enum rt_joined { RT_JOINED_NOTHING, RT_JOINED_NEWS, RT_JOINED_FAILED };

/* Adds the epochs of `from` to `into`: each lane gets the higher epoch. */
enum rt_joined rt_clock_join(struct rt_arena *a, struct rt_clock *into, const struct rt_clock *from);

/* These return false if there is no memory; then the clock is unchanged. */
bool rt_clock_copy(struct rt_arena *a, struct rt_clock *into, const struct rt_clock *from);
bool rt_clock_set(struct rt_arena *a, struct rt_clock *c, uint32_t lane, uint64_t epoch);

void rt_clock_release(struct rt_arena *a, struct rt_clock *c);

#endif
