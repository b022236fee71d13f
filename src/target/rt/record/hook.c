/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hooks that are inlined into instrumented code.  This file is compiled twice: to optimised
 * bitcode and to an object of the runtime.  Code of the mode `fast` inlines all hooks from the
 * bitcode.  Code of the mode `quick` inlines only hooks without a branch.  It calls the access
 * hooks in the runtime, because inlining them would take most of the build time.  raddle/abi.h
 * explains the first access test and the shadow stack.
 *
 * Rules: no calls except the RADDLE_COLD ones, no loops, no libc.
 */
#include "raddle/abi.h"

#define INLINE __attribute__((always_inline, visibility("default")))
#define HOOK INLINE void
#define LIKELY(x) __builtin_expect(!!(x), 1)

/* Returns true if the bits of all `size` bytes from `a` on are set.  `size` is a power of two up to
 * 16, and `a` is a multiple of `size` or of its half.  So the bits are usually in one word of the
 * bitmap.  If some are not, the result is false. */
static inline __attribute__((always_inline)) int all_set(const uint64_t *bits, uintptr_t a, uint32_t size)
{
	uint64_t mask = (1ull << size) - 1;
	return (~(bits[(a / 64) % RADDLE_BLOCK_WORDS] >> (a % 64)) & mask) == 0;
}

/* Returns true if the thread has accessed (or, if `write` is set, written) all these bytes since
 * its segment began. */
static inline __attribute__((always_inline)) int is_noted(const struct raddle_self *self, uintptr_t a,
							  uint32_t size, int write)
{
	const struct raddle_block *b = &self->blocks[RADDLE_BLOCK_INDEX(a)];

	return LIKELY(b->tag == ((a >> RADDLE_BLOCK_SHIFT) | self->epoch) &&
		      all_set(write ? b->written : b->seen, a, size));
}

static inline __attribute__((always_inline)) void read_hook(struct raddle_self *self, const void *p,
							    uint32_t site, uint32_t size)
{
	if (!is_noted(self, (uintptr_t)p, size, 0))
		__raddle_first_read(self, (uintptr_t)p, site, size);
}

static inline __attribute__((always_inline)) void write_hook(struct raddle_self *self, const void *p,
							     uint32_t site, uint32_t size)
{
	if (!is_noted(self, (uintptr_t)p, size, 1))
		__raddle_first_write(self, (uintptr_t)p, site, size);
}

/* A read and then a write of the same bytes. */
static inline __attribute__((always_inline)) void update_hook(struct raddle_self *self, const void *p,
							      uint32_t sites[2], uint32_t size)
{
	if (!is_noted(self, (uintptr_t)p, size, 1))
		__raddle_first_update(self, (uintptr_t)p, (uint64_t)sites[1] << 32 | sites[0], size);
}

#define HOOKS(size)                                                                                          \
	HOOK __raddle_read##size(struct raddle_self *s, const void *p, uint32_t site)                        \
	{                                                                                                    \
		read_hook(s, p, site, size);                                                                 \
	}                                                                                                    \
	HOOK __raddle_write##size(struct raddle_self *s, const void *p, uint32_t site)                       \
	{                                                                                                    \
		write_hook(s, p, site, size);                                                                \
	}                                                                                                    \
	HOOK __raddle_update##size(struct raddle_self *s, const void *p, uint32_t read, uint32_t write)      \
	{                                                                                                    \
		update_hook(s, p, (uint32_t[]){read, write}, size);                                          \
	}
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)
#undef HOOKS

/* These hooks make one test for two adjacent accesses of `size` bytes each.  If the second access
 * is in the next block, the test fails, so the runtime is called and tests each access. */
HOOK __raddle_read_two(struct raddle_self *self, const void *p, uint64_t sites, uint32_t size)
{
	if (!is_noted(self, (uintptr_t)p, 2 * size, 0))
		__raddle_first_two_reads(self, (uintptr_t)p, sites, size);
}

HOOK __raddle_write_two(struct raddle_self *self, const void *p, uint64_t sites, uint32_t size)
{
	if (!is_noted(self, (uintptr_t)p, 2 * size, 1))
		__raddle_first_two_writes(self, (uintptr_t)p, sites, size);
}

HOOK __raddle_update_two(struct raddle_self *self, const void *p, uint64_t first, uint64_t second,
			 uint32_t size)
{
	if (!is_noted(self, (uintptr_t)p, 2 * size, 1))
		__raddle_first_two_updates(self, (uintptr_t)p, first, second, size);
}

/* These hooks are called on entry to a function.  They return the thread's state and its stack
 * pointer. */
INLINE struct raddle_self *__raddle_enter(void)
{
	return __raddle_self;
}
INLINE uint32_t *__raddle_stack(struct raddle_self *self)
{
	return self->stack_top;
}

/* The first hook runs before a call, the second after the call. */
HOOK __raddle_call(struct raddle_self *self, uint32_t *top, uint32_t site)
{
	top[0] = site;
	self->stack_top = top + 1;
}

HOOK __raddle_return(struct raddle_self *self, uint32_t *top)
{
	self->stack_top = top;
}
