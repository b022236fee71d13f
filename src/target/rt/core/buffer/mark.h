/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks the bytes that a thread has accessed since its last operation, that is, in the current
 * segment (raddle/abi.h).  The flavour `record` records only the first access to a byte in a
 * segment.  The flavour `led`, which leads a thread to the n-th access of a site, also counts only
 * first accesses.  So a schedule means the same in both flavours.
 */
#ifndef RT_CORE_MARK_H
#define RT_CORE_MARK_H

#include "rt/core/rt.h"

/* Forgets all marks.  When the epoch wraps around, old tags could match again, so the table is
 * cleared. */
static inline void rt_new_segment(struct rt_thread *t)
{
	t->self.epoch += 1ull << RADDLE_EPOCH_SHIFT;
	if (RT_UNLIKELY(t->self.epoch == 0)) {
		rt_clear_blocks(t);
		t->self.epoch = 1ull << RADDLE_EPOCH_SHIFT;
	}
}

/* The largest object, in bytes, whose blocks are visited one by one.  That costs about as much as
 * clearing the object's memory.  For a larger object it is cheaper to drop all marks, although
 * accesses to other memory are then recorded again. */
#define RT_UNMARK_MAX (2u << 20)

/* Forgets the marks of memory that has become a new object.  So the first accesses to it are
 * recorded, even if the thread has accessed an earlier object in the same place. */
static inline void rt_unmark(struct rt_thread *t, uintptr_t address, size_t size)
{
	uintptr_t last = (address + size - 1) >> RADDLE_BLOCK_SHIFT;

	if (!size || t->busy)
		return;
	if (size > RT_UNMARK_MAX) {
		rt_new_segment(t);
		return;
	}
	for (uintptr_t block = address >> RADDLE_BLOCK_SHIFT; block <= last; block++) {
		struct raddle_block *b = &t->self.blocks[RADDLE_BLOCK_INDEX(block << RADDLE_BLOCK_SHIFT)];
		if (b->tag == (block | t->self.epoch))
			b->tag = 0;
	}
}

_Static_assert(RADDLE_BLOCK_WORDS == 1, "a block has one word of each kind");

/* Marks bytes of one block; returns those that were not marked before. */
static inline __attribute__((always_inline)) uint64_t rt_mark(struct raddle_self *self, uintptr_t a,
							      uint64_t bits, bool write)
{
	struct raddle_block *b = &self->blocks[RADDLE_BLOCK_INDEX(a)];
	uint64_t tag = a >> RADDLE_BLOCK_SHIFT | self->epoch, seen;

	if (b->tag != tag) {
		b->tag = tag;
		b->seen[0] = bits;
		/* Forces the compiler to make two stores.  Hooks load each half separately, and
		 * such a load would stall after one store of the whole vector. */
		__asm__("" : "+r"(bits));
		b->written[0] = write ? bits : 0;
		return bits;
	}
	seen = b->seen[0];
	b->seen[0] = seen | bits;
	__asm__("" : "+r"(bits));
	if (write)
		b->written[0] |= bits;
	return ~seen & bits;
}

static inline uint64_t rt_bits_of(uintptr_t address, uint32_t size)
{
	return ((1ull << size) - 1) << address % 64;
}

#endif
