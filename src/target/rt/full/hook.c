/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hooks of the flavour `full` that are inlined into instrumented code; bitcode only.
 * raddle/full.h explains pieces and faults.
 *
 * Rules: no calls except on rare paths, no loops, no libc.
 */
#include "raddle/full.h"

#define INLINE __attribute__((always_inline, visibility("default")))
#define LIKELY(x) __builtin_expect(!!(x), 1)

INLINE struct raddle_self *__raddle_enter(void)
{
	return __raddle_self;
}

INLINE void *__raddle_piece(struct raddle_self *self, uint32_t size)
{
	struct raddle_buffer *b = self->full;
	uint64_t used = raddle_full_reserve(b, size);

	if (LIKELY((uint32_t)used <= sizeof b->data - size))
		return b->data + (uint32_t)used;
	return __raddle_piece_room(self, b, size);
}

INLINE void __raddle_piece_end(void *piece)
{
	raddle_full_end(piece);
}
