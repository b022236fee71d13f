/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks of the first accesses of a segment (raddle/abi.h): which bytes a thread has accessed since
 * its last operation.  The flavour `record` records only these first accesses.  `led` counts only
 * these when it leads a thread to one of them, so that a schedule means the same in both.
 */
#ifndef RT_CORE_MARK_H
#define RT_CORE_MARK_H

#include "rt/core/rt.h"

/* Forgets all marks.  When the epoch has gone round, old tags could match again:
 * they are cleared. */
static inline void rt_new_segment(struct rt_thread *t)
{
	t->self.epoch += 1ull << RADDLE_EPOCH_SHIFT;
	if (RT_UNLIKELY(t->self.epoch == 0)) {
		rt_clear_blocks(t);
		t->self.epoch = 1ull << RADDLE_EPOCH_SHIFT;
	}
}

_Static_assert(RADDLE_BLOCK_WORDS == 1, "a block has one word of each kind");

/* Marks bytes of one block; those of them that had not been seen. */
static inline __attribute__((always_inline)) uint64_t rt_mark(struct raddle_self *self, uintptr_t a,
							      uint64_t bits, bool write)
{
	struct raddle_block *b = &self->blocks[RADDLE_BLOCK_INDEX(a)];
	uint64_t tag = a >> RADDLE_BLOCK_SHIFT | self->epoch, seen;

	if (b->tag != tag) {
		b->tag = tag;
		b->seen[0] = bits;
		/* Two stores: hooks load each half, and a load of half a vector waits. */
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
