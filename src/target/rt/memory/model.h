/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory models (doc/design/memory.md): what reads of tracked bytes return.  In: the accesses of
 * threads and what orders them, one at a time.  Out: the values of reads.  choose() decides
 * whatever a model leaves open.  This code uses neither the program's memory nor the runtime, so
 * test/unit/u-rt-memory.c can run it alone.
 *
 * Bytes are kept in cells of eight, which begin at multiples of eight.  A part of a cell is a mask
 * with 0xff for each byte that belongs to it, and a value whose other bytes are 0.
 */
#ifndef RT_MEMORY_MODEL_H
#define RT_MEMORY_MODEL_H

#include "raddle/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMORY_THREADS 64   /* of the program, by number */
#define MEMORY_CELLS 1024   /* a power of two */
#define MEMORY_HISTORY 24   /* writes of a cell that are remembered; older ones are not returned any more */
#define MEMORY_BUFFER 64    /* stores of a thread that are not in memory yet */
#define MEMORY_OBJECTS 1024 /* that threads synchronise by; a power of two */
#define MEMORY_SEEN 16	    /* cells whose last value a thread remembers */
/* after this many reads in a row without a new value, the next one gets the latest */
#define MEMORY_FAIR 8

/* The memory orders of C11, from weak to strong; consume is treated as acquire. */
enum memory_order_of { MEMORY_RELAXED, MEMORY_ACQUIRE, MEMORY_RELEASE, MEMORY_BOTH, MEMORY_SEQ };

/* Fences: those of C11, by their order, and one that orders only stores (sfence). */
enum memory_fence {
	MEMORY_FENCE_ACQUIRE = 1,
	MEMORY_FENCE_RELEASE,
	MEMORY_FENCE_BOTH,
	MEMORY_FENCE_FULL,
	MEMORY_FENCE_STORE
};

/* How many accesses of each thread come before. */
struct memory_clock {
	uint32_t at[MEMORY_THREADS];
};

/* A write of the models without buffers. */
struct memory_write {
	uint64_t value, mask;
	uint32_t thread, tick; /* thread MEMORY_THREADS: the initial value */
	bool releases;
	struct memory_clock clock, released; /* of the writer; what an acquiring read of it learns */
};

struct memory_cell {
	uintptr_t base; /* 0: unused */
	uint64_t mask;	/* which bytes are tracked */
	uint64_t value; /* the latest write: what all threads see, apart from their own buffers */
	uint64_t shown; /* for rt/memory/layer.c: what the program's memory contains */
	uint32_t first, count;
	struct memory_write *writes; /* a ring of MEMORY_HISTORY; NULL: the model needs none */
	uint64_t dropped;	     /* how many writes came before the first one */
};

/* A store in a buffer. */
struct memory_entry {
	uint32_t cell;
	uint64_t value, mask, number; /* number: stores of all threads are counted */
};

struct memory_thread {
	struct memory_clock clock, seen, fenced; /* seen: what relaxed reads could have learned; fenced: what
						    relaxed writes pass on */
	struct memory_entry buffer[MEMORY_BUFFER];
	uint32_t count;
	uint64_t past;	/* a hash of all that it did */
	uint32_t stale; /* reads in a row that showed nothing new */
	struct {
		uint32_t cell;
		uint64_t mask, value;
	} last[MEMORY_SEEN];
};

struct memory_object {
	uintptr_t address; /* 0: unused */
	struct memory_clock clock;
};

struct memory {
	enum raddle_memory_model model;
	uint32_t (*choose)(void *context, enum raddle_choice_kind kind, uint32_t from);
	void *context;
	void *(*get)(size_t size);	 /* zeroed memory that is never freed; NULL: there is none */
	uint32_t cell_count, over;	 /* over: enum raddle_memory_over */
	uint32_t used[MEMORY_CELLS / 2]; /* the cells that are tracked, by position */
	uint32_t thread_count;		 /* one more than the highest known thread number */
	uint64_t stores;
	struct memory_clock
		fences; /* what fences and operations with memory_order_seq_cst have synchronised */
	struct memory_thread threads[MEMORY_THREADS];
	struct memory_cell cells[MEMORY_CELLS];
	uint32_t floor[MEMORY_THREADS]
		      [MEMORY_CELLS]; /* COHERENT: the number of the write that the thread saw last */
	struct memory_object objects[MEMORY_OBJECTS];
	uint32_t object_count;
};

/* A part of a cell. */
struct memory_part {
	struct memory_cell *cell;
	uint64_t mask;
};

/* Which bytes of the cell at `base` the range has. */
uint64_t memory_mask(uintptr_t base, uintptr_t address, uint64_t size);

/* The cell of an address; NULL: none is tracked there. */
struct memory_cell *memory_cell(struct memory *m, uintptr_t address);

/* Starts tracking bytes of a cell, which have this value.  Returns NULL if there is no room; then
 * the model is abandoned. */
struct memory_cell *memory_track(struct memory *m, uintptr_t base, uint64_t mask, uint64_t value);

/* The memory has become another object: its bytes are no longer tracked. */
void memory_forget(struct memory *m, uintptr_t address, uint64_t size);

/* memory_load() returns what the thread reads; memory_store() stores what it writes.  For plain
 * accesses, `order` is MEMORY_RELAXED. */
uint64_t memory_load(struct memory *m, uint32_t t, struct memory_part p, enum memory_order_of order);
void memory_store(struct memory *m, uint32_t t, struct memory_part p, uint64_t value,
		  enum memory_order_of order);

/* An atomic update.  The first call returns the current value, which does not change before the
 * second call.  The second call stores what the update wrote, if it wrote. */
uint64_t memory_update(struct memory *m, uint32_t t, struct memory_part p, enum memory_order_of order);
void memory_updated(struct memory *m, uint32_t t, struct memory_part p, uint64_t value,
		    enum memory_order_of order);

/* A write that reaches memory at once, after the stores in the thread's buffer.  Used for writes
 * that are larger than a cell, or were noticed only afterwards. */
void memory_write_through(struct memory *m, uint32_t t, struct memory_part p, uint64_t value);

/* What the thread would see there without any choice: its own stores, otherwise the latest
 * store. */
uint64_t memory_view(const struct memory *m, uint32_t t, const struct memory_cell *cell);

void memory_fence(struct memory *m, uint32_t t, enum memory_fence fence);
void memory_drain(struct memory *m, uint32_t t); /* all of its stores reach memory */

/* What orders threads. */
void memory_create(struct memory *m, uint32_t t, uint32_t child);
void memory_join(struct memory *m, uint32_t t, uint32_t child);
void memory_acquire(struct memory *m, uint32_t t, uintptr_t object);
void memory_release(struct memory *m, uint32_t t, uintptr_t object);

/* From now on memory is sequentially consistent: all buffered stores reach memory. */
void memory_end(struct memory *m, enum raddle_memory_over why);

/* A hash of everything that the rest of the run depends on. */
uint64_t memory_state(const struct memory *m);

#endif
