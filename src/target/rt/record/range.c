// SPDX-License-Identifier: Apache-2.0
/*
 * Records ranges of bytes that are accessed by one call, and forgets the marks of memory.  In: an
 * address and a size.  Out: a RANGE record, if a byte of the range is new in the segment.
 */
#include "rt/common/bug.h"
#include "rt/record/access.h"

/* The size of the largest range whose bytes are marked.  A larger range is always recorded. */
#define RANGE_MARK_MAX (RADDLE_BLOCKS / 4 * RADDLE_BLOCK_BYTES)

/* What was marked in a range before this access.  MET_ALL: every byte was already marked.
 * MET_NONE: no byte was marked as seen.  MET_SOME: anything else. */
enum met { MET_ALL, MET_NONE, MET_SOME };

static inline bool in_block(uintptr_t a, uint64_t size)
{
	return size - 1 < 64 - a % 64; /* false if the range is empty */
}

/* Like rt_is_marked(), but the bytes may be in two blocks.  Returns false if some bytes are not
 * marked, or if the range is longer than a block. */
static inline __attribute__((always_inline)) bool is_marked_range(const struct raddle_self *self, uintptr_t a,
								  uint64_t size, bool write)
{
	uint64_t first = 64 - a % 64;

	if (RT_LIKELY(in_block(a, size)))
		return rt_is_marked(self, a, size, write);
	return size - 1 < 64 && rt_is_marked(self, a, first, write) &&
	       rt_is_marked(self, a + first, size - first, write);
}

/* Marks bytes of one block. */
static inline __attribute__((always_inline)) enum met mark_block(struct raddle_self *self, uintptr_t a,
								 uint64_t size, bool write)
{
	uint64_t bits = ~0ull >> (64 - size) << a % 64;

	if (rt_is_marked(self, a, size, write))
		return MET_ALL;
	return rt_mark(self, a, bits, write) == bits ? MET_NONE : MET_SOME;
}

static __attribute__((noinline)) enum met mark_blocks(struct raddle_self *self, uintptr_t a, uint64_t size,
						      bool write)
{
	uintptr_t end = a + size, next = (a | 63) + 1;
	enum met met;

	RT_ASSERT(size > 0);
	if (size > RANGE_MARK_MAX)
		return MET_SOME;
	for (met = mark_block(self, a, next - a, write); next < end; next += 64)
		if (mark_block(self, next, end - next < 64 ? end - next : 64, write) != met)
			met = MET_SOME;
	return met;
}

/* Marks all bytes of a range, unless it is too large. */
static inline enum met mark_range(struct raddle_self *self, uintptr_t a, uint64_t size, bool write)
{
	return RT_LIKELY(in_block(a, size)) ? mark_block(self, a, size, write)
					    : mark_blocks(self, a, size, write);
}

/* Gathers the accesses to those blocks that contain a byte that was not marked. */
static void gather_range(struct rt_thread *t, uintptr_t a, uint64_t size, uint64_t sites, bool write)
{
	for (uintptr_t end = a + size, stop; a < end; a = stop) {
		const struct raddle_block *b = &t->self.blocks[RADDLE_BLOCK_INDEX(a)];
		uint64_t bits, has = write ? b->written[0] : b->seen[0];
		stop = (a | 63) + 1 < end ? (a | 63) + 1 : end;
		bits = stop - a == 64 ? ~0ull : ((1ull << (stop - a)) - 1) << a % 64;
		if (b->tag == (a >> RADDLE_BLOCK_SHIFT | t->self.epoch) && (has & bits) == bits)
			continue;
		rt_mark(&t->self, a, bits, write);
		rt_gather_access(t, (a & ~63ull) | (write ? RT_GATHER_WRITE : 0), sites, bits);
	}
}

#define GATHER_MAX 256 /* bytes; layers are notified of a larger range at once */

/* The encoder must be taken, and there must be room.  As with single accesses, a range may be moved
 * before other records only if all its bytes are new. */
static inline void append_range(struct rt_thread *t, const void *p, uint32_t site, uint64_t size,
				enum met met)
{
	t->cursor = rt_put_range_run(&t->encoder, t->cursor, site, (uintptr_t)p, size,
				     met == MET_NONE ? t->encoder.floor : t->cursor);
	t->events++;
	rt_recorder_publish(t);
}

