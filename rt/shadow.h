/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shadow memory: who accessed which bytes last, and where synchronisation objects
 * are.
 *
 * A line stands for 64 bytes of the program and is a list of cells.  A cell
 * says: these bytes (a bit each) were accessed by this lane in this epoch, so (plain,
 * write), at these sites, one for each 8 bytes; one without bytes is free.  A thread that
 * goes over an array has one cell a line, whatever the loop looks like.  Three cells have room
 * in the line; more are outside of it.  Lines are in chunks of a page, chunks are found
 * through two tables by the address.  No chunk is ever given back, so a pointer to one stays good.
 *
 * A line is locked by the lowest bit of its head, which also has the number of
 * cells: whoever holds it writes the new head to unlock.
 */
#ifndef RT_SHADOW_H
#define RT_SHADOW_H

#include "rt/arena.h"

#define RT_LINE_CELLS 3
#define RT_CHUNK_SHIFT 12
#define RT_CHUNK_LINES 64
#define RT_CHUNK_OBJECTS 512 /* lists of synchronisation objects, 8 bytes each */
#define RT_TABLE_SHIFT 18
#define RT_ADDRESS_BITS 47
#define RT_CACHE 256
#define RT_CELLS_MAX 4096 /* of a line; beyond them old ones are lost */

/* Who accessed: lane, epoch and kind in one word.  The kind has a bit for writes and one for plain
 * accesses: one access covers another if it has all its bits, two conflict if they have both
 * bits together. */
#define RT_WHO_WRITE 1u
#define RT_WHO_PLAIN 2u
#define RT_WHO(lane, epoch) ((uint64_t)(lane) << 48 | (epoch) << 2)
#define RT_WHO_LANE(who) ((uint32_t)((who) >> 48))
#define RT_WHO_EPOCH(who) ((who) >> 2 & ((1ull << 46) - 1))

#define RT_CELL_SITES 8 /* of a cell: one for each granule of 8 bytes */

struct rt_cells {
	uint64_t *mask, *who;
	uint32_t *site; /* RT_CELL_SITES for each; only where the mask has bytes */
};

struct rt_line {
	_Atomic uint32_t head; /* count << 8 | log2(room outside) << 1 | locked */
	uint32_t unused;
	uint64_t mask[RT_LINE_CELLS];
	uint64_t who[RT_LINE_CELLS];
	uint64_t *outside; /* all cells, if there is room outside */
};

_Static_assert(sizeof(struct rt_line) == 64, "a line is a cache line");

struct rt_object;

struct rt_chunk {
	struct rt_line line[RT_CHUNK_LINES];
	uint32_t site[RT_CHUNK_LINES][RT_LINE_CELLS * RT_CELL_SITES]; /* of the cells inside */
	struct rt_object **_Atomic objects; /* NULL: there are none; protected by rt/object.c */
};

struct rt_table {
	struct rt_chunk *_Atomic chunk[1u << RT_TABLE_SHIFT];
};

struct rt_shadow {
	struct rt_table *_Atomic table[1u << (RT_ADDRESS_BITS - RT_CHUNK_SHIFT - RT_TABLE_SHIFT)];
};

/* Chunks a thread met lately. */
struct rt_cache {
	struct {
		uintptr_t page; /* of the program, plus 1 */
		struct rt_chunk *chunk;
	} entry[RT_CACHE];
};

/* Not found: NULL. */
struct rt_chunk *rt_shadow_find(struct rt_shadow *s, uintptr_t address);
/* Made if need be.  NULL: no memory, or no address of a program. */
struct rt_chunk *rt_shadow_make(struct rt_shadow *s, struct rt_arena *a, uintptr_t address);

static inline struct rt_chunk *rt_shadow_cached(struct rt_cache *c, uintptr_t address)
{
	uintptr_t page = address >> RT_CHUNK_SHIFT;
	size_t i = (page ^ page >> 8) % RT_CACHE;

	return RT_LIKELY(c->entry[i].page == page + 1) ? c->entry[i].chunk : NULL;
}

void rt_shadow_remember(struct rt_cache *c, uintptr_t address, struct rt_chunk *chunk);

static inline struct rt_line *rt_line_of(struct rt_chunk *chunk, uintptr_t address)
{
	return &chunk->line[address / 64 % RT_CHUNK_LINES];
}

/* Returns the head without the lock; UINT32_MAX if it could not be had. */
uint32_t rt_line_wait(struct rt_line *line);

static inline uint32_t rt_line_lock(struct rt_line *line)
{
	uint32_t head = atomic_load_explicit(&line->head, memory_order_relaxed) & ~1u;

	if (RT_LIKELY(atomic_compare_exchange_strong_explicit(&line->head, &head, head | 1,
							      memory_order_acquire, memory_order_relaxed)))
		return head;
	return rt_line_wait(line);
}

static inline void rt_line_unlock(struct rt_line *line, uint32_t head)
{
	atomic_store_explicit(&line->head, head, memory_order_release);
}

static inline uint32_t rt_line_count(uint32_t head)
{
	return head >> 8;
}

static inline uint32_t rt_line_with_count(uint32_t head, uint32_t count)
{
	return (head & 0xff) | count << 8;
}

static inline uint32_t rt_line_room(uint32_t head)
{
	return head & 0xfe ? 1u << (head >> 1 & 127) : RT_LINE_CELLS;
}

static inline struct rt_cells rt_line_outside(const struct rt_line *line, uint32_t head)
{
	uint32_t room = rt_line_room(head);

	return (struct rt_cells){line->outside, line->outside + room,
				 (uint32_t *)(line->outside + 2 * (size_t)room)};
}

static inline struct rt_cells rt_line_cells(struct rt_chunk *chunk, struct rt_line *line, uint32_t head)
{
	if (RT_LIKELY(!(head & 0xfe)))
		return (struct rt_cells){line->mask, line->who, chunk->site[line - chunk->line]};
	return rt_line_outside(line, head);
}

/* More room in a line that is full and locked: the new head; the old one if there is no more. */
uint32_t rt_line_grow(struct rt_arena *a, struct rt_chunk *chunk, struct rt_line *line, uint32_t head);

/* No cells of these bytes any more.  A line that is all forgotten gives its cells outside back. */
void rt_line_forget(struct rt_arena *a, struct rt_chunk *chunk, struct rt_line *line, uint64_t bits);

/* Unlocks a line that its thread left in the middle, without any cells. */
void rt_line_reset(struct rt_line *line);

#endif
