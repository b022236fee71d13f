/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large blocks of memory that were given back: by whom, until the memory is used for something else.  So
 * that a later use of any byte is seen, and a release costs as much as what was touched of the block.
 */
#ifndef REVERSIBLE_RELEASED_H
#define REVERSIBLE_RELEASED_H

#include "epa/extent.h"
#include "reversible/shadow.h"

struct rev_released {
	struct epa_extents extents;
	struct rev_touch *list; /* by number of the extent; size 0: a new life inside a released block */
	size_t capacity;
	bool any;
};

void rev_released_init(struct rev_released *r);
void rev_released_free(struct rev_released *r);

void rev_released_add(struct rev_released *r, const struct rev_touch *release);

/* A new life begins there.  A block that it takes only a part of is forgotten as a whole. */
void rev_released_clear(struct rev_released *r, uint64_t address, uint64_t size);

/* The release of the byte, NULL if it was not given back or lives again. */
const struct rev_touch *rev_released_find(struct rev_released *r, uint64_t address);

#endif
