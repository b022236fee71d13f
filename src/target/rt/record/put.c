// SPDX-License-Identifier: Apache-2.0
/*
 * Encodes accesses that are far from the previous one, and the start of runs (rt/record/put.h).
 * In: a site and an address.  Out: bytes of a record.
 */
#include "rt/record/put.h"

RT_COLD_KEEPS uint8_t *rt_put_far(struct rt_encoder *e, uint8_t *p, uint32_t site, uint64_t address)
{
	struct rt_slot *slot = &e->slot[site % RADDLE_SITE_SLOTS];
	uint64_t d = rt_zigzag(address - slot->address);
	uint32_t z = rt_site_distance(e, site);

	if (z >= 1u << 14 || d >= 1ull << 56)
		return rt_put_access(e, p, site, address);
	rt_note_single(e, slot, p, site, address);
	return rt_put_eight(rt_put_site(p, z), d);
}

__attribute__((noinline, preserve_most)) uint8_t *rt_put_run_apart(struct rt_encoder *e, uint8_t *p,
								   uint32_t site, uint64_t address)
{
	return rt_put_run(e, p, site, address);
}
