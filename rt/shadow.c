// SPDX-License-Identifier: Apache-2.0
/*
 * Shadow memory: finding and making chunks, and what is seldom done with lines.
 * Tables and chunks are put in place by one compare-and-swap; who comes second
 * leaves its own unused.
 */
#include "rt/shadow.h"

static struct rt_table *_Atomic *table_of(struct rt_shadow *s, uintptr_t address)
{
	return &s->table[address >> (RT_CHUNK_SHIFT + RT_TABLE_SHIFT)];
}

static struct rt_chunk *_Atomic *chunk_of(struct rt_table *table, uintptr_t address)
{
	return &table->chunk[address >> RT_CHUNK_SHIFT & ((1u << RT_TABLE_SHIFT) - 1)];
}

struct rt_chunk *rt_shadow_find(struct rt_shadow *s, uintptr_t address)
{
	struct rt_table *table;

	if (address >> RT_ADDRESS_BITS)
		return NULL;
	table = atomic_load_explicit(table_of(s, address), memory_order_acquire);
	return table ? atomic_load_explicit(chunk_of(table, address), memory_order_acquire) : NULL;
}

static struct rt_table *make_table(struct rt_table *_Atomic *at)
{
	struct rt_table *old = NULL, *table = rt_map(sizeof *table);

	if (!table)
		return NULL;
	if (atomic_compare_exchange_strong(at, &old, table))
		return table;
	rt_unmap(table, sizeof *table);
	return old;
}

struct rt_chunk *rt_shadow_make(struct rt_shadow *s, struct rt_arena *a, uintptr_t address)
{
	struct rt_chunk *chunk = rt_shadow_find(s, address), *old = NULL;
	struct rt_table *table;

	if (chunk || address >> RT_ADDRESS_BITS)
		return chunk;
	table = atomic_load_explicit(table_of(s, address), memory_order_acquire);
	if (!table)
		table = make_table(table_of(s, address));
	chunk = table ? rt_arena_keep(a, sizeof *chunk) : NULL;
	if (chunk && !atomic_compare_exchange_strong(chunk_of(table, address), &old, chunk))
		chunk = old;
	return chunk;
}

void rt_shadow_remember(struct rt_cache *c, uintptr_t address, struct rt_chunk *chunk)
{
	uintptr_t page = address >> RT_CHUNK_SHIFT;
	size_t i = (page ^ page >> 8) % RT_CACHE;

	c->entry[i].page = page + 1;
	c->entry[i].chunk = chunk;
}

uint32_t rt_line_wait(struct rt_line *line)
{
	for (uint32_t round = 0; round < RT_PATIENCE; round++) {
		uint32_t head = atomic_load_explicit(&line->head, memory_order_relaxed) & ~1u;
		if (atomic_compare_exchange_strong_explicit(&line->head, &head, head | 1,
							    memory_order_acquire, memory_order_relaxed))
			return head;
		rt_pause(round);
	}
	return UINT32_MAX;
}

static size_t bytes_of(uint32_t room)
{
	return (size_t)room * (2 * sizeof(uint64_t) + RT_CELL_SITES * sizeof(uint32_t));
}

uint32_t rt_line_grow(struct rt_arena *a, struct rt_chunk *chunk, struct rt_line *line, uint32_t head)
{
	uint32_t count = rt_line_count(head), room = rt_line_room(head), power;
	struct rt_cells from = rt_line_cells(chunk, line, head), to;
	uint64_t *outside;

	power = room == RT_LINE_CELLS ? 3 : (head >> 1 & 127) + 1;
	if (1u << power > RT_CELLS_MAX)
		return head;
	outside = rt_arena_get(a, bytes_of(1u << power));
	if (!outside)
		return head;
	line->outside = outside;
	head = count << 8 | power << 1;
	to = rt_line_outside(line, head);
	__builtin_memcpy(to.mask, from.mask, count * sizeof *to.mask);
	__builtin_memcpy(to.who, from.who, count * sizeof *to.who);
	__builtin_memcpy(to.site, from.site, count * RT_CELL_SITES * sizeof *to.site);
	if (room != RT_LINE_CELLS)
		rt_arena_put(a, from.mask, bytes_of(room));
	return head;
}

void rt_line_forget(struct rt_arena *a, struct rt_chunk *chunk, struct rt_line *line, uint64_t bits)
{
	uint64_t left = 0;
	uint32_t head;
	struct rt_cells cells;

	if (!atomic_load_explicit(&line->head, memory_order_relaxed))
		return;
	head = rt_line_lock(line);
	if (head == UINT32_MAX)
		return;
	cells = rt_line_cells(chunk, line, head);
	for (uint32_t i = 0; i < rt_line_count(head); i++)
		left |= cells.mask[i] &= ~bits;
	if (!left) {
		if (rt_line_room(head) != RT_LINE_CELLS)
			rt_arena_put(a, cells.mask, bytes_of(rt_line_room(head)));
		head = 0;
	}
	rt_line_unlock(line, head);
}

void rt_line_reset(struct rt_line *line)
{
	atomic_store_explicit(&line->head, 0, memory_order_release);
}
