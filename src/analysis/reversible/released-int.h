/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a list of large released blocks of memory, with the thread that released each block.  A
 * block stays in the list until its memory is reused.
 *
 * When such a block is released, the shadow memory is updated only for bytes that were touched
 * before.  The list shows that a later use of any other byte is a use of released memory.
 */
#ifndef REVERSIBLE_RELEASED_INT_H
#define REVERSIBLE_RELEASED_INT_H

#include "epa/extent.h"
#include "reversible/shadow.h"

struct rev_released {
	struct epa_extents extents;
	/* The release of each block, indexed by the number of the block's extent.  An entry of
	 * size 0 stands for a part of a released block that is in use again. */
	struct rev_touch *list;
	size_t capacity;
	bool any;
};

void rev_released_init(struct rev_released *r);
void rev_released_free(struct rev_released *r);

void rev_released_add(struct rev_released *r, const struct rev_touch *release);

/* Begins a new lifetime of a range of memory.  If a released block overlaps the range only partly,
 * the whole block is removed from the list. */
void rev_released_clear(struct rev_released *r, uint64_t address, uint64_t size);

/* Returns the release of the byte, or NULL if the byte was not released or is in use again. */
const struct rev_touch *rev_released_find(struct rev_released *r, uint64_t address);

#endif
