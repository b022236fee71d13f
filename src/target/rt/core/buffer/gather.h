/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gathers accesses that layers need not be notified of immediately.  In a replay, nothing reads a
 * thread's records.  So the slow path of the hooks gathers accesses in t->gather, which a layer
 * has provided.  The exception is a thread with t->each set, whose accesses are reported one by
 * one.
 *
 * Accesses are gathered by site and by block of 64 bytes.  The callback anew() reports only the
 * first access of a site to a block, so that later accesses call no layer.  The layer that
 * provided t->gather examines the gathered accesses before the thread's next operation.
 */
#ifndef RT_GATHER_H
#define RT_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#define RT_GATHERED 32 /* the number of entries: as many as `used` has bits */

/* The accesses of one site to one block since the thread's last operation.  `key` is the address of
 * the block, combined with one of these bits if the accesses are writes or updates; it is 0 if the
 * entry is unused.  An update is a read followed by a write of the same bytes. */
#define RT_GATHER_WRITE 1u
#define RT_GATHER_UPDATE 2u
struct rt_gathered {
	/* The upper half of `sites` is the site.  For an update, the upper half is the site of the
	 * write, and the lower half is the site of the read.  `bits` has a bit for each byte that
	 * was accessed. */
	uint64_t key, sites, bits;
	void *place; /* for the layer's own use */
};

struct rt_thread;

struct rt_gather {
	/* Set by the layer: called for an access that rt_gather_more() did not find. */
	void (*anew)(struct rt_thread *t, uint64_t key, uint64_t sites, uint64_t bits);
	uint32_t used;	 /* a bit for each entry of `at` that is in use */
	uint32_t latest; /* the position of the entry that was filled last */
	struct rt_gathered at[RT_GATHERED];
};

/* Adds an access to the gathered accesses of the same site, block and kind.  Returns false if there
 * are no such accesses.  The caller must keep signal handlers from reporting accesses. */
static inline __attribute__((always_inline)) bool rt_gather_more(struct rt_gather *gather, uint64_t key,
								 uint64_t sites, uint64_t bits)
{
	struct rt_gathered *g = &gather->at[(sites >> 32) % RT_GATHERED];

	if (g->key != key || g->sites != sites)
		return false;
	g->bits |= bits;
	return true;
}

#endif
