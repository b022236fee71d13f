// SPDX-License-Identifier: Apache-2.0
/*
 * Nested ranges are kept in a treap with two caches in front of it.
 *
 * Ranges are nested or disjoint.  Consider the ranges that start at or below an address, and among
 * them the one with the largest start.  Every range that contains the address is either this range
 * or encloses it.  Range 0 is empty and means "none" in caches and links.  Caches may be out of
 * date, so a lookup checks that the cached range contains the address.  A range that contains other
 * ranges is never cached.
 */
#include "epa/extent.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

void epa_extents_init(struct epa_extents *x)
{
	memset(x, 0, sizeof *x);
	RD_GROW(x->list, x->capacity, 1);
	x->list[0] = (struct epa_extent){0};
	x->count = 1;
	x->random = 1;
}

void epa_extents_release(struct epa_extents *x)
{
	free(x->list);
	memset(x, 0, sizeof *x);
}

/* Returns true if range `a` comes before range `b` in the tree.  Ranges are sorted by start.  Of
 * two ranges with the same start, the larger one comes first. */
static bool comes_before(const struct epa_extent *a, const struct epa_extent *b)
{
	return a->start != b->start ? a->start < b->start : a->size > b->size;
}

static uint64_t last_of(const struct epa_extent *e)
{
	return e->start + e->size - 1;
}

static bool contains(const struct epa_extent *a, const struct epa_extent *b)
{
	return a->start <= b->start && last_of(a) >= last_of(b);
}

static bool meets(const struct epa_extent *a, const struct epa_extent *b)
{
	return a->start <= last_of(b) && b->start <= last_of(a);
}

/* --- the tree ---------------------------------------------------------------------------- */

/* Splits a tree. parts[0] receives the ranges before `key`, and parts[1] the rest. */
static void split(struct epa_extents *x, uint32_t root, const struct epa_extent *key, uint32_t parts[2])
{
	uint32_t *low = &parts[0], *high = &parts[1];
	while (root) {
		struct epa_extent *e = &x->list[root];
		if (comes_before(e, key)) {
			*low = root;
			low = &e->right;
			root = e->right;
		} else {
			*high = root;
			high = &e->left;
			root = e->left;
		}
	}
	*low = *high = 0;
}

static uint32_t merge(struct epa_extents *x, uint32_t low, uint32_t high)
{
	uint32_t root = 0, *at = &root;
	while (low && high) {
		if (x->list[low].priority > x->list[high].priority) {
			*at = low;
			at = &x->list[low].right;
			low = *at;
		} else {
			*at = high;
			at = &x->list[high].left;
			high = *at;
		}
	}
	*at = low ? low : high;
	return root;
}

static void link_node(struct epa_extents *x, uint32_t n)
{
	struct epa_extent *e = &x->list[n];
	uint32_t *at = &x->root, parts[2];
	while (*at && x->list[*at].priority >= e->priority)
		at = comes_before(e, &x->list[*at]) ? &x->list[*at].left : &x->list[*at].right;
	split(x, *at, e, parts);
	e->left = parts[0];
	e->right = parts[1];
	*at = n;
}

static void unlink_node(struct epa_extents *x, uint32_t n)
{
	const struct epa_extent *e = &x->list[n];
	uint32_t *at = &x->root;
	while (*at != n)
		at = comes_before(e, &x->list[*at]) ? &x->list[*at].left : &x->list[*at].right;
	*at = merge(x, e->left, e->right);
}

uint32_t epa_extents_before(const struct epa_extents *x, uint64_t address)
{
	uint32_t best = 0;
	for (uint32_t n = x->root; n;) {
		bool below = x->list[n].start <= address;
		best = below ? n : best;
		n = below ? x->list[n].right : x->list[n].left;
	}
	return best;
}

uint32_t epa_extents_after(const struct epa_extents *x, uint64_t address)
{
	uint32_t best = 0;
	for (uint32_t n = x->root; n;) {
		bool after = x->list[n].start > address;
		best = after ? n : best;
		n = after ? x->list[n].left : x->list[n].right;
	}
	return best;
}

/* Returns the first range, in the order of the tree, that does not come before `key`. */
static uint32_t first_from(const struct epa_extents *x, const struct epa_extent *key)
{
	uint32_t best = 0;
	for (uint32_t n = x->root; n;) {
		bool before = comes_before(&x->list[n], key);
		best = before ? best : n;
		n = before ? x->list[n].right : x->list[n].left;
	}
	return best;
}

