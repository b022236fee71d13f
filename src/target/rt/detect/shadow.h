/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shadow memory.  It stores which threads accessed which bytes last, and where synchronisation
 * objects are.
 *
 * A line represents 64 bytes of the program's memory and is a list of cells.  A cell describes the
 * accesses of one lane, that is, of one thread, in one epoch: which bytes were accessed (a bit for
 * each), how (plain, write), and at which of two sites.  A cell without bytes is free.  So a thread
 * that walks over an array needs one cell per line.
 *
 * Up to four cells are stored in the line itself, and five to eight are stored outside it.  If
 * there are more, the line is split into parts: each group of eight bytes then has a list of its
 * own.  Up to two cells are stored in the part itself, and more are stored outside it.  So no
 * thread has to search through accesses to other words.
 *
 * A chunk contains the lines of one page.  The chunk of an address is found through two levels of
 * tables.  No chunk is ever freed, so a pointer to one stays valid.
 *
 * The lowest bit of a line's head is its lock; the head also contains the number of cells.  To
 * unlock, the holder writes the new head.  Heads are stored apart from the cells, so that a walk
 * over memory touches few cache lines.
 */
#ifndef RT_SHADOW_H
#define RT_SHADOW_H

#include "rt/detect/arena.h"

/* How many cells are stored in a line, outside a line, and in a part of a split line.  A line has
 * room for four cells of 32 bytes, which take two cache lines of the processor.  Eight cells
 * outside the line can still be searched quickly.  A split line has a part for each eight bytes.
 * A part has room for two cells, which take one cache line. */
#define RT_LINE_CELLS 4
#define RT_OUTSIDE_CELLS 8
#define RT_PARTS 8
#define RT_PART_CELLS 2
#define RT_SPLIT 0x80u	  /* a bit of the head of a line: the line is split */
#define RT_OUTSIDE 0x40u  /* a bit of the head of a line: its cells are outside */
#define RT_CHUNK_SHIFT 12 /* log2 of the bytes of the program that a chunk covers: a page */
#define RT_CHUNK_LINES 64
#define RT_CHUNK_OBJECTS 512 /* lists of synchronisation objects, one for each 8 bytes */
/* The number of bits by which a table of the second level is indexed.  It is about half of the bits
 * of a page number, so that tables of both levels have similar sizes. */
#define RT_TABLE_SHIFT 18
#define RT_ADDRESS_BITS 47 /* the bits of a user address on x86-64 */
/* the number of pages in a thread's cache, chosen by hand; it takes 8 KiB and covers 2 MiB */
#define RT_CACHE 512
/* the maximum number of cells for eight bytes; further accesses replace old cells */
#define RT_CELLS_MAX 4096

/* These macros pack the lane (the index of the thread), the epoch and the kind of an access into
 * one word.  The kind has a bit for writes and a bit for plain accesses.  An access covers another
 * if it has all kind bits of the other.  Two accesses conflict if together they have both bits. */
#define RT_WHO_WRITE 1u
#define RT_WHO_PLAIN 2u
#define RT_WHO(lane, epoch) ((uint64_t)(lane) << 48 | (epoch) << 2)
#define RT_WHO_LANE(who) ((uint32_t)((who) >> 48))
#define RT_WHO_EPOCH(who) ((who) >> 2 & ((1ull << 46) - 1))

struct rt_cell {
	uint64_t mask, who; /* a mask of the bytes that were accessed; RT_WHO with the kind */
	uint64_t second;    /* a mask of the bytes that the second site accessed */
	uint32_t site[2];
};

/* The cells of eight bytes of a split line. */
struct rt_part {
	union {
		_Alignas(64) struct rt_cell inside[RT_PART_CELLS];
		struct rt_cell *outside;
	};
};

struct rt_line {
	union {
		_Alignas(64) struct rt_cell inside[RT_LINE_CELLS];
		struct rt_cell *outside;
		struct {
			struct rt_part *part;	      /* an array of RT_PARTS parts */
			uint32_t part_head[RT_PARTS]; /* count << 8 | log2(room outside) << 1 */
		};
	};
};

_Static_assert(sizeof(struct rt_line) == 128, "a line is two cache lines");

struct rt_object;

struct rt_chunk {
	struct rt_line line[RT_CHUNK_LINES];
	_Atomic uint32_t head[RT_CHUNK_LINES]; /* count << 8 | RT_SPLIT or RT_OUTSIDE | locked */
	struct rt_object **_Atomic objects;    /* NULL if there are none; see rt/detect/object.c */
};