static RT_COLD void emit_range(struct rt_thread *t, const void *p, uint32_t site, uint64_t size)
{
	rt_emit(t, &(struct rt_record){
			   .code = RADDLE_RANGE, .site = site, .count = 2, .operand = {(uintptr_t)p, size}});
}

/* Handles a range that layers must be notified of, or one that is accessed by a thread without a
 * state. */
static RT_COLD void listened_range(struct raddle_self *self, const void *p, uint32_t site, uint64_t size,
				   bool write)
{
	struct rt_thread *t = rt_current(self);
	bool written = true;
	enum met met;

	if (!t || !size)
		return;
	if (t->busy) {
		emit_range(t, p, site, size);
	} else if (size <= GATHER_MAX && rt_is_gathered(&t->self)) {
		rt_recorder_take(t);
		gather_range(t, (uintptr_t)p, size, (uint64_t)site << 32, write);
		rt_recorder_leave(t);
		return;
	} else {
		rt_recorder_take(t);
		met = mark_range(&t->self, (uintptr_t)p, size, write);
		written = met != MET_ALL && (rt_unread() || rt_recorder_ready(t));
		if (written && !rt_unread())
			append_range(t, p, site, size, met);
		rt_recorder_leave(t);
	}
	if (written && t->recording == RT_LISTENED)
		rt_notify_access(t, (uintptr_t)p, size, site, write);
}

#define THIN_RANGE_MAX 256 /* bytes; a longer range is never left out */

/* Returns true if a range at a hot place is not new. */
static inline bool is_quiet_range(const struct rt_thread *t, const struct rt_place *p, uintptr_t a,
				  uint64_t size, bool write)
{
	uintptr_t end = a + size;

	if (size > THIN_RANGE_MAX)
		return false;
	for (; a < end; a = (a | (RADDLE_BLOCK_BYTES - 1)) + 1)
		if (!rt_thin_is_quiet(t, a, write) || rt_is_sampled(p, a))
			return false;
	return true;
}

/* Handles a range that is recorded although the run is thinned. */
static RT_COLD void note_thin_range(struct rt_thread *t, uintptr_t a, uint32_t site, uint64_t size,
				    bool write)
{
	if (!t->places)
		rt_thin_begin_places(t);
	rt_thin_touch_range(t, a, size, write, !rt_hot_place(t, site));
	if (rt_recorder_ready(t))
		rt_thin_record_at(t, site);
}

/* Returns true if the range must be recorded.  The encoder must be taken. */
static inline bool thin_range(struct rt_thread *t, uintptr_t a, uint32_t site, uint64_t size, bool write)
{
	struct rt_place *p = rt_hot_place(t, site);

	if (RT_LIKELY(p && t->buffer && is_quiet_range(t, p, a, size, write))) {
		rt_leave_out(t, p);
		return false;
	}
	note_thin_range(t, a, site, size, write);
	return true;
}

static __attribute__((noinline)) void range(struct raddle_self *self, const void *p, uint32_t site,
					    uint64_t size, bool write)
{
	struct rt_thread *t = (struct rt_thread *)self;
	enum met met;

	if (RT_UNLIKELY(self == &rt_placeholder) || t->recording != RT_PLAIN || !size) {
		listened_range(self, p, site, size, write);
		return;
	}
	if (RT_UNLIKELY(t->busy)) {
		emit_range(t, p, site, size);
		return;
	}
	rt_recorder_take(t);
	met = mark_range(self, (uintptr_t)p, size, write);
	if (RT_UNLIKELY(rt_guard.alive == RT_THIN) && met != MET_ALL &&
	    !thin_range(t, (uintptr_t)p, site, size, write))
		met = MET_ALL;
	if (met != MET_ALL && rt_recorder_ready(t))
		append_range(t, p, site, size, met);
	rt_recorder_leave(t);
}

__attribute__((visibility("default"))) void __raddle_read_range(struct raddle_self *self, const void *p,
								uint32_t site, uint64_t size)
{
	if (!is_marked_range(self, (uintptr_t)p, size, false))
		range(self, p, site, size, false);
}

__attribute__((visibility("default"))) void __raddle_write_range(struct raddle_self *self, const void *p,
								 uint32_t site, uint64_t size)
{
	if (!is_marked_range(self, (uintptr_t)p, size, true))
		range(self, p, site, size, true);
}

void *rt_fresh(void *p, size_t known)
{
	(void)known;
	return p;
}

void rt_forget(struct rt_thread *t, uintptr_t address, size_t size)
{
	rt_unmark(t, address, size);
}
