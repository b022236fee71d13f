/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps large blocks of memory that were released, with the thread that released each, until the
 * memory is reused.  When such a block is released, only the bytes that were touched before are
 * marked in the shadow memory.  A later use of any other byte is noticed because the block is kept.
 */
#ifndef REVERSIBLE_RELEASED_INT_H
#define REVERSIBLE_RELEASED_INT_H

#include "epa/extent.h"
#include "reversible/shadow.h"

struct rev_released {
	struct epa_extents extents;
	/* Indexed by the number of the extent.  An entry of size 0 stands for a part of a released
	 * block that is in use again. */
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

/* Returns the release of the byte, or NULL if the byte was not released or is in use again. */
const struct rev_touch *rev_released_find(struct rev_released *r, uint64_t address);

#endif
