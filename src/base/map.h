/* SPDX-License-Identifier: Apache-2.0 */
/* Hash maps with open addressing, from numbers, pairs of numbers and strings to numbers. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Adds a number to a hash.  The result depends on the order in which numbers are added, and may
 * change in another version of Raddle. */
static inline uint64_t rd_hash_add(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0xbf58476d1ce4e5b9ull;
	return hash ^ hash >> 31;
}

struct rd_umap {
	uint64_t *keys, *values;
	uint8_t *used;
	size_t count, capacity; /* the capacity is 0 or a power of two */
};
#define RD_UMAP_INIT                                                                                         \
	{                                                                                                    \
		0                                                                                            \
	}
/* Returns a pointer to the value of a key, or NULL if the key is absent.  The pointer is valid
 * until the next put. */
uint64_t *rd_umap_get(const struct rd_umap *m, uint64_t key);
uint64_t *rd_umap_put(struct rd_umap *m, uint64_t key,
		      bool *is_new); /* a new value is 0; is_new may be NULL */
void rd_umap_release(struct rd_umap *m);
void rd_umap_release_all(size_t count, struct rd_umap *const *maps);
#define RD_UMAP_RELEASE(...)                                                                                 \
	rd_umap_release_all(sizeof((struct rd_umap *[]){__VA_ARGS__}) / sizeof(struct rd_umap *),            \
			    (struct rd_umap *[]){__VA_ARGS__})

/* A map from pairs of numbers to numbers.  Pairs are compared in full, never folded into 64 bits.
 * For a key (a, b, c) of three numbers, chain two maps.  The first map assigns a number n to (a,
 * b), and the second map has the key (n, c). */
struct rd_pmap {
	struct rd_umap map; /* a key takes two elements of `keys` */
};
uint64_t *rd_pmap_get(const struct rd_pmap *m, uint64_t a, uint64_t b); /* like rd_umap_get() */
uint64_t *rd_pmap_put(struct rd_pmap *m, uint64_t a, uint64_t b, bool *is_new);
void rd_pmap_release(struct rd_pmap *m);

/* A map from strings to numbers.  Strings get the numbers 0, 1, 2 … in order of first appearance.
 * The map owns copies. */
struct rd_names {
	char **items;
	size_t count, capacity;
	uint32_t *slots;
	size_t slot_count;
};
#define RD_NAMES_INIT                                                                                        \
	{                                                                                                    \
		0                                                                                            \
	}
uint32_t rd_names_put(struct rd_names *m, const char *s, size_t n);
bool rd_names_find(const struct rd_names *m, const char *s, size_t n, uint32_t *number);
void rd_names_release(struct rd_names *m);

#endif
