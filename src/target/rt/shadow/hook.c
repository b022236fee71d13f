// SPDX-License-Identifier: Apache-2.0
/*
 * The hooks of the flavour `shadow` that are inlined into instrumented code; compiled to bitcode
 * only.  Each hook tests whether a value has an expression, that is, whether it is not concrete.
 * If so, the hook calls the runtime.  The flavour also uses the hooks of rt/record/hook.c.
 *
 * The rules of that file apply here too.
 */
#include "raddle/abi.h"
#include "raddle/shadow.h"

#ifdef RADDLE_BITCODE
#include "rt/record/hook.c"
#else
#define INLINE __attribute__((always_inline, visibility("default")))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#endif

#define SHADOWED(p) (((const uint8_t *)RADDLE_SHADOW_PAGES)[(uintptr_t)(p) >> RADDLE_SHADOW_PAGE_SHIFT])

INLINE uint32_t __raddle_sx_bin(uint32_t what, uint32_t ea, uint32_t eb, uint64_t a, uint64_t b)
{
	return LIKELY(!(ea | eb)) ? 0 : __raddle_shadow_bin(what, ea, eb, a, b);
}

INLINE uint32_t __raddle_sx_cast(uint32_t what, uint32_t e, uint32_t from)
{
	return LIKELY(!e) ? 0 : __raddle_shadow_cast(what, e, from);
}

/* Adds an index to an address.  `what` is size << 8 | bits, where `size` is the size of an element
 * in bytes and `bits` is the width of the index. */
INLINE uint32_t __raddle_sx_index(uint64_t what, uint32_t ea, uint32_t ei, uint64_t a, uint64_t i)
{
	return LIKELY(!(ea | ei)) ? 0 : __raddle_shadow_index(what, ea, ei, a, i);
}

/* `refs` is ea << 32 | eb, the expressions of a and b. */
INLINE uint32_t __raddle_sx_choose(uint32_t what, uint32_t ec, uint64_t refs, uint64_t a, uint64_t b)
{
	if (LIKELY(!ec))
		return (uint32_t)(what >> 31 ? refs >> 32 : refs);
	return __raddle_shadow_choose(what, ec, refs, a, b);
}

INLINE uint32_t __raddle_sx_load(const void *p, uint32_t size, uint32_t ea)
{
	return LIKELY(!(ea | SHADOWED(p))) ? 0 : __raddle_shadow_read(p, size, ea);
}

INLINE void __raddle_sx_store(void *p, uint32_t size, uint32_t e, uint32_t ea)
{
	if (LIKELY(!(e | ea | SHADOWED(p))))
		return;
	__raddle_shadow_write(p, size, e, ea);
}

/* Returns non-zero if the memory that a loop accesses may have expressions.  The loop accesses
 * `what & 0xff` bytes in each of `rounds` iterations, `by` bytes apart.  If the loop may end much
 * earlier (what >> 8 is not 0), examining a large extent would cost too much, so the result is
 * 1. */
INLINE uint32_t __raddle_sx_extent(const void *p, uint64_t rounds, int64_t by, uint32_t what)
{
	uint64_t way = (rounds - 1) * (uint64_t)(by < 0 ? -by : by), reach = way + (what & 0xff);
	uintptr_t low = (uintptr_t)p - (by < 0 ? way : 0);
	if (LIKELY(rounds <= 1 << RADDLE_SHADOW_PAGE_SHIFT && reach <= 1 << RADDLE_SHADOW_PAGE_SHIFT &&
		   !((low | (low + reach)) >> RADDLE_SHADOW_ADDRESS_BITS)))
		return SHADOWED(low) | SHADOWED(low + reach - 1);
	return what >> 8 ? 1 : __raddle_shadow_extent(p, rounds, by, what);
}

/* A load and a store in a loop; `flag` is set if any memory of the loop may have an expression. */
INLINE uint32_t __raddle_sx_load_in(const void *p, uint32_t size, uint32_t ea, _Bool flag)
{
	return flag ? __raddle_sx_load(p, size, ea) : 0;
}

INLINE void __raddle_sx_store_in(void *p, uint32_t size, uint32_t e, uint32_t ea, _Bool flag)
{
	if (flag)
		__raddle_sx_store(p, size, e, ea);
}

INLINE void __raddle_sx_branch(uint32_t site, uint32_t cond, uint32_t taken)
{
	if (LIKELY(!cond))
		return;
	__raddle_shadow_turn(site, cond, taken);
}

/* `what` is the number of cases << 8 | bits. */
INLINE void __raddle_sx_switch(uint32_t what, uint32_t site, uint32_t e, uint64_t v, const void *cases)
{
	if (LIKELY(!e))
		return;
	__raddle_shadow_cases(what, site, e, v, cases);
}

/* Called for the local variables of a function that begins; they take at most a page. */
INLINE void __raddle_sx_fresh(const void *p, uint64_t size)
{
	if (LIKELY(!(SHADOWED(p) | SHADOWED((const char *)p + size - 1))))
		return;
	__raddle_shadow_fresh(p, size);
}

INLINE uint32_t __raddle_sx_param(const void *function, uint32_t n)
{
	struct raddle_shadow_call *c = &__raddle_shadow_call;
	return LIKELY(c->callee != function) ? 0 : c->argument[n];
}

INLINE void __raddle_sx_entered(void)
{
	__raddle_shadow_call.callee = 0;
}

/* Called before a call.  Stores the callee, if any argument has an expression.  Then the code
 * stores the expressions of those arguments that may have one; all others are 0. */
INLINE void __raddle_sx_call(const void *function, uint32_t any, uint32_t count)
{
	struct raddle_shadow_call *c = &__raddle_shadow_call;
	c->from = 0;
	c->count = count;
	c->callee = LIKELY(!any) ? 0 : function;
}

INLINE void __raddle_sx_argument(uint32_t n, uint32_t e)
{
	__raddle_shadow_call.argument[n] = e;
}

INLINE uint32_t __raddle_sx_result(const void *function)
{
	struct raddle_shadow_call *c = &__raddle_shadow_call;
	return LIKELY(c->from != function) ? 0 : c->result;
}

INLINE void __raddle_sx_return(const void *function, uint32_t e)
{
	struct raddle_shadow_call *c = &__raddle_shadow_call;
	c->result = e;
	c->from = LIKELY(!e) ? 0 : function;
}
