// SPDX-License-Identifier: Apache-2.0
/* Keeps released blocks, and the memory inside them that is in use again.  Both are nested ranges,
 * and the smallest range around an address applies. */
#include "reversible/released-int.h"

#include "base/alloc.h"

#include <stdlib.h>

void rev_released_init(struct rev_released *r)
{
	*r = (struct rev_released){0};
	epa_extents_init(&r->extents);
}

void rev_released_free(struct rev_released *r)
{
	epa_extents_release(&r->extents);
	free(r->list);
}

static void put(struct rev_released *r, const struct rev_touch *t, uint64_t address, uint64_t size)
{
	uint32_t n = epa_extents_add(&r->extents, address, size);

	RD_GROW(r->list, r->capacity, (size_t)n + 1);
	r->list[n] = *t;
	r->any = true;
}

void rev_released_add(struct rev_released *r, const struct rev_touch *release)
{
	put(r, release, release->address, release->size);
}

void rev_released_clear(struct rev_released *r, uint64_t address, uint64_t size)
{
	uint32_t next;
	bool meets;

	if (!r->any || !size)
		return;
	next = epa_extents_after(&r->extents, address);
	meets = epa_extents_find(&r->extents, address, 0) ||
		(next && r->extents.list[next].start - address < size);
	if (meets)
		put(r, &(struct rev_touch){0}, address, size);
}

const struct rev_touch *rev_released_find(struct rev_released *r, uint64_t address)
{
	uint32_t n = r->any ? epa_extents_find(&r->extents, address, 0) : 0;

	return n && r->list[n].size ? &r->list[n] : NULL;
}
