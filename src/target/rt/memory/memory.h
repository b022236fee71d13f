/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layer `memory`, which makes reads and writes of tracked bytes obey a memory model
 * (rt/memory/model.h).
 *
 * Only one thread runs at a time, so the program's memory has to contain only that thread's view.
 * The view of a byte is the thread's own store if the store is still buffered, and otherwise the
 * latest store.  Before a read, the layer writes the value for the read to the program's memory.
 * After a write, the thread enters the runtime before any other thread runs, and the layer then
 * reads the new value.
 */
#ifndef RT_MEMORY_H
#define RT_MEMORY_H

#include "rt/core/control/choose.h"
#include "rt/memory/model.h"

/* the maximum number of a thread's stores since its last operation that are kept; a power of two */
#define RT_MEMORY_RECENT 512
/* The number of entries for stores whose old value other threads may read; a power of two. */
#define RT_MEMORY_PUBLISHED 4096

/* The kind of access whose effect is still to be examined. */
enum rt_memory_pending { RT_PENDS_NOT, RT_PENDS_READ, RT_PENDS_WRITE, RT_PENDS_UPDATE, RT_PENDS_RANGE };

struct rt_memory_access {
	enum rt_memory_pending kind;
	uint32_t thread;
	uintptr_t address;
	uint64_t size;
	enum memory_order_of order;
};

/* The last store to a location.  `through` is the site of a tracked store that the same thread
 * made, with no operation between the two stores.  0 if there is no such store. */
struct rt_published {
	uintptr_t address;
	uint32_t thread, site, through;
	uint32_t tick;	   /* memory_tick() at the store */
	uint32_t notified; /* the site of the read that was listed last */
};

struct rt_memory {
	struct memory model;
	struct raddle_memory *plan;
	struct rt_memory_access pending;
	uint32_t viewer; /* the thread whose view the program's memory contains */
	/* The number of callbacks that still check for writes by uninstrumented code. */
	uint32_t called;
	bool off; /* true if threads no longer take turns, or if there are too many threads */
	struct rt_thread *asking;
	uint32_t site; /* the site and the address of the access that choices are about */
	uintptr_t address;
	/* A hash set of the tracked sites; unused entries are 0. */
	uint32_t sites[4 * RADDLE_MEMORY_SITES];
	struct rt_published published[RT_MEMORY_PUBLISHED];
	uint32_t published_count;
};

/* The layer's state of a thread. */
struct rt_memory_own {
	uint32_t epoch;			 /* the number of its operations so far */
	uint32_t through, through_epoch; /* the site of its last tracked store, and `epoch` at that time */
	struct {
		uintptr_t address;
		uint32_t site, epoch;
	} recent[RT_MEMORY_RECENT];
};

static inline struct rt_memory *rt_memory(void)
{
	return rt.layer[RT_LAYER_MEMORY];
}

/* rt/memory/publish.c.  A thread that reads a tracked store may also read other stores of the
 * storing thread: those that the storing thread has made since its last operation. */

/* Called for any store. */
void rt_publish_store(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site);
/* Called for a tracked store, which publishes the stores before it. */
void rt_publish(const struct rt_thread *t, uint32_t site);
/* Called for a read, perhaps by another thread. */
void rt_publish_read(const struct rt_thread *t, uintptr_t address, uint32_t site);
void rt_publish_reset(struct rt_thread *t); /* called at each operation, which orders earlier stores */

#endif
