/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a first access is handled, for files that append accesses.
 */
#ifndef RT_RECORD_ACCESS_H
#define RT_RECORD_ACCESS_H

#include "rt/core/buffer/mark.h"
#include "rt/record/left-out.h"
#include "rt/record/recorder.h"

/*
 * A first access is handled in one of five ways:
 *   plain     no layer listens: the slow path of the hook records the access
 *   thin      no layer listens, and the run is thinned: the access may be left out
 *   gathered  layers listen, but nothing reads the records: layers are notified later
 *   listened  layers listen: the record is written, then they are notified and may stop the thread
 *   alone     the thread has no state yet, or runs a handler that interrupted the encoder
 */
static inline bool rt_is_plain(const struct raddle_self *self)
{
	return RT_LIKELY(self != &rt_placeholder) && RT_LIKELY(!((const struct rt_thread *)self)->busy) &&
	       RT_LIKELY(rt_guard.alive == RT_PLAIN);
}

static inline bool rt_is_thin(const struct raddle_self *self)
{
	return RT_LIKELY(rt_guard.alive == RT_THIN) && self != &rt_placeholder &&
	       RT_LIKELY(!((const struct rt_thread *)self)->busy) &&
	       RT_LIKELY(((const struct rt_thread *)self)->recording == RT_PLAIN);
}

static inline bool rt_is_listened(const struct raddle_self *self)
{
	const struct rt_thread *t = (const struct rt_thread *)self;

	return RT_LIKELY(self != &rt_placeholder && t->recording == RT_LISTENED && !t->busy);
}

static inline bool rt_is_gathered(const struct raddle_self *self)
{
	return rt_is_listened(self) && RT_LIKELY(rt_unread() && !((const struct rt_thread *)self)->each);
}

/* Gathers an access to a block that is not gathered yet. */
__attribute__((noinline, preserve_most)) void rt_gather_anew(struct rt_thread *t, uint64_t key,
							     uint64_t sites, uint64_t bits);

/* Called with the encoder taken. */
static inline __attribute__((always_inline)) void rt_gather_access(struct rt_thread *t, uint64_t key,
								   uint64_t sites, uint64_t bits)
{
	if (t->notified)
		atomic_store_explicit(t->notified,
				      atomic_load_explicit(t->notified, memory_order_relaxed) + 1,
				      memory_order_relaxed);
	if (t->gather && !rt_gather_more(t->gather, key, sites, bits))
		rt_gather_anew(t, key, sites, bits);
}

static inline void rt_notify_access(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site,
				    bool write)
{
	RT_NOTIFY(access, t, address, size, site, write ? RT_ACCESS_WRITE : RT_ACCESS_READ);
}

/* Returns true if these bytes of one block are already marked, so that nothing is left to do.  The
 * hooks make the same test. */
static inline __attribute__((always_inline)) bool rt_is_marked(const struct raddle_self *self, uintptr_t a,
							       uint64_t size, bool write)
{
	const struct raddle_block *b = &self->blocks[RADDLE_BLOCK_INDEX(a)];
	uint64_t bits = ~0ull >> (64 - size) << a % 64;

	return b->tag == (a >> RADDLE_BLOCK_SHIFT | self->epoch) &&
	       (~(write ? b->written[0] : b->seen[0]) & bits) == 0;
}

/* Returns the state of the thread, or NULL if the thread is not recorded.  The result may differ
 * from what the caller loaded on entry. */
static inline struct rt_thread *rt_current(struct raddle_self *self)
{
	if (RT_UNLIKELY(self == &rt_placeholder))
		return rt_self();
	return ((struct rt_thread *)self)->recording ? (struct rt_thread *)self : NULL;
}

/* __raddle_first_read() and similar functions, for calls inside the runtime, which bypass the
 * dynamic symbol table. */
RADDLE_COLD void rt_new_read(struct raddle_self *self, uintptr_t address, uint32_t site, uint32_t size);
RADDLE_COLD void rt_new_write(struct raddle_self *self, uintptr_t address, uint32_t site, uint32_t size);
RADDLE_COLD void rt_new_update(struct raddle_self *self, uintptr_t address, uint64_t sites, uint32_t size);

#endif
