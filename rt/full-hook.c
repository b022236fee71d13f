/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hooks of the flavour `full` that are inlined into instrumented code; bitcode
 * only.  include/raddle/full.h explains pieces and faults.
 *
 * Rules: no calls but the rare ones, no loops, no libc.
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

#define VALUE(name, type)                                                                                    \
	INLINE type __raddle_value##name(struct raddle_self *self, uint32_t site, type v);                   \
	INLINE type __raddle_value##name(struct raddle_self *self, uint32_t site, type v)                    \
	{                                                                                                    \
		if (LIKELY(self->target != site))                                                            \
			return v;                                                                            \
		return (type)__raddle_inject(self, site, (uint64_t)v, sizeof v * 8);                         \
	}
VALUE(8, uint8_t)
VALUE(16, uint16_t)
VALUE(32, uint32_t)
VALUE(64, uint64_t)
VALUE(_pointer, void *)
#undef VALUE

INLINE _Bool __raddle_value_bool(struct raddle_self *self, uint32_t site, _Bool v);
INLINE _Bool __raddle_value_bool(struct raddle_self *self, uint32_t site, _Bool v)
{
	if (LIKELY(self->target != site))
		return v;
	return __raddle_inject(self, site, v, 1) & 1;
}

INLINE float __raddle_value_float(struct raddle_self *self, uint32_t site, float v);
INLINE float __raddle_value_float(struct raddle_self *self, uint32_t site, float v)
{
	union {
		float value;
		uint32_t bits;
	} u = {v};

	if (LIKELY(self->target != site))
		return v;
	u.bits = (uint32_t)__raddle_inject(self, site, u.bits, 32);
	return u.value;
}

INLINE double __raddle_value_double(struct raddle_self *self, uint32_t site, double v);
INLINE double __raddle_value_double(struct raddle_self *self, uint32_t site, double v)
{
	union {
		double value;
		uint64_t bits;
	} u = {v};

	if (LIKELY(self->target != site))
		return v;
	u.bits = __raddle_inject(self, site, u.bits, 64);
	return u.value;
}

INLINE void *__raddle_callee(struct raddle_self *self, uint32_t site, void *callee);
INLINE void *__raddle_callee(struct raddle_self *self, uint32_t site, void *callee)
{
	if (LIKELY(self->target != site))
		return callee;
	return __raddle_inject_call(self, site, callee);
}
