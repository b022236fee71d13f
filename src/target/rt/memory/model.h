/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory models (doc/design/memory.md) determine what reads of tracked bytes return.  In: the
 * accesses of threads and the operations that order them, one at a time.  Out: the values of
 * reads.  If a model allows several values, the callback choose() selects one.  This code uses
 * neither the program's memory nor the runtime, so test/unit/u-rt-memory.c can run it alone.
 *
 * Memory is divided into aligned cells of eight bytes.  A part of a cell is described by a mask
 * and a value.  The mask has 0xff for each byte that belongs to the part.  All other bytes of the
 * value are 0.
 */
#ifndef RT_MEMORY_MODEL_H
#define RT_MEMORY_MODEL_H

#include "raddle/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The maximum number of threads; if there are more, the model is abandoned. */
#define MEMORY_THREADS 64
#define MEMORY_CELLS 1024   /* entries of the table of cells; a power of two */
#define MEMORY_HISTORY 24   /* the number of writes to a cell that are kept and can be read */
#define MEMORY_BUFFER 64    /* the maximum number of stores in the buffer of a thread */
#define MEMORY_OBJECTS 1024 /* entries of the table of synchronisation objects; a power of two */
#define MEMORY_SEEN 16	    /* the number of cells for which a thread keeps the last value read */
/* After this many reads in a row without a new value, the next read returns the latest write. */
#define MEMORY_FAIR 8

/* The memory orders of C11, from weak to strong; consume is treated as acquire. */
enum memory_order_of { MEMORY_RELAXED, MEMORY_ACQUIRE, MEMORY_RELEASE, MEMORY_BOTH, MEMORY_SEQ };

/* Fences: those of C11, named after their memory order, and one that orders only stores
 * (sfence). */
enum memory_fence {
	MEMORY_FENCE_ACQUIRE = 1,
	MEMORY_FENCE_RELEASE,
	MEMORY_FENCE_BOTH,
	MEMORY_FENCE_FULL,
	MEMORY_FENCE_STORE
};

/* A vector clock.  It tells how many accesses of each thread happened before. */
struct memory_clock {
	uint32_t at[MEMORY_THREADS];
};

/* A write in the history of a cell, for the models without buffers. */
struct memory_write {
	uint64_t value, mask;
	uint32_t thread, tick; /* the thread is MEMORY_THREADS for the initial value */
	bool releases;
	struct memory_clock clock, released; /* the writer's clock; the clock that a read acquires */
};

struct memory_cell {
	uintptr_t base; /* 0 if the entry is unused */
	uint64_t mask;	/* the bytes that are tracked */
	/* The value in memory, which a thread reads unless its own buffer has a newer one. */
	uint64_t value;
	uint64_t shown; /* the current content of the program's memory, for rt/memory/layer.c */
	uint32_t first, count;
	struct memory_write *writes; /* a ring of MEMORY_HISTORY; NULL if the model needs none */
	uint64_t dropped;	     /* the number of writes before the first in the ring */
};

/* A store in a buffer. */
struct memory_entry {
	uint32_t cell;
	uint64_t value, mask, number; /* `number` counts the stores of all threads */
};

struct memory_thread {
	/* `seen` is the clock that earlier relaxed reads pass to the next acquire fence.  `fenced`
	 * is the clock that relaxed writes release because of an earlier release fence. */
	struct memory_clock clock, seen, fenced;
	struct memory_entry buffer[MEMORY_BUFFER];
	uint32_t count;
	uint64_t past;	/* a hash of all its actions */
	uint32_t stale; /* the number of reads in a row without a new value */
	struct {
		uint32_t cell;
		uint64_t mask, value;
	} last[MEMORY_SEEN];
};

struct memory_object {
	uintptr_t address; /* 0 if the entry is unused */
	struct memory_clock clock;
};

