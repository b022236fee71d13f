/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes accesses as fast as the hooks require.  Writes the same bytes as rt_put_access() and
 * rt_put_run() of rt/core/buffer/encode.h, but with few branches if the access is near the
 * previous one.
 */
#ifndef RT_RECORD_PUT_H
#define RT_RECORD_PUT_H

#include "rt/record/recorder.h"

/* Spreads a number below 2^28 so that each group of seven bits gets a byte of its own. */
static inline __attribute__((always_inline)) uint32_t rt_spread_sevens(uint32_t v)
{
	return (v & 0x7f) | (v & 0x3f80) << 1 | (v & 0x1fc000) << 2 | (v & 0xfe00000) << 3;
}

/* These functions write varints without a branch, because the lengths of addresses vary from one
 * access to the next.  The first is for numbers below 2^28, and the second for numbers below 2^56.
 * Both may write bytes after the varint, which later records overwrite. */
static inline __attribute__((always_inline)) uint8_t *rt_put_four(uint8_t *p, uint32_t v)
{
	uint32_t more = (uint32_t)(31 - __builtin_clz(v | 1)) * 37 >> 8; /* bytes after the first: log2 / 7 */
	uint32_t bytes = rt_spread_sevens(v) | (0x80808080u & ((1u << 8 * more) - 1));

	memcpy(p, &bytes, sizeof bytes);
	return p + more + 1;
}

static inline __attribute__((always_inline)) uint8_t *rt_put_eight(uint8_t *p, uint64_t v)
{
	uint32_t more = (uint32_t)(63 - __builtin_clzll(v | 1)) * 37 >> 8;
	uint64_t bytes = rt_spread_sevens((uint32_t)v & 0xfffffff) |
			 (uint64_t)rt_spread_sevens((uint32_t)(v >> 28)) << 32;

	bytes |= 0x8080808080808080u & ((1ull << 8 * more) - 1);
	memcpy(p, &bytes, sizeof bytes);
	return p + more + 1;
}

/* Writes the difference of two addresses, which may have any size. */
static inline uint8_t *rt_put_far_delta(uint8_t *p, uint64_t *previous, uint64_t value)
{
	uint64_t z = rt_zigzag(value - *previous);

	*previous = value;
	return RT_LIKELY(z < 1ull << 56) ? rt_put_eight(p, z) : rt_put_varint(p, z);
}

/* Writes the first part of an access, which is its site.  `z` is the encoded difference from the
 * previous site. */
static inline __attribute__((always_inline)) uint8_t *rt_put_site(uint8_t *p, uint32_t z)
{
	if (z < RADDLE_ACCESS_ESCAPE) {
		*p = (uint8_t)(RADDLE_ACCESS_FLAG | z);
		return p + 1;
	}
	p[0] = RADDLE_ACCESS_FLAG | RADDLE_ACCESS_ESCAPE;
	p[1] = (uint8_t)(z | 0x80);
	p[2] = (uint8_t)(z >> 7);
	return p + 3;
}

static inline __attribute__((always_inline)) void rt_note_single(struct rt_encoder *e, struct rt_slot *slot,
								 uint8_t *p, uint32_t site, uint64_t address)
{
	e->site = site;
	slot->by = address - slot->address;
	slot->address = address;
	slot->at = p;
	slot->site = site;
	slot->left = 0;
}

static inline uint32_t rt_site_distance(const struct rt_encoder *e, uint32_t site)
{
	int32_t by = (int32_t)(site - (uint32_t)e->site);

	return (uint32_t)by << 1 ^ (uint32_t)(by >> 31);
}

/* The rare cases of rt_put_near(). */
RT_COLD_KEEPS uint8_t *rt_put_far(struct rt_encoder *e, uint8_t *p, uint32_t site, uint64_t address);
__attribute__((noinline, preserve_most)) uint8_t *rt_put_run_apart(struct rt_encoder *e, uint8_t *p,
								   uint32_t site, uint64_t address);

/* Does the same as rt_put_access() or rt_put_run().  For use in the hooks, it has few branches for
 * near accesses, and needs few registers. */
static inline __attribute__((always_inline)) uint8_t *
rt_put_near(struct rt_encoder *e, uint8_t *p, uint32_t site, uint64_t address, const uint8_t *floor)
{
	struct rt_slot *slot = &e->slot[site % RADDLE_SITE_SLOTS];
	uint32_t z = rt_site_distance(e, site);
	uint64_t d = rt_zigzag(address - slot->address);

	if (rt_is_run(slot, site, address, floor)) {
		if (RT_UNLIKELY(!slot->left))
			return rt_put_run_apart(e, p, site, address);
		slot->address = address;
		slot->left--;
		++*slot->at;
		return p;
	}
	if (RT_UNLIKELY(z >= 1u << 14 || d >= 1u << 28))
		return rt_put_far(e, p, site, address);
	rt_note_single(e, slot, p, site, address);
	return rt_put_four(rt_put_site(p, z), (uint32_t)d);
}

#endif
