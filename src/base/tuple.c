// SPDX-License-Identifier: Apache-2.0
/*
 * Numbered sequences of numbers.  A hash table with open addressing, at most three quarters full,
 * refers to the sequences.  A slot is 0 when free, otherwise the sequence's number plus one.
 */
#include "base/tuple.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64 /* a power of two, chosen by hand; most tables grow beyond it */
/* rd_tuples_clear() frees a table with more slots than this, so that one large use does not take
 * memory forever. */
#define KEPT_SLOTS 2048

uint64_t rd_tuple_hash(const uint32_t *tuple, size_t length)
{
	uint64_t hash = length;

	for (size_t i = 0; i < length; i++)
		hash = rd_hash_add(hash, tuple[i]);
	return hash;
}

static bool is_same(const struct rd_tuples *m, const struct rd_tuple *item, const struct rd_tuple *other,
		    const uint32_t *tuple)
{
	return item->hash == other->hash && item->length == other->length &&
	       (!item->length || !memcmp(m->numbers + item->begin, tuple, item->length * sizeof *tuple));
}

/* Returns the first slot for a hash.  Hashes may have equal low bits, as sums of products do, so
 * all bits are mixed. */
static size_t first_slot(const struct rd_tuples *m, uint64_t hash)
{
	return (hash ^ hash >> 31) & (m->slot_count - 1);
}

static void resize(struct rd_tuples *m)
{
	free(m->slots);
	m->slot_count = m->slot_count ? m->slot_count * 2 : FIRST_SLOTS;
	m->slots = rd_xcalloc(m->slot_count, sizeof *m->slots);
	for (size_t i = 0; i < m->count; i++) {
		size_t slot = first_slot(m, m->items[i].hash);

		while (m->slots[slot])
			slot = (slot + 1) & (m->slot_count - 1);
		m->slots[slot] = (uint32_t)i + 1;
	}
}

static void add(struct rd_tuples *m, const struct rd_tuple *item, const uint32_t *tuple)
{
	RD_ASSERT(m->count < UINT32_MAX);
	RD_GROW(m->numbers, m->number_capacity, m->number_count + item->length);
	if (item->length)
		memcpy(m->numbers + m->number_count, tuple, item->length * sizeof *tuple);
	m->number_count += item->length;
	RD_GROW(m->items, m->capacity, m->count + 1);
	m->items[m->count++] = *item;
}

uint32_t rd_tuples_put(struct rd_tuples *m, const uint32_t *tuple, size_t length, uint64_t hash, bool *is_new)
{
	RD_ASSERT(tuple != NULL || length == 0);
	struct rd_tuple item = {hash, m->number_count, length};
	size_t slot;

	if (m->count >= m->slot_count / 4 * 3)
		resize(m);
	slot = first_slot(m, hash);
	while (m->slots[slot] && !is_same(m, &m->items[m->slots[slot] - 1], &item, tuple))
		slot = (slot + 1) & (m->slot_count - 1);
	if (is_new)
		*is_new = !m->slots[slot];
	if (!m->slots[slot]) {
		add(m, &item, tuple);
		m->slots[slot] = (uint32_t)m->count;
	}
	return m->slots[slot] - 1;
}

void rd_tuples_clear(struct rd_tuples *m)
{
	if (m->slot_count > KEPT_SLOTS) {
		rd_tuples_release(m);
	} else if (m->count) {
		memset(m->slots, 0, m->slot_count * sizeof *m->slots);
		m->count = m->number_count = 0;
	}
}

void rd_tuples_release(struct rd_tuples *m)
{
	RD_FREE(m->numbers, m->items, m->slots);
	*m = (struct rd_tuples){0};
}