struct memory {
	enum raddle_memory_model model;
	uint32_t (*choose)(void *context, enum raddle_choice_kind kind, uint32_t from);
	void *context;
	void *(*get)(size_t size);	 /* returns zeroed memory that is never freed, or NULL */
	uint32_t cell_count, over;	 /* `over` is enum raddle_memory_over */
	uint32_t used[MEMORY_CELLS / 2]; /* the positions of the tracked cells */
	uint32_t thread_count;		 /* one more than the highest known thread number */
	uint64_t stores;
	/* The joined clocks of all fences and operations with memory_order_seq_cst. */
	struct memory_clock fences;
	struct memory_thread threads[MEMORY_THREADS];
	struct memory_cell cells[MEMORY_CELLS];
	/* For COHERENT: the number of the latest write that the thread has read from the cell. */
	uint32_t floor[MEMORY_THREADS][MEMORY_CELLS];
	struct memory_object objects[MEMORY_OBJECTS];
	uint32_t object_count;
};

/* A part of a cell. */
struct memory_part {
	struct memory_cell *cell;
	uint64_t mask;
};

/* Returns the mask of the bytes of the cell at `base` that are in the range. */
uint64_t memory_mask(uintptr_t base, uintptr_t address, uint64_t size);

/* Returns the cell of an address, or NULL if it is not tracked. */
struct memory_cell *memory_cell(struct memory *m, uintptr_t address);

/* Starts to track bytes of a cell.  `value` is the current value of the cell.  If the table of
 * cells is full, abandons the model and returns NULL. */
struct memory_cell *memory_track(struct memory *m, uintptr_t base, uint64_t mask, uint64_t value);

/* Stops tracking memory that has become another object. */
void memory_forget(struct memory *m, uintptr_t address, uint64_t size);

/* Returns the value that the thread reads.  For plain accesses, `order` is MEMORY_RELAXED. */
uint64_t memory_load(struct memory *m, uint32_t t, struct memory_part p, enum memory_order_of order);
/* Stores the value that the thread writes.  `order` is as in memory_load(). */
void memory_store(struct memory *m, uint32_t t, struct memory_part p, uint64_t value,
		  enum memory_order_of order);

/* An atomic update. memory_update() returns the current value, which does not change until
 * memory_updated() is called.  If the update writes a new value, the caller passes that value to
 * memory_updated(). */
uint64_t memory_update(struct memory *m, uint32_t t, struct memory_part p, enum memory_order_of order);
void memory_updated(struct memory *m, uint32_t t, struct memory_part p, uint64_t value,
		    enum memory_order_of order);

/* Writes directly to memory, after moving the stores in the thread's buffer to memory.  Used for
 * writes that are larger than a cell, or that the runtime has noticed only afterwards. */
void memory_write_through(struct memory *m, uint32_t t, struct memory_part p, uint64_t value);

/* Returns the thread's view of the cell: the thread's own buffered stores, and otherwise the value
 * in memory. */
uint64_t memory_view(const struct memory *m, uint32_t t, const struct memory_cell *cell);

void memory_fence(struct memory *m, uint32_t t, enum memory_fence fence);
void memory_drain(struct memory *m, uint32_t t); /* moves all its stores to memory */

/* Events that order threads. */
void memory_create(struct memory *m, uint32_t t, uint32_t child);
void memory_join(struct memory *m, uint32_t t, uint32_t child);
void memory_acquire(struct memory *m, uint32_t t, uintptr_t object);
void memory_release(struct memory *m, uint32_t t, uintptr_t object);

/* memory_tick() returns the current tick of thread `t`, a number in its vector clock.
 * memory_is_after() returns true if `tick` of thread `other` happens before what `t` does now.
 * This requires that `other` has since created a thread, released an object or ended, and that `t`
 * has synchronised with that event. */
uint32_t memory_tick(const struct memory *m, uint32_t t);
bool memory_is_after(const struct memory *m, uint32_t t, uint32_t other, uint32_t tick);

/* Abandons the model: moves all buffered stores to memory, which is sequentially consistent from
 * then on. */
void memory_end(struct memory *m, enum raddle_memory_over why);

/* Returns a hash of everything in the model that the rest of the run depends on. */
uint64_t memory_state(const struct memory *m);

#endif
