/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large blocks of memory that were released, and by which thread, until the memory is reused.  With
 * these a later use of any byte is noticed, but a release costs only as much as marking those bytes
 * of the block that were touched.
 */
#ifndef REVERSIBLE_RELEASED_INT_H
#define REVERSIBLE_RELEASED_INT_H

#include "epa/extent.h"
#include "reversible/shadow.h"

struct rev_released {
	struct epa_extents extents;
	struct rev_touch
		*list; /* by number of the extent; size 0: memory in use again inside a released block */
	size_t capacity;
	bool any;
};

void rev_released_init(struct rev_released *r);
void rev_released_free(struct rev_released *r);

void rev_released_add(struct rev_released *r, const struct rev_touch *release);

/* A new lifetime begins there.  A block that overlaps it only partly is forgotten as a whole. */
void rev_released_clear(struct rev_released *r, uint64_t address, uint64_t size);

/* The release of the byte; NULL if it was not released or is in use again. */
const struct rev_touch *rev_released_find(struct rev_released *r, uint64_t address);

#endif
