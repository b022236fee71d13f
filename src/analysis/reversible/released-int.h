/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large blocks of memory that were released, each with the thread that released it, until the
 * memory is reused.  They make it possible to notice a later use of any byte of the block, although
 * only the touched bytes are marked when the block is released.
 */
#ifndef REVERSIBLE_RELEASED_INT_H
#define REVERSIBLE_RELEASED_INT_H

#include "epa/extent.h"
#include "reversible/shadow.h"

struct rev_released {
	struct epa_extents extents;
	/* By number of the extent; size 0 for memory in a released block that is in use again. */
	struct rev_touch *list;
	size_t capacity;
	bool any;
};

void rev_released_init(struct rev_released *r);
void rev_released_free(struct rev_released *r);

void rev_released_add(struct rev_released *r, const struct rev_touch *release);

/* Begins a new lifetime of a range.  A released block that overlaps it only partly is forgotten as
 * a whole. */
void rev_released_clear(struct rev_released *r, uint64_t address, uint64_t size);

/* Returns the release of the byte, or NULL if it was not released or is in use again. */
const struct rev_touch *rev_released_find(struct rev_released *r, uint64_t address);

#endif
