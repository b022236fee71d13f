/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses that no layer has to see immediately.  In a replay, nothing reads a thread's records.
 * Unless t->each is set, the slow path of the hooks then gathers accesses by site and block of 64
 * bytes in t->gather, which a layer has provided.  A site or block that is new there is reported
 * by anew(), so a frequent access calls no layer.  The layer that provided t->gather examines what
 * was gathered before the thread's next operation.
 */
#ifndef RT_GATHER_H
#define RT_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#define RT_GATHERED 32 /* places; as many as `used` has bits */

/* Accesses of one site to one block since the thread's last operation.  The key is the block and
 * how it is accessed; 0: none. */
#define RT_GATHER_WRITE 1u
/* a read and then a write: the lower half of `sites` is the site of the read */
#define RT_GATHER_UPDATE 2u
struct rt_gathered {
	uint64_t key, sites, bits; /* upper half of `sites`: the site */
	void *place;		   /* for the layer's own use */
};

struct rt_thread;

struct rt_gather {
	/* Set by the layer: called for an access whose kind was not gathered yet. */
	void (*anew)(struct rt_thread *t, uint64_t key, uint64_t sites, uint64_t bits);
	uint32_t used;	 /* a bit for each place of `at` in use */
	uint32_t latest; /* the place where gathering last began */
	struct rt_gathered at[RT_GATHERED];
};

/* Adds an access to gathered ones of the same site, block and kind; false if there are none.  The
 * caller must keep signal handlers from reporting accesses. */
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
