/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocator for the detector, whose blocks have sizes that are powers of two.
 *
 * Allocated memory is zeroed and aligned to cache lines.  Freed blocks are kept in a list for each
 * size.  An allocation returns NULL if there is no memory, or if the lock could not be taken.  The
 * caller then drops the data that it wanted to store.
 */
#ifndef RT_ARENA_H
#define RT_ARENA_H

#include "rt/core/rt.h"

#define RT_ARENA_CLASSES 32 /* the sizes are powers of two up to 2 GiB */

struct rt_arena {
	_Atomic uint32_t lock;
	uint64_t left;		      /* the number of bytes that may still be mapped */
	char *at, *end;		      /* the unused rest of the current mapping */
	void *idle[RT_ARENA_CLASSES]; /* free pieces of each size, linked by their first word */
};

void *rt_arena_get(struct rt_arena *a, size_t size);
void rt_arena_put(struct rt_arena *a, void *p, size_t size); /* p may be NULL */
/* Exactly this size, which must never be put back. */
void *rt_arena_keep(struct rt_arena *a, size_t size);

#endif
