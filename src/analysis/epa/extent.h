/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disjoint or nested ranges of addresses, with a lookup of the smallest range at an address.
 *
 * Each range has a number, which the caller uses as an index.  A new range replaces all ranges
 * inside it, all ranges that overlap it partly, and all ended ranges that enclose it.  Live ranges
 * that enclose it remain.  If an existing range has the same bounds and contains no other range,
 * the new range gets its number.  An ended range can be found until it is replaced, so that a
 * stale address still has a name.
 */
#ifndef EPA_EXTENT_H
#define EPA_EXTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EPA_EXTENT_LINES 4096 /* number of lines in the cache; a line covers 16 bytes */
#define EPA_EXTENT_HINTS 1024

struct epa_extent {
	uint64_t start, size;
	/* Subtrees of a treap that is ordered by start.  Of ranges with the same start, the larger
	 * one comes first. */
	uint32_t left, right;
	uint32_t priority;
	uint32_t around; /* the next larger range that contains this one; 0 if there is none */
	bool ended;
	bool container; /* the range contains other ranges, so it must not be in a cache */
};

struct epa_extents {
	struct epa_extent *list; /* by number of the range, from 1 */
	size_t count, capacity;	 /* `count` is the number of ranges so far */
	uint32_t root, free;
	uint32_t random;
	/* A cache: for each line of 16 bytes (modulo the number of lines), the range that was last
	 * found there. */
	uint32_t lines[EPA_EXTENT_LINES];
	uint32_t hints[EPA_EXTENT_HINTS]; /* the range that was last found with each hint */
};

void epa_extents_init(struct epa_extents *x);
void epa_extents_release(struct epa_extents *x);

/* Adds a range and returns its number.  A size of 0 counts as 1. */
uint32_t epa_extents_add(struct epa_extents *x, uint64_t start, uint64_t size);

/* Ends a range.  It can be found until it is replaced. */
static inline void epa_extents_end(struct epa_extents *x, uint32_t extent)
{
	x->list[extent].ended = true;
}

void epa_extents_remove(struct epa_extents *x, uint32_t extent);

/* Returns the range with the largest start that contains the address, or 0 if there is none. */
uint32_t epa_extents_find_slow(struct epa_extents *x, uint64_t address, uint32_t hint);

static inline bool epa_extent_has(const struct epa_extent *e, uint64_t address)
{
	return address - e->start < e->size;
}

static inline uint32_t epa_extents_find(struct epa_extents *x, uint64_t address, uint32_t hint)
{
	uint32_t n = x->hints[hint % EPA_EXTENT_HINTS];
	if (epa_extent_has(&x->list[n], address))
		return n;
	n = x->lines[address >> 4 & (EPA_EXTENT_LINES - 1)];
	if (epa_extent_has(&x->list[n], address)) {
		x->hints[hint % EPA_EXTENT_HINTS] = n;
		return n;
	}
	return epa_extents_find_slow(x, address, hint);
}

/* Returns the range with the largest start at or before the address, whether or not it contains the
 * address, or 0 if there is none. */
uint32_t epa_extents_before(const struct epa_extents *x, uint64_t address);

/* Returns the range with the smallest start after the address, or 0 if there is none. */
uint32_t epa_extents_after(const struct epa_extents *x, uint64_t address);

#endif
