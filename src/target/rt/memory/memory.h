/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layer memory: reads and writes of tracked bytes by the rules of a model (rt/memory/model.h).
 *
 * One thread runs at a time, so the program's memory needs to be right for that thread only.
 * Before a read, the value that it should return is stored there; what a write has stored is read
 * when the thread next enters the runtime, which is before any other thread runs.  At all other
 * times the memory has what the running thread would see without any choice: its own stores, else
 * the latest.
 */
#ifndef RT_MEMORY_H
#define RT_MEMORY_H

#include "rt/core/control/choose.h"
#include "rt/memory/model.h"

#define RT_MEMORY_RECENT 512	 /* stores of a thread since its last operation; a power of two */
#define RT_MEMORY_PUBLISHED 4096 /* stores that others may see late; a power of two */

/* What an access that has begun has still to be asked for. */
enum rt_memory_pending { RT_PENDS_NOT, RT_PENDS_READ, RT_PENDS_WRITE, RT_PENDS_UPDATE, RT_PENDS_RANGE };

struct rt_memory_access {
	enum rt_memory_pending kind;
	uint32_t thread;
	uintptr_t address;
	uint64_t size;
	enum memory_order_of order;
};

/* The thread that stored there last, and near which tracked store; 0: none. */
struct rt_published {
	uintptr_t address;
	uint32_t thread, site, through; /* through: where it stored what is tracked */
	uint32_t notified;		/* the site of the read that was reported last */
};

struct rt_memory {
	struct memory model;
	struct raddle_memory *plan;
	struct rt_memory_access pending;
	uint32_t viewer; /* whose view the program's memory is */
	uint32_t called; /* so many more looks at whether code that is not instrumented wrote */
	bool off;	 /* the threads do not take turns any more */
	struct rt_thread *asking;
	uint32_t site; /* of the access that choices are about, and its address */
	uintptr_t address;
	uint32_t sites[4 * RADDLE_MEMORY_SITES]; /* a set of those that are tracked; 0: unused */
	struct rt_published published[RT_MEMORY_PUBLISHED];
	uint32_t published_count;
};

/* A thread. */
struct rt_memory_own {
	uint32_t epoch;			 /* counts its operations */
	uint32_t through, through_epoch; /* the site of its last tracked store, and after which operation */
	struct {
		uintptr_t address;
		uint32_t site, epoch;
	} recent[RT_MEMORY_RECENT];
};

static inline struct rt_memory *rt_memory(void)
{
	return rt.layer[RT_LAYER_MEMORY];
}

/* rt/memory/publish.c: a store; one that is tracked, by which what the thread stores before and
 * after it, up to its next operation, may become known to others; a read of another thread. */
void rt_publish_store(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site);
void rt_publish(const struct rt_thread *t, uint32_t site);
void rt_publish_read(const struct rt_thread *t, uintptr_t address, uint32_t site);
void rt_publish_reset(struct rt_thread *t); /* an operation orders what came before */

#endif
