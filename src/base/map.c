// SPDX-License-Identifier: Apache-2.0
/*
 * Hash maps with linear probing.  Capacities are powers of two and at most three quarters of the
 * slots are used, so a probe always ends at a free slot.  Nothing is ever removed, so there are no
 * tombstones.
 */
#include "base/map.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* The number of slots of a new map, a power of two.  It was chosen by hand; many maps stay
 * small. */
enum { FIRST_CAPACITY = 16 };

/* Addresses differ mostly in the middle bits, so the hash spreads these over all bits. */
static uint64_t hash_number(uint64_t x)
{
	x ^= x >> 32;
	x *= 0x9e3779b97f4a7c15u;
	return x ^ x >> 29;
}

static inline uint64_t hash_key(const uint64_t *key, unsigned words)
{
	uint64_t hash = key[0];

	for (unsigned i = 1; i < words; i++)
		hash = rd_hash_add(hash * 0x9e3779b97f4a7c15u, key[i]);
	return hash_number(hash);
}

/* Returns the slot that contains `key`, or the free slot for it.  This function and those below are
 * inline, because an rd_umap passes the constant words == 1, so that the compiler can remove the
 * loops. */
static inline size_t find_slot(const struct rd_umap *m, const uint64_t *key, unsigned words)
{
	size_t mask = m->capacity - 1, i = hash_key(key, words) & mask;

	while (m->used[i] && memcmp(m->keys + i * words, key, words * sizeof *key) != 0)
		i = (i + 1) & mask;
	return i;
}

static inline void resize(struct rd_umap *m, size_t capacity, unsigned words)
{
	struct rd_umap old = *m;

	m->capacity = capacity;
	m->keys = rd_xcalloc(capacity, words * sizeof *m->keys);
	m->values = rd_xcalloc(capacity, sizeof *m->values);
	m->used = rd_xcalloc(capacity, sizeof *m->used);
	for (size_t i = 0; i < old.capacity; i++) {
		size_t slot;

		if (!old.used[i])
			continue;
		slot = find_slot(m, old.keys + i * words, words);
		memcpy(m->keys + slot * words, old.keys + i * words, words * sizeof *m->keys);
		m->values[slot] = old.values[i];
		m->used[slot] = 1;
	}
	RD_FREE(old.keys, old.values, old.used);
}

static inline uint64_t *get(const struct rd_umap *m, const uint64_t *key, unsigned words)
{
	size_t i;

	if (!m->count)
		return NULL;
	i = find_slot(m, key, words);
	return m->used[i] ? &m->values[i] : NULL;
}

static inline uint64_t *put(struct rd_umap *m, const uint64_t *key, unsigned words, bool *is_new)
{
	size_t i;

	if (m->count >= m->capacity / 4 * 3)
		resize(m, m->capacity ? m->capacity * 2 : FIRST_CAPACITY, words);
	i = find_slot(m, key, words);
	if (is_new)
		*is_new = !m->used[i];
	if (!m->used[i]) {
		m->used[i] = 1;
		memcpy(m->keys + i * words, key, words * sizeof *key);
		m->count++;
	}
	return &m->values[i];
}

uint64_t *rd_umap_get(const struct rd_umap *m, uint64_t key)
{
	return get(m, &key, 1);
}

uint64_t *rd_umap_put(struct rd_umap *m, uint64_t key, bool *is_new)
{
	return put(m, &key, 1, is_new);
}

void rd_umap_release(struct rd_umap *m)
{
	RD_FREE(m->keys, m->values, m->used);
	*m = (struct rd_umap)RD_UMAP_INIT;
}

void rd_umap_release_all(size_t count, struct rd_umap *const *maps)
{
	for (size_t i = 0; i < count; i++)
		rd_umap_release(maps[i]);
}

uint64_t *rd_pmap_get(const struct rd_pmap *m, uint64_t a, uint64_t b)
{
	return get(&m->map, (uint64_t[]){a, b}, 2);
}

uint64_t *rd_pmap_put(struct rd_pmap *m, uint64_t a, uint64_t b, bool *is_new)
{
	return put(&m->map, (uint64_t[]){a, b}, 2, is_new);
}

void rd_pmap_release(struct rd_pmap *m)
{
	rd_umap_release(&m->map);
}

/* Returns the slot of a string, or the free slot for it.  A slot contains 0 if it is free,
 * otherwise the string's number plus 1. */
static size_t names_slot(const struct rd_names *m, const char *s, size_t n)
{
	size_t mask = m->slot_count - 1, i = XXH3_64bits(s, n) & mask;

	for (; m->slots[i]; i = (i + 1) & mask) {
		const char *item = m->items[m->slots[i] - 1];

		if (!strncmp(item, s, n) && !item[n])
			break;
	}
	return i;
}

static void names_resize(struct rd_names *m, size_t slot_count)
{
	free(m->slots);
	m->slots = rd_xcalloc(slot_count, sizeof *m->slots);
	m->slot_count = slot_count;
	for (size_t i = 0; i < m->count; i++)
		m->slots[names_slot(m, m->items[i], strlen(m->items[i]))] = (uint32_t)i + 1;
}

/* Shortens a name to the part before its first NUL, since names are C strings.  An empty name may
 * be NULL. */
static void clip(const char **s, size_t *n)
{
	if (!*n)
		*s = "";
	*n = strnlen(*s, *n);
}

uint32_t rd_names_put(struct rd_names *m, const char *s, size_t n)
{
	RD_ASSERT(s != NULL || n == 0);
	size_t slot;

	clip(&s, &n);
	if (m->count >= m->slot_count / 4 * 3)
		names_resize(m, m->slot_count ? m->slot_count * 2 : FIRST_CAPACITY);
	slot = names_slot(m, s, n);
	if (!m->slots[slot]) {
		RD_ASSERT(m->count < UINT32_MAX);
		RD_GROW(m->items, m->capacity, m->count + 1);
		m->items[m->count++] = rd_xstrndup(s, n);
		m->slots[slot] = (uint32_t)m->count;
	}
	return m->slots[slot] - 1;
}

bool rd_names_find(const struct rd_names *m, const char *s, size_t n, uint32_t *number)
{
	RD_ASSERT(number != NULL);
	size_t slot;

	if (!m->count)
		return false;
	clip(&s, &n);
	slot = names_slot(m, s, n);
	if (!m->slots[slot])
		return false;
	*number = m->slots[slot] - 1;
	return true;
}

void rd_names_release(struct rd_names *m)
{
	RD_FREE_EACH(m->items, m->count);
	free(m->items);
	free(m->slots);
	*m = (struct rd_names)RD_NAMES_INIT;
}
