// SPDX-License-Identifier: Apache-2.0
/*
 * Finds and makes the chunks of the shadow memory, and performs the rare operations on lines.
 * Tables and chunks are installed by a compare-and-swap.  If two threads try at the same time, the
 * memory of the second one is not used.
 */
#include "rt/detect/shadow.h"

#include "rt/common/bug.h"

static struct rt_table *_Atomic *table_of(struct rt_detect_shadow *s, uintptr_t address)
{
	return &s->table[address >> (RT_CHUNK_SHIFT + RT_TABLE_SHIFT)];
}

static struct rt_chunk *_Atomic *chunk_of(struct rt_table *table, uintptr_t address)
{
	return &table->chunk[address >> RT_CHUNK_SHIFT & ((1u << RT_TABLE_SHIFT) - 1)];
}

struct rt_chunk *rt_shadow_find(struct rt_detect_shadow *s, uintptr_t address)
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

struct rt_chunk *rt_shadow_make(struct rt_detect_shadow *s, struct rt_arena *a, uintptr_t address)
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

uint32_t rt_line_wait(_Atomic uint32_t *at)
{
	for (uint32_t round = 0; round < RT_PATIENCE; round++) {
		uint32_t head = atomic_load_explicit(at, memory_order_relaxed) & ~1u;
		if (atomic_compare_exchange_strong_explicit(at, &head, head | 1, memory_order_acquire,
							    memory_order_relaxed))
			return head;
		rt_pause(round);
	}
	return UINT32_MAX;
}

uint32_t rt_part_grow(struct rt_arena *a, struct rt_part *part, uint32_t head)
{
	uint32_t count = rt_line_count(head), room = rt_part_room(head), power;
	struct rt_cell *from = rt_part_cells(part, head), *to;

	RT_ASSERT(rt_line_count(head) <= rt_part_room(head));
	power = room > RT_PART_CELLS ? (head >> 1 & 127) + 1 : 2;
	if (1u << power > RT_CELLS_MAX)
		return head;
	to = rt_arena_get(a, sizeof *to << power);
	if (!to)
		return head;
	__builtin_memcpy(to, from, count * sizeof *to);
	if (room > RT_PART_CELLS)
		rt_arena_put(a, from, room * sizeof *from);
	part->outside = to;
	return count << 8 | power << 1;
}

/* Adds a cell to a part; all bytes of the cell are in this part. */
static uint32_t add_part(struct rt_arena *a, struct rt_part *part, uint32_t head, struct rt_cell cell)
{
	uint32_t count = rt_line_count(head);

	if (!cell.mask)
		return head;
	if (count == rt_part_room(head))
		head = rt_part_grow(a, part, head);
	if (count == rt_part_room(head))
		return head;
	rt_part_cells(part, head)[count] = cell;
	return rt_line_with_count(head, count + 1);
}

static void unsplit(struct rt_arena *a, struct rt_line *line)
{
	for (uint32_t i = 0; i < RT_PARTS; i++)
		if (line->part_head[i] & 0xfe)
			rt_arena_put(a, line->part[i].outside,
				     rt_part_room(line->part_head[i]) * sizeof(struct rt_cell));
	rt_arena_put(a, line->part, RT_PARTS * sizeof *line->part);
}

static uint32_t move_outside(struct rt_arena *a, struct rt_line *line, uint32_t head)
{
	struct rt_cell *to = rt_arena_get(a, RT_OUTSIDE_CELLS * sizeof *to);

	if (!to)
		return head;
	__builtin_memcpy(to, line->inside, sizeof line->inside);
	line->outside = to;
	return head | RT_OUTSIDE;
}

static uint32_t split(struct rt_arena *a, struct rt_line *line, uint32_t head)
{
	struct rt_part *part = rt_arena_get(a, RT_PARTS * sizeof *part);
	struct rt_cell *old = line->outside;

	if (!part)
		return head;
	line->part = part;
	for (uint32_t i = 0; i < RT_PARTS; i++) {
		uint32_t to = 0;
		for (uint32_t k = 0; k < rt_line_count(head); k++) {
			struct rt_cell cell = old[k];
			cell.mask &= 0xffull << 8 * i;
			cell.second &= 0xffull << 8 * i;
			to = add_part(a, &part[i], to, cell);
		}
		line->part_head[i] = to;
	}
	rt_arena_put(a, old, RT_OUTSIDE_CELLS * sizeof *old);
	return RT_SPLIT;
}

uint32_t rt_line_grow(struct rt_arena *a, struct rt_line *line, uint32_t head)
{
	RT_ASSERT(!rt_line_is_split(head));
	return head & RT_OUTSIDE ? split(a, line, head) : move_outside(a, line, head);
}

/* Frees the memory outside a line. */
static void clear_line(struct rt_arena *a, struct rt_line *line, uint32_t head)
{
	if (head & RT_OUTSIDE)
		rt_arena_put(a, line->outside, RT_OUTSIDE_CELLS * sizeof *line->outside);
	if (rt_line_is_split(head))
		unsplit(a, line);
}

/* Removes bytes from cells; returns the bytes that remain. */
static uint64_t forget_cells(struct rt_cell *cells, uint32_t count, uint64_t bits)
{
	uint64_t left = 0;

	for (uint32_t i = 0; i < count; i++)
		left |= cells[i].mask &= ~bits;
	return left;
}

void rt_line_forget(struct rt_arena *a, struct rt_chunk *chunk, uint32_t number, uint64_t bits)
{
	_Atomic uint32_t *at = &chunk->head[number];
	struct rt_line *line = &chunk->line[number];
	uint64_t left = 0;
	uint32_t head;

	if (!atomic_load_explicit(at, memory_order_relaxed))
		return;
	head = rt_line_lock(at);
	if (head == UINT32_MAX)
		return;
	if (!rt_line_is_split(head))
		left = forget_cells(rt_line_cells(line, head), rt_line_count(head), bits);
	for (uint32_t i = 0; rt_line_is_split(head) && i < RT_PARTS; i++)
		left |= forget_cells(rt_part_cells(&line->part[i], line->part_head[i]),
				     rt_line_count(line->part_head[i]), bits);
	if (!left) {
		clear_line(a, line, head);
		head = 0;
	}
	rt_line_unlock(at, head);
}