struct rt_table {
	struct rt_chunk *_Atomic chunk[1u << RT_TABLE_SHIFT];
};

struct rt_detect_shadow {
	struct rt_table *_Atomic table[1u << (RT_ADDRESS_BITS - RT_CHUNK_SHIFT - RT_TABLE_SHIFT)];
};

/* Chunks that a thread used recently. */
struct rt_cache {
	struct {
		uintptr_t page; /* the number of the page plus 1 */
		struct rt_chunk *chunk;
	} entry[RT_CACHE];
};

/* Returns the chunk of an address, or NULL if there is none. */
struct rt_chunk *rt_shadow_find(struct rt_detect_shadow *s, uintptr_t address);
/* Returns the chunk that contains an address, and makes the chunk if it does not exist yet.
 * Returns NULL if there is no memory, or if `address` is not a user address. */
struct rt_chunk *rt_shadow_make(struct rt_detect_shadow *s, struct rt_arena *a, uintptr_t address);

static inline struct rt_chunk *rt_shadow_cached(struct rt_cache *c, uintptr_t address)
{
	uintptr_t page = address >> RT_CHUNK_SHIFT;
	size_t i = (page ^ page >> 8) % RT_CACHE;

	return RT_LIKELY(c->entry[i].page == page + 1) ? c->entry[i].chunk : NULL;
}

void rt_shadow_remember(struct rt_cache *c, uintptr_t address, struct rt_chunk *chunk);

/* Returns the number of an address's line in its chunk. */
static inline uint32_t rt_line_of(uintptr_t address)
{
	return address / 64 % RT_CHUNK_LINES;
}

/* Locks a line.  Returns its head without the lock bit, or UINT32_MAX if it could not be locked. */
uint32_t rt_line_wait(_Atomic uint32_t *head);

static inline uint32_t rt_line_lock(_Atomic uint32_t *at)
{
	uint32_t head = atomic_load_explicit(at, memory_order_relaxed);

	if (RT_LIKELY(rt.one && !(head & 1))) {
		atomic_store_explicit(at, head | 1, memory_order_relaxed);
		return head;
	}
	head &= ~1u;
	if (RT_LIKELY(atomic_compare_exchange_strong_explicit(at, &head, head | 1, memory_order_acquire,
							      memory_order_relaxed)))
		return head;
	return rt_line_wait(at);
}

static inline void rt_line_unlock(_Atomic uint32_t *at, uint32_t head)
{
	atomic_store_explicit(at, head, memory_order_release);
}

static inline uint32_t rt_line_count(uint32_t head)
{
	return head >> 8;
}

static inline uint32_t rt_line_with_count(uint32_t head, uint32_t count)
{
	return (head & 0xff) | count << 8;
}

static inline bool rt_line_is_split(uint32_t head)
{
	return RT_UNLIKELY(head & RT_SPLIT);
}

/* Return the cells of a line that is not split, and the number of cells that it has room for. */
static inline struct rt_cell *rt_line_cells(struct rt_line *line, uint32_t head)
{
	return RT_UNLIKELY(head & RT_OUTSIDE) ? line->outside : line->inside;
}

static inline uint32_t rt_line_room(uint32_t head)
{
	return RT_UNLIKELY(head & RT_OUTSIDE) ? RT_OUTSIDE_CELLS : RT_LINE_CELLS;
}

/* Return the cells of a part, and the number of cells that it has room for. */
static inline struct rt_cell *rt_part_cells(struct rt_part *part, uint32_t head)
{
	return RT_UNLIKELY(head & 0xfe) ? part->outside : part->inside;
}

static inline uint32_t rt_part_room(uint32_t head)
{
	return RT_UNLIKELY(head & 0xfe) ? 1u << (head >> 1 & 127) : RT_PART_CELLS;
}

/* Makes room for more cells in a full part, whose line must be locked.  Returns the new head, or
 * the old one if the part cannot grow. */
uint32_t rt_part_grow(struct rt_arena *a, struct rt_part *part, uint32_t head);

/* Makes room for more cells in a full line, which must be locked, or splits the line.  Returns the
 * new head, or the old one if there is no memory. */
uint32_t rt_line_grow(struct rt_arena *a, struct rt_line *line, uint32_t head);

/* Removes the bytes in the mask `bits` from all cells of a line.  If no bytes remain, frees the
 * memory outside the line. */
void rt_line_forget(struct rt_arena *a, struct rt_chunk *chunk, uint32_t number, uint64_t bits);

#endif