static uint32_t next_of(const struct epa_extents *x, uint32_t n)
{
	struct epa_extent key = x->list[n];
	if (--key.size == 0) {
		key.start++;
		key.size = UINT64_MAX;
	}
	return first_from(x, &key);
}

/* --- lookups ----------------------------------------------------------------------------- */

uint32_t epa_extents_find_slow(struct epa_extents *x, uint64_t address, uint32_t hint)
{
	uint32_t n = epa_extents_before(x, address);
	while (n && !epa_extent_has(&x->list[n], address))
		n = x->list[n].around;
	if (n && !x->list[n].container) {
		x->lines[address >> 4 & (EPA_EXTENT_LINES - 1)] = n;
		x->hints[hint % EPA_EXTENT_HINTS] = n;
	}
	return n;
}

static void forget(uint32_t *cache, size_t count, uint32_t n)
{
	for (size_t i = 0; i < count; i++)
		if (cache[i] == n)
			cache[i] = 0;
}

static void make_container(struct epa_extents *x, uint32_t n)
{
	if (!n || x->list[n].container)
		return;
	x->list[n].container = true;
	forget(x->lines, EPA_EXTENT_LINES, n);
	forget(x->hints, EPA_EXTENT_HINTS, n);
}

/* --- changes ----------------------------------------------------------------------------- */

void epa_extents_remove(struct epa_extents *x, uint32_t n)
{
	RD_ASSERT(n != 0 && n <= x->count);
	struct epa_extent *e = &x->list[n];
	unlink_node(x, n);
	if (e->container)
		for (uint32_t i = first_from(x, e); i && x->list[i].start <= last_of(e); i = next_of(x, i))
			if (x->list[i].around == n)
				x->list[i].around = e->around;
	*e = (struct epa_extent){.left = x->free};
	x->free = n;
}

/* Removes the ranges that the new range replaces.  Returns the smallest remaining range around it,
 * or 0 if there is none. */
static uint32_t clear_room(struct epa_extents *x, const struct epa_extent *room)
{
	uint32_t n = epa_extents_before(x, room->start), around = 0;
	while (n && !around) {
		struct epa_extent *e = &x->list[n];
		uint32_t next = e->around;
		bool same = e->start == room->start && e->size == room->size;
		if (contains(e, room) && !same && !e->ended)
			around = n;
		else if (meets(e, room))
			epa_extents_remove(x, n);
		n = next;
	}
	/* Larger ranges with the same start come before `key`; the loop above has checked them. */
	struct epa_extent key = {.start = room->start, .size = room->size};
	while ((n = first_from(x, &key)) && x->list[n].start <= last_of(room))
		epa_extents_remove(x, n);
	return around;
}

static uint32_t new_number(struct epa_extents *x)
{
	uint32_t n = x->free;
	if (n) {
		x->free = x->list[n].left;
		return n;
	}
	RD_GROW(x->list, x->capacity, x->count + 1);
	return (uint32_t)x->count++;
}

static uint32_t next_random(struct epa_extents *x)
{
	x->random ^= x->random << 13;
	x->random ^= x->random >> 17;
	x->random ^= x->random << 5;
	return x->random;
}

/* Returns true if the range has the same bounds as the new one, and contains no other range. */
static bool is_leaf_like(const struct epa_extents *x, uint32_t n, const struct epa_extent *fresh)
{
	const struct epa_extent *e = &x->list[n];
	return n && e->start == fresh->start && e->size == fresh->size && !e->container;
}

uint32_t epa_extents_add(struct epa_extents *x, uint64_t start, uint64_t size)
{
	uint32_t n = x->lines[start >> 4 & (EPA_EXTENT_LINES - 1)];
	struct epa_extent fresh = {.start = start, .size = size ? size : 1};
	if (fresh.size - 1 > UINT64_MAX - start)
		fresh.size = UINT64_MAX - start;
	/* The common case: a function is called again, and its variables have the same addresses.
	 */
	if (is_leaf_like(x, n, &fresh) || is_leaf_like(x, n = epa_extents_before(x, start), &fresh)) {
		x->list[n].ended = false;
		return n;
	}
	fresh.around = clear_room(x, &fresh);
	make_container(x, fresh.around);
	n = new_number(x);
	fresh.priority = next_random(x);
	x->list[n] = fresh;
	link_node(x, n);
	x->lines[start >> 4 & (EPA_EXTENT_LINES - 1)] = n;
	return n;
}
