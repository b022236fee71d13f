// SPDX-License-Identifier: Apache-2.0
/*
 * Records two adjacent accesses that are tested by one hook.  In: the address of the first access,
 * and both sites.  Out: for each access, the same as in rt/record/access.c.  In a thinned run, both
 * may be left out together.
 */
#include "rt/record/access.h"

/* The places of one of the two accesses.  For an update, they are the places of the read and of the
 * write; otherwise, both are the same. */
struct half {
	struct rt_place *first, *last;
};

static inline __attribute__((always_inline)) bool find_half(const struct rt_thread *t, struct half *h,
							    uint64_t sites, bool update)
{
	h->first = h->last = rt_hot_place(t, (uint32_t)sites);
	if (update)
		h->last = rt_hot_place(t, (uint32_t)(sites >> 32));
	return h->first && h->last;
}

static inline bool was_half_here(const struct rt_thread *t, const struct half *h, uintptr_t address)
{
	return rt_was_left_out_here(t, h->first, address) && rt_was_left_out_here(t, h->last, address);
}

static inline bool is_sampled_half(const struct half *h, uintptr_t address)
{
	return rt_is_sampled(h->first, address) || rt_is_sampled(h->last, address);
}

/* Leaves out one of the two accesses, unless all its bytes were already marked.  The read of an
 * update is counted only if some of its bytes were not yet marked as seen. */
static inline __attribute__((always_inline)) void leave_half_out(struct rt_thread *t, const struct half *h,
								 uintptr_t address, uint64_t unmarked,
								 uint64_t unseen)
{
	if (!unmarked)
		return;
	if (h->first != h->last && unseen)
		rt_leave_out_at(t, h->first, address);
	rt_leave_out_at(t, h->last, address);
}

/* Marks and counts both accesses, with the encoder taken. */
static inline __attribute__((always_inline)) void
leave_halves_out(struct rt_thread *t, const struct half *h, uintptr_t address, uint32_t size, bool write)
{
	const struct raddle_block *b = &t->self.blocks[RADDLE_BLOCK_INDEX(address)];
	bool mine = b->tag == (address >> RADDLE_BLOCK_SHIFT | t->self.epoch);
	uint64_t low = rt_bits_of(address, size), high = low << size;
	uint64_t unseen = mine ? ~b->seen[0] : ~0ull, unmarked = mine && write ? ~b->written[0] : unseen;

	rt_mark(&t->self, address, low | high, write);
	leave_half_out(t, &h[0], address, unmarked & low, unseen & low);
	leave_half_out(t, &h[1], address, unmarked & high, unseen & high);
}

/* In a thinned run, most accesses are left out.  This function leaves out two at once, as
 * is_left_out() and is_update_left_out() of rt/record/access.c would do one by one.  Returns false
 * if each access must be examined on its own. */
static inline __attribute__((always_inline)) bool leave_two_out(struct raddle_self *self, uintptr_t address,
								const uint64_t sites[2], uint32_t size,
								bool write, bool update)
{
	struct rt_thread *t = (struct rt_thread *)self;
	struct half h[2];

	if (!rt_is_thin(self) || address % 64 + 2 * size > 64 || !t->buffer ||
	    !find_half(t, &h[0], sites[0], update) || !find_half(t, &h[1], sites[1], update))
		return false;
	if (!(was_half_here(t, &h[0], address) && was_half_here(t, &h[1], address)) &&
	    (!rt_thin_is_quiet(t, address, write) || is_sampled_half(&h[0], address) ||
	     is_sampled_half(&h[1], address)))
		return false;
	rt_recorder_take(t);
	leave_halves_out(t, h, address, size, write);
	rt_recorder_leave(t);
	return true;
}

static RT_COLD_KEEPS void each_of_two(struct raddle_self *self, uintptr_t address, uint64_t sites,
				      uint32_t size, bool write)
{
	for (int i = 0; i < 2; i++, address += size, sites >>= 32) {
		if (rt_is_marked(self, address, size, write))
			continue;
		if (write)
			rt_new_write(self, address, (uint32_t)sites, size);
		else
			rt_new_read(self, address, (uint32_t)sites, size);
	}
}

static RT_COLD_KEEPS void each_of_two_updates(struct raddle_self *self, uintptr_t address,
					      const uint64_t sites[2], uint32_t size)
{
	for (int i = 0; i < 2; i++, address += size)
		if (!rt_is_marked(self, address, size, true))
			rt_new_update(self, address, sites[i], size);
}

__attribute__((visibility("default"))) RADDLE_COLD void
__raddle_first_two_reads(struct raddle_self *self, uintptr_t address, uint64_t sites, uint32_t size)
{
	if (!leave_two_out(self, address, (uint64_t[]){sites, sites >> 32}, size, false, false))
		each_of_two(self, address, sites, size, false);
}

__attribute__((visibility("default"))) RADDLE_COLD void
__raddle_first_two_writes(struct raddle_self *self, uintptr_t address, uint64_t sites, uint32_t size)
{
	if (!leave_two_out(self, address, (uint64_t[]){sites, sites >> 32}, size, true, false))
		each_of_two(self, address, sites, size, true);
}

__attribute__((visibility("default"))) RADDLE_COLD void
__raddle_first_two_updates(struct raddle_self *self, uintptr_t address, uint64_t first, uint64_t second,
			   uint32_t size)
{
	uint64_t sites[] = {first, second};

	if (!leave_two_out(self, address, sites, size, true, true))
		each_of_two_updates(self, address, sites, size);
}
